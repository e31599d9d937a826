/*
 * client - a raw connection to the server: any bytes there, strict replies
 * back. Waits never last longer than a few seconds of patience.
 *
 * Replies stay valid until the next one is read from the same client. All
 * clients are closed, and their memory freed, after the test.
 *
 * Thread: the test's.
 * Owns:   its socket and what has been read.
 */
#ifndef E2E_CLIENT_H
#define E2E_CLIENT_H

#include "harness.h"
#include "reply.h"

struct sockaddr;
struct client;
struct secure;

enum client_event {
    CLIENT_REPLY,  /* a whole one */
    CLIENT_CLOSED, /* an orderly end, between replies */
    CLIENT_BROKEN, /* the end in the middle of a reply */
    CLIENT_RESET,  /* a reset, between replies */
    CLIENT_TIMEOUT /* nothing, for as long as patience lasts */
};

struct client *client_open(const struct server *server);
/* Tells the kernel to take in no more than about so many bytes unread. */
struct client *client_open_narrow(const struct server *server, int bytes);
/* From another IPv4 address of this machine. */
struct client *client_open_from(const struct server *server, const char *from);
/* Anywhere; NULL when nobody listens. */
struct client *client_open_to(const struct sockaddr *address, size_t len);
struct client *client_open_unix(const char *path);
/* The status of a GET by a connection of its own there. */
unsigned client_status_unix(const char *path, const char *target,
                            const char *fields);

/* Goes over to TLS, as connections to a server that speaks it do by themselves.
 * False: the handshake failed, see secure.h. */
bool client_secure(struct client *client);
struct secure *client_secured(const struct client *client); /* or NULL */

/* In clear text, whatever the server speaks. */
struct client *client_open_clear(const struct server *server);

/* A connection, non-blocking, that is there: also one that was accepted. */
struct client *client_adopt(int fd);
/* The same over TLS, whose end it takes over. */
struct client *client_adopt_secure(int fd, struct secure *secure);

/* Only for what tests of the connection itself do. */
int client_socket(const struct client *client);

void client_close(struct client *client);
void client_reset(struct client *client);      /* with RST */
void client_cut(struct client *client);        /* TLS hears no word of it */
void client_half_close(struct client *client); /* sends no more */
void clients_close(void);

/* Sends all, taking in what the server sends meanwhile. False: the server
 * does not take it any more. */
bool client_send(struct client *client, const void *data, size_t len);
bool client_drip(struct client *client, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) bool client_say(struct client *client,
                                                      const char *format, ...);

/* The next reply; to_head: to a HEAD request. */
enum client_event client_try(struct client *client, bool to_head,
                             struct reply **reply_out);
/* The same, where nothing else will do. */
struct reply *client_reply(struct client *client);
struct reply *client_reply_to_head(struct client *client);

/* Reads on until so many bytes of the stream lie in the client, whatever they
 * are; then how many. For looking at a reply that never ends. */
size_t client_take(struct client *client, size_t len);
/* What has been read and is no reply yet. */
const char *client_raw(const struct client *client);
/* So much of it is done with. */
void client_skip(struct client *client, size_t len);

/* Sends "METHOD target HTTP/1.1", Host and the fields (lines with CRLF) and
 * reads the reply. Over TLS "http://" is "https://". */
struct reply *client_ask_host(struct client *client, const char *method,
                              const char *host, const char *target,
                              const char *fields);
struct reply *client_ask(struct client *client, const char *method,
                         const char *target, const char *fields);
/* The same on a connection of its own, which is then closed. */
struct reply *ask(const struct server *server, const char *method,
                  const char *target, const char *fields);
struct reply *get(const struct server *server, const char *target);

/* Sends each of these texts on a connection of its own, and reads one reply. */
void client_say_each(const struct server *server, const char *const *requests,
                     size_t count);

/* Fails unless the connection ends with no byte more. */
void client_expect_end(struct client *client);
/* The same, and not by a reset, which could destroy the reply before it. */
void client_expect_orderly_end(struct client *client);
/* Fails unless another request, for "canary", is answered. */
void client_expect_usable(struct client *client);
/* Whether an end, or a reply, is there within so many ms; reads nothing. */
bool client_hears(struct client *client, uint64_t ms);

/* These say where they stand, and what was going_on(). */
#define expect_status(reply, wanted) \
    check_status(reply, wanted, __FILE__, __LINE__)
void check_status(const struct reply *reply, unsigned wanted, const char *file,
                  int line);
#define expect_body(reply, wanted) check_body(reply, wanted, __FILE__, __LINE__)
void check_body(const struct reply *reply, const char *wanted, const char *file,
                int line);
/* The body is what a seed stands for, from offset on. */
#define expect_seeded(reply, seed, offset, len) \
    check_seeded(reply, seed, offset, len, __FILE__, __LINE__)
void check_seeded(const struct reply *reply, uint64_t seed, uint64_t offset,
                  size_t len, const char *file, int line);

#define expect_field(reply, name, wanted)                      \
    do {                                                       \
        assert_non_null(reply_field(reply, name));             \
        assert_string_equal(reply_field(reply, name), wanted); \
    } while (0)
#define expect_no_field(reply, name) assert_null(reply_field(reply, name))

#endif
