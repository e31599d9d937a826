/*
 * kv_priv - what the files of kv share. Each calls only those below it:
 *
 *   kv.c               which question it is: what the handler's table names
 *   kv_write.c         bodies, and writing what came
 *   kv_write_answer.c  what the store has answered a write
 *   kv_write_head.c    the head of a write
 *   kv_read.c          one value
 *   kv_list.c          keys, a page at a time
 *   kv_list_write.c    the text of a list
 *   kv_watch.c         keys, as they change
 *   kv_entry.c         a key in JSON
 *   kv_request.c       what a request says
 *   kv_answer.c        heads, problems, and what is counted
 *   kv_question.c      what the store has been asked
 *
 * kv_batch, kv_token and kv_key know nothing of these.
 */
#ifndef HANDLER_KV_KV_PRIV_H
#define HANDLER_KV_KV_PRIV_H

#include "base/list.h"
#include "base/pool.h"
#include "handler/kv/kv.h"
#include "handler/kv/kv_key.h"
#include "handler/problem.h"
#include "handler/representation.h"
#include "handler/stream_seats.h"
#include "http/query.h"

enum {
    KV_ETAG_BYTES = 22, /* 2^64 - 1 has 20 digits, and quotes */
    KV_FIELDS_BYTES_MAX = 512,
    /* A key and a type with each byte as "\u00XX", and what stands around. */
    KV_ENTRY_BYTES_MAX = 6 * (KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX) + 300,
    KV_QUERY_BYTES_MAX = 8192 /* prefix, delimiter and cursor, encoded */
};

#define KV_NO_STORE "Cache-Control: no-store\r\n"
#define KV_RETRY "Retry-After: 1\r\n"
#define KV_DEFAULT_TYPE "application/octet-stream"

struct kv {
    struct kv_options options;
    struct encode encode;
    struct boundary boundary;
    struct list asked; /* questions that the store has */
    struct kv_reading *spare;
    struct pool writings;
    struct list watchings;
    struct stream_seats seats;
    /* Seconds that have been counted; beats: heartbeats among them. */
    unsigned ticks;
    unsigned beats;
    bool is_draining;
    char query[KV_QUERY_BYTES_MAX]; /* decoded, while it is looked at */
};

/* --- kv_question --------------------------------------------------------- */

/*
 * What the store may be asked. Whoever holds it has a reference: the exchange's
 * sink, what is pending or the response's source, and the store while it has
 * not answered, which may be long after the exchange is gone.
 */
struct kv_question {
    struct list list_node; /* in kv->asked */
    struct kv *kv;
    struct exchange *exchange; /* there while its sink, pending or source is */
    unsigned refs;
    bool is_done;
    void (*destroy)(struct kv_question *question);
};

void kv_question_init(struct kv_question *question, struct kv *kv,
                      struct exchange *exchange,
                      void (*destroy)(struct kv_question *question));
void kv_question_release(struct kv_question *question);

/* The store has it, or has answered it, which wakes who waits. */
void kv_question_ask(struct kv_question *question);
void kv_question_done(struct kv_question *question);

/* --- kv_answer ----------------------------------------------------------- */

/* Counts what was asked, or why it was not done: undone is an outcome by which
 * nothing was found and nothing changed. */
static inline void kv_note(const struct kv *kv, enum stats_store_number number,
                           uint64_t more)
{
    if (kv->options.stats)
        stats_store_note(kv->options.stats, number, more);
}

void kv_note_undone(const struct kv *kv, enum kv_outcome undone);

void kv_fail(const struct kv *kv, struct exchange *exchange, unsigned status,
             const char *detail);

/* kv_fail() with more lines in the head, and more words about it. */
void kv_fail_with(const struct kv *kv, struct exchange *exchange,
                  struct problem *problem);

/* Answers with 400, and says which parameter is why. */
void kv_fail_parameter(const struct kv *kv, struct exchange *exchange,
                       const char *name, const char *detail);

/* The answer to what could not be had: 503, 504, 507, 422 or 500. */
void kv_fail_outcome(const struct kv *kv, struct exchange *exchange,
                     enum kv_outcome outcome);

/* 200 with text that is written while it is sent; the response owns it from
 * then on. */
void kv_send_text(const struct kv *kv, struct exchange *exchange,
                  struct bytes type, struct bytes fields,
                  struct text_source *text);

/* The revision in quotes. */
void kv_put_etag(struct buf *out, uint64_t revision);

/* Lines of a head: ETag, and X-KV-Expires where it is said. */
void kv_put_fields(struct buf *fields, const struct kv_meta *meta);

/* Seconds since the epoch; a part of one is one, or it would be early. */
int64_t kv_expires_s(const struct kv_meta *meta);

/* --- kv_request ---------------------------------------------------------- */

/* A parameter that is "0", as if it were not there, or "1". False: neither. */
MUST_USE bool kv_read_flag(struct bytes value, bool *is_set_out);

/* The value of the one field of this name; nothing, if it is not there. False:
 * it is there more than once, and nobody can say which is meant. */
MUST_USE bool kv_find_single(const struct request *request, struct bytes name,
                             struct bytes *value_out);

/* Reads the query, or answers with 400: false. What it says stays until the
 * next is read. */
MUST_USE bool kv_read_query(struct kv *kv, struct exchange *exchange,
                            struct query_parameter *parameters, size_t count);

/* --- kv_entry ------------------------------------------------------------ */

/* Writes the members of a key's object: "key":"a","size":3, ... */
void kv_put_entry(struct buf *out, const struct kv_entry *entry);

/* "key":"a", or "key64" */
void kv_put_key(struct buf *out, struct bytes key);

/* {"prefix":"a/"} */
void kv_put_prefix(struct buf *out, struct bytes prefix);

/* --- What there is ------------------------------------------------------- */

void kv_read(struct kv *kv, struct exchange *exchange, struct bytes key);
void kv_read_spare_fini(struct kv *kv);

void kv_list(struct kv *kv, struct exchange *exchange);

/* since: data is NULL where the query does not say it. */
void kv_watch(struct kv *kv, struct exchange *exchange, struct bytes prefix,
              struct bytes since);

void kv_write_init(struct kv *kv);
void kv_write_fini(struct kv *kv);

/* Makes the sink for a body that is about to come, or answers. */
void kv_write_begin(struct kv *kv, struct exchange *exchange,
                    enum kv_key_verdict verdict, struct bytes key);

/* Asks the store, when all of the body has come to that sink or there is none.
 */
void kv_write_end(struct sink *sink);

#endif
