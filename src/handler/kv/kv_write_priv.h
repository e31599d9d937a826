/*
 * kv_write_priv - shared by the files of writing. Each file calls only files
 * below it:
 *
 *   kv_write.c         begins, takes the body, asks the store
 *   kv_write_answer.c  answers with the store's result
 *   kv_write_head.c    checks and reads the head
 */
#ifndef HANDLER_KV_KV_WRITE_PRIV_H
#define HANDLER_KV_KV_WRITE_PRIV_H

#include "handler/kv/kv_batch.h"
#include "handler/kv/kv_priv.h"

enum { KV_ROOM_BYTES = 512 }; /* larger values need memory of their own */

/*
 *   begin: allowed and valid?      ---> sink: a body, or a batch
 *                                          |
 *   answer (without a body: begin) --------+--> store ... on_done
 *                                                           |
 *                       exchange <--- pending <-------------+
 *
 * One object lives through all of these steps. The sink, the store, and
 * exchange->pending (later the response's source) hold a reference each. So a
 * write that the store has accepted continues when its client has gone.
 */
struct kv_writing {
    /* Must be the first member, since it is cast to struct kv_writing. */
    struct kv_question question;
    struct sink sink;
    struct pending pending;
    struct text_source text; /* writes the results of a batch */
    struct kv_write write;
    struct kv_op op;        /* the operation, unless the request is a batch */
    struct buf body;        /* the value to be written */
    struct kv_batch *batch; /* NULL: the request is no batch */
    struct kv_pass pass;
    size_t charged; /* bytes of memory charged for the body */
    uint64_t asker; /* key of the address that these bytes are charged to */
    size_t results_at;
    /* The members from here on are not initialized with the others. */
    char key[KV_KEY_BYTES_MAX];
    char type[KV_TYPE_BYTES_MAX];
    char room[KV_ROOM_BYTES]; /* memory for a short body */
};

/* Returns whether a request's head is valid, and the request may write the key.
 * If not, the request was answered. Sets `op`, `key`, `type` and `pass`. */
MUST_USE bool kv_writing_read_head(struct kv_writing *writing,
                                   enum kv_key_verdict verdict,
                                   struct bytes key);

/* Returns whether the head of a batch is valid. If not, the request was
 * answered. The batch's keys are checked later. */
MUST_USE bool kv_writing_read_batch_head(struct kv_writing *writing);

/* Returns the first operation because of which a write has failed. */
const struct kv_op *kv_write_reason(const struct kv_write *write);

/* Answers with the store's result. Uses up the reference that `pending`
 * holds. */
void kv_writing_answer(struct kv_writing *writing);

#endif
