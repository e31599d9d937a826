/*
 * store_fixture - a key-value store in a temporary folder, one worker's client
 * on it, and a clock that the test moves.
 */
#ifndef UNIT_STORE_FIXTURE_H
#define UNIT_STORE_FIXTURE_H

#include "kv/lmdb/kv_lmdb.h"

#include "suite.h"
#include "unit/place.h"

#define KV_START_MS INT64_C(1700000000000)

extern struct place place;
extern struct kv_lmdb_options options;
extern struct kv_lmdb *store;
extern struct ev_loop *loop;
extern struct mailbox *mailbox;
extern struct kv_client *client;
extern struct now now;           /* the client's */
extern _Atomic int64_t clock_ms; /* the writer's */

void set_clock(int64_t ms);
void open_store(void);
void close_store(void);
void reopen_store(void);

/* The store that is opened next is this one of the place. */
void choose_store(const char *name);

int set_up(void **state);
int tear_down(void **state);

/* --- Writing -------------------------------------------------------------- */

/* A write of one operation, and whether it was answered. */
struct asked {
    struct kv_write write;
    struct kv_op op;
    unsigned answers;
};

void ask(struct asked *asked, struct kv_op op);
void wait_for(struct asked *asked);
struct kv_op do_op(struct kv_op op);
struct kv_op put_op(const char *key, const char *value);
struct kv_op delete_op(const char *key);

/* Returns the revision. */
uint64_t put(const char *key, const char *value);

uint64_t put_for(const char *key, const char *value, uint64_t ttl_ms);

/* Whether all of it was done. */
bool do_ops(struct kv_op *ops, size_t count);

/* --- Reading -------------------------------------------------------------- */

/* NULL: missing. */
struct kv_value *get_bytes(struct bytes key);

void assert_value(const char *key, const char *expected);
void assert_missing(const char *key);
struct kv_lmdb_counts count(void);

#endif
