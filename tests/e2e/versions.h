/*
 * versions - a script of which there are many versions, servers that keep those
 * that are gone as dictionaries, and what others unpack of the deltas between
 * them (RFC 9842).
 *
 * Thread: the test's.
 * Owns:   files, in folder().
 */
#ifndef E2E_VERSIONS_H
#define E2E_VERSIONS_H

#include "client.h"

enum { LONG_AGO = 1000000000, MADE_MS = 10000, LEN = 100000 };

#define RULE "--dictionary=/assets/app.*.js"
#define TAKES "Accept-Encoding: gzip, deflate, br, zstd, dcb, dcz\r\n"

/* LEN hexadecimal digits, of which each version has some of its own. */
char *version_text(unsigned version);

/* Writes a version into the site's file of that name, which is no longer young
 * when it is asked for. */
void version_write(const char *name, unsigned version);

/* The version's own file below the site, and its path in a request. */
const char *version_name(unsigned version);
const char *version_target(unsigned version);

/* The value of Available-Dictionary by which a client offers that version, and
 * the whole line. */
const char *version_value(unsigned version);
const char *offer(unsigned version);

/* The folder for what a server keeps, and the argument that names it. */
const char *state_place(void);
const char *state_argument(void);

#define START_DICT(...) START(state_argument(), __VA_ARGS__)

/* Before each test: no version has been there. */
int versions_clean(void **unused);

#define VERSIONS_SUITE                                \
    SUITE(.begin = harness_begin, .end = harness_end, \
          .each_begin = versions_clean, .each_end = harness_after_test)

/* The path of what is kept of a version; NULL: nothing is. */
const char *find_kept(unsigned version);
unsigned count_kept(void);

/* A GET that must succeed. */
struct reply *fetch_ok(struct client *client, const char *target,
                       const char *fields);

/* Writes the version's own file, and asks for it until it is kept. */
void publish(struct client *client, unsigned version);

bool is_delta(const struct reply *reply);

/* Asks, offering that version, until the answer is a delta. */
struct reply *await_delta(struct client *client, const char *target,
                          unsigned version);

/* Fails unless the zstd program unpacks the body, by one version, to the
 * other. */
void expect_delta(const char *body, size_t body_len, unsigned from,
                  unsigned to);
void expect_reply_delta(const struct reply *reply, unsigned from, unsigned to);

/* Writes a file that need not be the site's. */
void save(const char *path, const void *data, size_t len);

#endif
