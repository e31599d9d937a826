/*
 * cache_key - the key under which an answer is stored. It consists of the parts
 * of a request that decide about its answer, in the form that the origin gets.
 *
 *   PLACE \n http://host/path?query [ \n name: value ]...
 *
 * Whatever goes upstream but is not in the key can be used to poison a cache.
 * So scheme and host always count, and so does what a trusted proxy says of
 * them. A request with a field that some servers take for another address or
 * method has no key. Fields in which proxies tell the scheme in every request
 * (X-Scheme) are in the key.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_KEY_H
#define CACHE_CACHE_KEY_H

#include "cache/cache_part.h"

enum { CACHE_KEY_BYTES_MAX = 16384 };

struct cache_key_rules {
    struct bytes place;       /* name of the proxy; no two have the same */
    struct cache_parts parts; /* parts added to the key, or left out of it */
};

/* What a key depends on besides the rules and the request. */
struct cache_key_asker {
    bool is_secure;   /* the request came by https */
    bool is_trusted;  /* what the asker says of the address goes upstream */
    bool has_no_form; /* fields that ask for a form are left out; forms can be
                         put behind the key (cache_form.h) */
};

/* Appends the key. Returns false when the request has no key, or too long a
 * key. */
MUST_USE bool cache_key_put(const struct cache_key_rules *rules,
                            const struct request *request,
                            const struct cache_key_asker *asker,
                            struct buf *out);

/* Appends the key even if some servers may take the request for another
 * address. This key serves to invalidate what the request has changed. */
MUST_USE bool cache_key_put_target(const struct cache_key_rules *rules,
                                   const struct request *request,
                                   const struct cache_key_asker *asker,
                                   struct buf *out);

/* Returns "host/path?query" of a key. The result's data is NULL if the key is
 * of another place than `place`. If place.data is NULL, keys of all places are
 * accepted. */
struct bytes cache_key_address(struct bytes place, struct bytes key);

/* Appends the key of the address `reference`, the value of a Location or
 * Content-Location in the answer to `request` (RFC 9111 4.4). Returns false
 * when `reference` names another host than the request, or is no address. */
MUST_USE bool cache_key_put_other(const struct cache_key_rules *rules,
                                  const struct request *request,
                                  const struct cache_key_asker *asker,
                                  struct bytes reference, struct buf *out);

#endif
