/*
 * kv_token - who may write keys, and which.
 *
 *   # comment
 *   TOKEN              any key
 *   TOKEN PREFIX       those that begin with it, which is percent-encoded
 *
 * A token that stands in several lines has all their prefixes. It comes as
 * Authorization: Bearer TOKEN (RFC 6750). Tokens are not kept: what is
 * compared, in constant time, is a hash that has a secret of this process in
 * it.
 *
 * A program on this machine may write without one (local.h), but for a browser
 * that does so for a page of another origin. Anybody may read; but a page of
 * another origin must not have a browser on this machine do it in its place. So
 * a request that comes from this machine has to name this machine, unless a
 * trusted proxy has sent it.
 *
 * Thread: any; read only once it is there. Counted.
 * Owns:   the hashes and prefixes.
 */
#ifndef HANDLER_KV_KV_TOKEN_H
#define HANDLER_KV_KV_TOKEN_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "handler/hosts.h"
#include "http/exchange.h"
#include "http/forwarded.h"

enum {
    KV_TOKENS_MAX = 1000,    /* lines of a file that have one */
    KV_TOKEN_BYTES_MIN = 16, /* shorter ones can be guessed */
    KV_TOKEN_BYTES_MAX = 255
};

struct kv_token {
    struct siphash hash;
    struct bytes prefix;
};

struct kv_tokens {
    struct siphash_key secret;
    size_t count;
    struct kv_token *tokens; /* in the order of their hashes */
    char *prefixes;
    atomic_uint refs; /* private */
};

/* What is wrong with a file, for people. */
struct kv_token_fault {
    unsigned line; /* 0: with no line in particular */
    const char *text;
};

/* Reads the file, for one reference. 0, or -EINVAL with *fault_out set, or
 * -errno. */
MUST_USE int kv_tokens_open(struct kv_tokens **tokens_out, const char *path,
                            struct kv_token_fault *fault_out);

/* Parses the text of such a file, which need not stay. */
MUST_USE int kv_tokens_parse(struct kv_tokens **tokens_out, struct bytes text,
                             struct kv_token_fault *fault_out);
struct kv_tokens *kv_tokens_acquire(struct kv_tokens *tokens);
void kv_tokens_release(struct kv_tokens **tokens_ref); /* NULL is accepted */

/* --- What somebody may write --------------------------------------------- */

struct kv_access {
    const struct hosts *names; /* of this machine; borrowed */
    /* borrowed; NULL: no proxy is trusted */
    const struct forwarded_trust *trust;
    const struct kv_tokens *tokens; /* borrowed; NULL: there are none */
    bool open_writes;               /* anybody may write */
    bool read_only;                 /* nobody may */
};

enum kv_leave {
    KV_LEAVE_GIVEN,
    KV_LEAVE_UNKNOWN, /* 401: no token, or none of ours */
    KV_LEAVE_REFUSED  /* 403: whatever the token */
};

/* What a request may write. */
struct kv_pass {
    bool has_all;
    const struct kv_token *tokens; /* else what begins with one of these */
    size_t count;
};

/* What the token that comes with a request allows. False: there is none, or
 * none of these. */
MUST_USE bool kv_tokens_find(const struct kv_tokens *tokens,
                             const struct request *request,
                             struct kv_pass *pass_out);

/* Whether the request may read: else 403. */
MUST_USE bool kv_access_reads(const struct kv_access *access,
                              const struct exchange *exchange);

MUST_USE enum kv_leave kv_access_judge(const struct kv_access *access,
                                       const struct exchange *exchange,
                                       struct kv_pass *pass_out);

/* Whether key may be written; else the answer is 403. */
MUST_USE bool kv_pass_has(const struct kv_pass *pass, struct bytes key);

#endif
