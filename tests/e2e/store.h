/*
 * store - a server with a key-value store at /kv, and what is asked of it.
 *
 * What the interface promises it promises of every engine: such tests ask for a
 * store_place(), and their SUITE() has store_run_anywhere() run them in each
 * engine.
 *
 * Thread: the test's.
 * Owns:   the engine that is at work; folders of stores lie in folder().
 */
#ifndef E2E_STORE_H
#define E2E_STORE_H

#include "client.h"

enum store_engines {
    STORE_IN_FOLDER = 1,
    STORE_IN_REDIS = 2,
    STORE_IN_CLUSTER = 4,
    STORE_ANYWHERE = 7
};

/* Runs the tests once in each of the engines, as a group whose set-up is start;
 * those of an engine that is not installed are skipped. How many failed. */
int store_run(const struct CMUnitTest tests[], size_t count,
              CMFixtureFunction start, unsigned engines);
/* The same in all of them, with what the suite begins with. */
int store_run_anywhere(const struct CMUnitTest *tests, size_t count);

/* Of a store that is not there yet, in the engine at work: what --kv names
 * behind the prefix. */
const char *store_place(void);
/* The same, always LMDB's. */
const char *store_folder(void);

#define START_STORE(path, ...) \
    START("--kv", printed("/kv=%s", path), __VA_ARGS__)

/* Until the store answers. */
void store_await(const struct server *server);

/* Sends METHOD /kv/KEY with the fields and the body, NULL for none; key is as
 * it stands in a path, and may have a query behind it. */
bool store_say(struct client *client, const char *method, const char *key,
               const char *fields, const char *body);
/* The same, and reads the answer. */
struct reply *store_ask(struct client *client, const char *method,
                        const char *key, const char *fields, const char *body);
/* The same on a connection of its own: a body that is refused is not read. */
struct reply *store_ask_alone(const struct server *server, const char *method,
                              const char *key, const char *fields,
                              const char *body);
/* A PUT that must succeed; the revision. */
uint64_t store_put(struct client *client, const char *key, const char *body);
/* A GET whose answer must be that. */
void store_holds(struct client *client, const char *key, const char *body);

/* The revision in the answer's ETag, which it must have. */
uint64_t reply_revision(const struct reply *reply);

/* A problem of that status; what is said in it. */
#define expect_problem(reply, status, part) \
    check_problem(reply, status, part, __FILE__, __LINE__)
void check_problem(const struct reply *reply, unsigned status, const char *part,
                   const char *file, int line);

/* Runs `sprintd kv ...` with files, or NULL, as standard input, and output; its
 * status. */
int store_command(const char *in, const char *out,
                  const char *const arguments[]);
#define STORE_COMMAND(in, out, ...) \
    store_command(in, out,          \
                  (const char *const[]){"sprintd", "kv", __VA_ARGS__, NULL})

#endif
