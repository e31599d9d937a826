/*
 * caching - a proxy that keeps what its upstream answers, and answers that
 * upstreams commonly give.
 *
 * Thread: the test's.
 */
#ifndef E2E_CACHING_H
#define E2E_CACHING_H

#include "upstream.h"

#define DATED "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define KEEP "Cache-Control: max-age=2000000000\r\n"
/* An answer that is DATED is stale at once with that. */
#define STALE "Cache-Control: max-age=60\r\n"
/* Who asks again does so by another connection. */
#define REPLY(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" DATED fields "\r\n" body

/* Starts a server that passes all on to it, and keeps what it may in memory. */
#define START_CACHE(upstream, ...)                                        \
    START("--workers=2", printed("--proxy=/=%s", (upstream)->at),         \
          "--proxy-cache=memory", "--proxy-retries=0", "--proxy-fails=0", \
          __VA_ARGS__)

/* The request that says "Host: a", with those fields beside. */
#define GET(path, fields) "GET " path " HTTP/1.1\r\nHost: a\r\n" fields "\r\n"

/* Answers the next request there; the head that it had. */
const char *answer(struct client *peer, const char *text);

/* The client sends that request, and the upstream answers so: what the client
 * gets. */
struct reply *ask_through(struct client *client,
                          const struct upstream *upstream, const char *request,
                          const char *text);

/* Asks for /a of host a over a new connection, and the upstream answers so. */
struct reply *fetch_a(const struct server *server,
                      const struct upstream *upstream, const char *text);

/* Asks for /a of host a, with those fields too unless they are NULL: the
 * upstream is not expected to hear of it. */
struct reply *ask_a(struct client *client, const char *fields);
/* Over a new connection, and without further fields. */
struct reply *get_a(const struct server *server);

/* Asks for path of host a over a new connection. */
struct reply *ask_path(const struct server *server, const char *path,
                       const char *fields);

/* Asks for what is kept under that target to be dropped. */
struct reply *purge(struct client *client, const char *target,
                    const char *fields);

/* Fails unless the server says that of how the reply came about. */
void expect_cache_status(const struct reply *reply, const char *part);

#endif
