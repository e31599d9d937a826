/*
 * upstream - a server behind the one that is tested, played by the test: it
 * sees the exact bytes that come, and says whatever it likes, when it likes.
 *
 *   client_say(client, ...)      what is asked
 *   peer = upstream_accept(...)
 *   expect_hears(peer, ...)      what of it came through
 *   client_say(peer, ...)        what is answered
 *   expect_hears(client, ...)    what of that came through
 *
 * What it accepts is a client like any other, but the other way round. For one
 * that lives on its own see origin.h.
 *
 * Thread: the test's.
 * Owns:   its socket, until the test is over.
 */
#ifndef E2E_UPSTREAM_H
#define E2E_UPSTREAM_H

#include "client.h"

struct secure_server;

struct upstream {
    struct client *listener;
    struct secure_server *secure; /* NULL: it speaks in clear text */
    unsigned port;
    const char *name; /* as logs call it */
    const char *at;   /* as --proxy wants it: "http://127.0.0.1:9000" */
};

/* At a free port of 127.0.0.1; freed after the test. */
struct upstream *upstream_open(void);
struct upstream *upstream_open_unix(void);

/* It speaks TLS from now on, as all do by themselves where
 * secure_is_wanted_upstream(). Returns upstream. */
struct upstream *upstream_secure(struct upstream *upstream,
                                 struct secure_server *server);

/* Nobody listens there from now on: who comes is refused. And again. */
void upstream_shut(struct upstream *upstream);
void upstream_listen(struct upstream *upstream);

/* From now on nobody gets through: not refused, not accepted. */
void upstream_clog(struct upstream *upstream);

/* The next connection; fails when none comes, or TLS does not come about where
 * it is spoken. */
struct client *upstream_accept(const struct upstream *upstream);
/* Whether one comes within so many ms. */
bool upstream_hears(const struct upstream *upstream, uint64_t ms);

/* A socket that is bound to that port of 127.0.0.1, or to a free one, but does
 * not listen: who comes is refused, and nobody else gets the port. */
int hold_port(unsigned *port);

/* Starts a server with one worker that passes all on to it, and names no
 * request: what is heard is then known to the byte. */
#define PROXY(upstream, ...)                                      \
    START("--workers=1", printed("--proxy=/=%s", (upstream)->at), \
          "--request-id=off", __VA_ARGS__)

/* Fails unless exactly that comes next. */
#define expect_hears(client, text) \
    check_hears(client, text, strlen(text), __FILE__, __LINE__)
void check_hears(struct client *client, const char *text, size_t len,
                 const char *file, int line);

/* Reads a head to its empty line; it is freed after the test. */
const char *hear_head(struct client *peer);

/* Reads a chunked body: its text, freed after the test, and behind it the lines
 * of its trailers. */
const char *hear_chunks(struct client *peer);

/* Fails unless the connection ends, orderly or not; what comes before is
 * thrown away. How many bytes that were. */
size_t hear_end(struct client *peer);

/* What the server puts into every request of a client of its own machine that
 * says "Host: a". */
#define ASKER                                            \
    "Via: 1.1 sprintd\r\nX-Forwarded-For: 127.0.0.1\r\n" \
    "X-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n" \
    "Forwarded: for=127.0.0.1;proto=http;host=a\r\n"
/* That comes with every answer here, so that what the client gets is known. */
#define DATE "Date: Sun, 09 Sep 2001 01:46:40 GMT\r\n"
#define VIA "Via: 1.1 sprintd\r\n"
#define OK "HTTP/1.1 200 OK\r\n" DATE
#define HI OK "Content-Length: 2\r\n\r\nhi"

/* The client sends this text, and the upstream accepts whoever brings it: the
 * connection, after the head that came. */
struct client *upstream_asked(const struct upstream *upstream,
                              struct client *client, const char *request);

/* The upstream answers HI there, and the client must get its body. */
#define expect_hi(peer, client) check_hi(peer, client, __FILE__, __LINE__)
void check_hi(struct client *peer, struct client *client, const char *file,
              int line);

#endif
