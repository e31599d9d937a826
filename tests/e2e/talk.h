/*
 * talk - one request and its reply through the proxy, over a connection of its
 * own on either side, byte for byte.
 *
 * Thread: the test's.
 */
#ifndef E2E_TALK_H
#define E2E_TALK_H

#include "upstream.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

/* What is NULL is the usual thing. */
struct talk {
    const char *name;
    const char *asked;
    const char *heard; /* by the upstream */
    const char *said;  /* by the upstream */
    const char *answered;
    const char *said_later; /* when that was heard */
    const char *answered_later;
    const char *heard_chunks; /* what follows heard, and its trailers */
    const char *answered_chunks;
    bool upstream_ends; /* after that */
    bool client_ends;   /* the client is told so */
};

/* The server passes all on to the upstream, and keeps no connections. */
void talk_play(const struct server *server, const struct upstream *upstream,
               const struct talk *talk);

/* The same with a server that is started for it. */
void talks_play(const struct talk *talks, size_t count);
#define TALKS(talks) talks_play(talks, sizeof(talks) / sizeof(*(talks)))

#endif
