/*
 * kv_priv - shared by the files of kv. Each file calls only files below it:
 *
 *   kv.c               the handler's functions, which choose a question
 *   kv_write.c         receives bodies, and writes them
 *   kv_write_answer.c  the answer to a write
 *   kv_write_head.c    the head of a write
 *   kv_read.c          one value
 *   kv_list.c          keys, a page at a time
 *   kv_list_write.c    the text of a list
 *   kv_watch.c         keys, as they change
 *   kv_entry.c         a key in JSON
 *   kv_request.c       reads a request's fields and query
 *   kv_answer.c        heads, problems, and counting
 *   kv_question.c      a question to the store
 *
 * kv_batch, kv_token and kv_key know nothing of these files.
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
    KV_ETAG_BYTES = 22, /* quotes, and the 20 digits of 2^64 - 1 */
    KV_FIELDS_BYTES_MAX = 512,
    /* Room for a key and a type, each byte as "\u00XX", and for the text around
     * them. */
    KV_ENTRY_BYTES_MAX = 6 * (KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX) + 300,
    KV_QUERY_BYTES_MAX = 8192 /* for encoded prefix, delimiter and cursor */
};

#define KV_NO_STORE "Cache-Control: no-store\r\n"
#define KV_RETRY "Retry-After: 1\r\n"
#define KV_DEFAULT_TYPE "application/octet-stream"

struct kv {
    struct kv_options options;
    struct encode encode;
    struct boundary boundary;
    struct list asked; /* questions sent to the store */
    struct kv_reading *spare;
    struct pool writings;
    struct list watchings;
    struct stream_seats seats;
    /* The seconds counted, and the heartbeats that were due in that time. */
    unsigned ticks;
    unsigned beats;
    bool is_draining;
    char query[KV_QUERY_BYTES_MAX]; /* decoded query of the present request */
};

/* --- kv_question --------------------------------------------------------- */

/*
 * A question to the store. References to it are held by the exchange's sink, by
 * exchange->pending or later the response's source, and by the store. The store
 * holds its reference until it has answered, perhaps long after the exchange
 * has ended.
 */
struct kv_question {
    struct list list_node; /* linked into kv->asked */
    struct kv *kv;
    struct exchange *exchange; /* valid while its sink, pending or source
                                  exists */
    unsigned refs;
    bool is_done;
    void (*destroy)(struct kv_question *question);
};

void kv_question_init(struct kv_question *question, struct kv *kv,
                      struct exchange *exchange,
                      void (*destroy)(struct kv_question *question));
void kv_question_release(struct kv_question *question);

/* Notes that the store has the question. */
void kv_question_ask(struct kv_question *question);

/* Notes that the store has answered, and wakes the exchange. */
void kv_question_done(struct kv_question *question);

/* --- kv_answer ----------------------------------------------------------- */

/* Adds `more` to one of the store's statistics. */
static inline void kv_note(const struct kv *kv, enum stats_store_number number,
                           uint64_t more)
{
    if (kv->options.stats)
        stats_store_note(kv->options.stats, number, more);
}

/* Counts why a question failed. `undone` is an outcome by which nothing was
 * found or changed. */
void kv_note_undone(const struct kv *kv, enum kv_outcome undone);

void kv_fail(const struct kv *kv, struct exchange *exchange, unsigned status,
             const char *detail);

/* Answers with `problem`, whose `fields` are void after the call. */
void kv_fail_with(const struct kv *kv, struct exchange *exchange,
                  struct problem *problem);

/* Answers 400, and names the parameter at fault. */
void kv_fail_parameter(const struct kv *kv, struct exchange *exchange,
                       const char *name, const char *detail);

/* Answers a failed question with 422, 500, 501, 503, 504 or 507. */
void kv_fail_outcome(const struct kv *kv, struct exchange *exchange,
                     enum kv_outcome outcome);

/* Answers 200 with text that is written while it is sent. The response then
 * owns the text. */
void kv_send_text(const struct kv *kv, struct exchange *exchange,
                  struct bytes type, struct bytes fields,
                  struct text_source *text);

/* Puts the revision in quotes. */
void kv_put_etag(struct buf *out, uint64_t revision);

/* Puts the fields ETag, and X-KV-Expires if the value expires. */
void kv_put_fields(struct buf *fields, const struct kv_meta *meta);

/* Returns when the value expires, in seconds since the epoch, rounded up so
 * that the time is not early. */
int64_t kv_expires_s(const struct kv_meta *meta);

/* --- kv_request ---------------------------------------------------------- */

/* Reads a parameter that is "0", "1", or missing, which means "0". Returns
 * false if the value is something else. */
MUST_USE bool kv_read_flag(struct bytes value, bool *is_set_out);

/* Finds the only field of that name. *value_out is its value, or empty if there
 * is none. Returns false if there are several such fields, since it is unclear
 * which one counts. */
MUST_USE bool kv_find_single(const struct request *request, struct bytes name,
                             struct bytes *value_out);

/* Reads the query. Returns false after it has answered 400. The texts stay
 * until the next query is read. */
MUST_USE bool kv_read_query(struct kv *kv, struct exchange *exchange,
                            struct query_parameter *parameters, size_t count);

/* --- kv_entry ------------------------------------------------------------ */

/* Writes the members of a key's object: "key":"a","size":3, ... */
void kv_put_entry(struct buf *out, const struct kv_entry *entry);

/* Writes "key":"a", or "key64":"..." */
void kv_put_key(struct buf *out, struct bytes key);

/* Writes {"prefix":"a/"} */
void kv_put_prefix(struct buf *out, struct bytes prefix);

/* --- What requests ask for ----------------------------------------------- */

void kv_read(struct kv *kv, struct exchange *exchange, struct bytes key);
void kv_read_spare_fini(struct kv *kv);

void kv_list(struct kv *kv, struct exchange *exchange);

/* Answers with changes, from revision `since` on. since.data is NULL if the
 * query has no "since". */
void kv_watch(struct kv *kv, struct exchange *exchange, struct bytes prefix,
              struct bytes since);

void kv_write_init(struct kv *kv);
void kv_write_fini(struct kv *kv);

/* Makes the sink for the request's body, or answers the request. */
void kv_write_begin(struct kv *kv, struct exchange *exchange,
                    enum kv_key_verdict verdict, struct bytes key);

/* Asks the store, after the sink has all of the body or there is no body. */
void kv_write_end(struct sink *sink);

#endif
