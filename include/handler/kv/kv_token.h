/*
 * kv_token - decides who may write which keys.
 *
 *   # comment
 *   TOKEN              any key
 *   TOKEN PREFIX       keys that begin with PREFIX, percent-encoded
 *
 * A token that stands in several lines has the prefixes of all these lines.
 * Clients send their token as Authorization: Bearer TOKEN (RFC 6750). Only
 * hashes of the tokens are kept, made under a secret of this process and
 * compared in constant time.
 *
 * A program on this machine may write without a token (local.h). An exception
 * is a browser that acts for a page of another origin. Anybody may read, but a
 * page of another origin must not read through a browser on this machine. So a
 * request from this machine must name this machine as its host, unless a
 * trusted proxy has sent the request.
 *
 * Thread: any; constant once made. References are counted.
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
    KV_TOKENS_MAX = 1000,    /* most lines with a token in a file */
    KV_TOKEN_BYTES_MIN = 16, /* shorter tokens are easy to guess */
    KV_TOKEN_BYTES_MAX = 255
};

struct kv_token {
    struct siphash hash;
    struct bytes prefix;
};

struct kv_tokens {
    struct siphash_key secret;
    size_t count;
    struct kv_token *tokens; /* sorted by their hashes */
    char *prefixes;
    atomic_uint refs; /* private */
};

/* What is wrong with a file, as text for people. */
struct kv_token_fault {
    unsigned line; /* 0 if the fault is in no particular line */
    const char *text;
};

/* Reads the file, and gives the caller one reference. Returns 0, or -EINVAL
 * with *fault_out set, or another -errno. */
MUST_USE int kv_tokens_open(struct kv_tokens **tokens_out, const char *path,
                            struct kv_token_fault *fault_out);

/* Parses the text of a file of tokens. Returns the same values as
 * kv_tokens_open(). `text` need not stay. */
MUST_USE int kv_tokens_parse(struct kv_tokens **tokens_out, struct bytes text,
                             struct kv_token_fault *fault_out);
struct kv_tokens *kv_tokens_acquire(struct kv_tokens *tokens);
void kv_tokens_release(struct kv_tokens **tokens_ref); /* NULL is accepted */

/* --- What somebody may write --------------------------------------------- */

struct kv_access {
    const struct hosts *names; /* names of this machine; borrowed */
    /* Borrowed. NULL: no proxy is trusted. */
    const struct forwarded_trust *trust;
    const struct kv_tokens *tokens; /* borrowed; NULL: there are no tokens */
    bool open_writes;               /* anybody may write every key */
    bool read_only;                 /* nobody may write */
};

enum kv_leave {
    KV_LEAVE_GIVEN,
    KV_LEAVE_UNKNOWN, /* 401: the request has no known token */
    KV_LEAVE_REFUSED  /* 403: no token would help */
};

/* Which keys a request may write. */
struct kv_pass {
    bool has_all; /* all keys may be written; `tokens` is not used */
    const struct kv_token *tokens; /* keys with one of their prefixes may be
                                      written */
    size_t count;
};

/* Finds what the request's token allows. Returns false if the request has no
 * token, or an unknown one. */
MUST_USE bool kv_tokens_find(const struct kv_tokens *tokens,
                             const struct request *request,
                             struct kv_pass *pass_out);

/* Whether the request may read. If it may not, the caller answers 403. */
MUST_USE bool kv_access_reads(const struct kv_access *access,
                              const struct exchange *exchange);

MUST_USE enum kv_leave kv_access_judge(const struct kv_access *access,
                                       const struct exchange *exchange,
                                       struct kv_pass *pass_out);

/* Whether the key may be written. If it may not, the caller answers 403. */
MUST_USE bool kv_pass_has(const struct kv_pass *pass, struct bytes key);

#endif
