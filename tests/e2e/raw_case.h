/*
 * raw_case - tables of raw requests and what may come of them.
 *
 * Behind every case goes a second request, the canary, which asks for the
 * connection's end. After a request whose framing is in doubt the canary must
 * never be answered: that would be a smuggled request. After a sound one it
 * must be. All else that comes back must be well formed (reply.h).
 *
 * Thread: the test's.
 */
#ifndef E2E_RAW_CASE_H
#define E2E_RAW_CASE_H

#include "harness.h"

enum raw_then {
    THEN_CLOSES,  /* one reply and the end; the canary is not answered */
    THEN_GOES_ON, /* the canary is answered */
    THEN_EITHER
};

enum { RAW_STATUSES_MAX = 5 };

struct raw_case {
    const char *name;
    const char *bytes;
    size_t len;
    enum raw_then then;
    /* That may be answered. A 0 among them: no answer, just the end. */
    int statuses[RAW_STATUSES_MAX];
    bool is_head; /* a HEAD request */
    /* Fine for who answers it, but not passed on to others: 400. */
    bool is_for_us;
};

/* With the usual statuses. */
#define REFUSED(name, bytes)                               \
    {                                                      \
        name, RAW(bytes), THEN_CLOSES, {400}, false, false \
    }
#define REFUSED_WITH(name, bytes, ...)                             \
    {                                                              \
        name, RAW(bytes), THEN_CLOSES, {__VA_ARGS__}, false, false \
    }
#define ACCEPTED(name, bytes)                               \
    {                                                       \
        name, RAW(bytes), THEN_GOES_ON, {200}, false, false \
    }
#define ACCEPTED_BY_US(name, bytes)                        \
    {                                                      \
        name, RAW(bytes), THEN_GOES_ON, {200}, false, true \
    }
#define EITHER(name, bytes, ...)                                   \
    {                                                              \
        name, RAW(bytes), THEN_EITHER, {__VA_ARGS__}, false, false \
    }
/* A request for the file that every site here has, with these fields. */
#define GET_WITH(fields) "GET /f HTTP/1.1\r\nHost: a\r\n" fields "\r\n"
#define GET_LINE(line) line "\r\nHost: a\r\n\r\n"

/* The files that cases and canary ask for. */
void raw_case_site(void);

/* Starts a server: on these files, or before an origin (origin.h), which then
 * has to get well-formed requests only, and as many as were answered. */
struct server *raw_case_start(void);

/* A suite's begin: the server of all its tests. */
int raw_case_begin(void **state);
extern struct server *raw_server;

/* Runs the tests twice, in each way; a suite's run. */
int raw_case_run(const struct CMUnitTest *tests, size_t count);
/* Fails when the origin, if there is one, has got something malformed. */
void raw_case_check_origin(void);

/* Every case whole, byte by byte, and split at every byte. */
void raw_cases_split(const struct server *server, const struct raw_case *cases,
                     size_t count);
/* Whole only, for long ones. */
void raw_cases_whole(const struct server *server, const struct raw_case *cases,
                     size_t count);

#define CASES_SPLIT(cases) \
    raw_cases_split(raw_server, cases, sizeof(cases) / sizeof(*(cases)))
#define CASES_WHOLE(cases) \
    raw_cases_whole(raw_server, cases, sizeof(cases) / sizeof(*(cases)))

#endif
