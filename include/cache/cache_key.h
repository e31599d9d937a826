/*
 * cache_key - the name under which an answer is kept: all of a request that
 * decides what is answered, as the origin is told it.
 *
 *   PLACE \n http://host/path?query [ \n name: value ]...
 *
 * What goes upstream and is in no key is how caches are poisoned: so scheme and
 * host always count, and so does what a trusted proxy says of these. A request
 * with a field that some servers take for another address or method has no key;
 * what others say in every request (X-Scheme) is in it.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_KEY_H
#define CACHE_CACHE_KEY_H

#include "cache/cache_part.h"

enum { CACHE_KEY_BYTES_MAX = 16384 };

struct cache_key_rules {
    struct bytes place;       /* names the proxy; no two have the same */
    struct cache_parts parts; /* what else the key has, or queries lack in it */
};

/* Whose request a key is made for. */
struct cache_key_asker {
    bool is_secure;   /* the request came by https */
    bool is_trusted;  /* what it says of the address goes upstream */
    bool has_no_form; /* fields that ask for a form are left out; forms can be
                         put behind the key (cache_form.h) */
};

/* Appends the key. False: it has none, or one that is too long. */
MUST_USE bool cache_key_put(const struct cache_key_rules *rules,
                            const struct request *request,
                            const struct cache_key_asker *asker,
                            struct buf *out);

/* Appends the key even if the request may mean another address to some servers:
 * for what it has made invalid. */
MUST_USE bool cache_key_put_target(const struct cache_key_rules *rules,
                                   const struct request *request,
                                   const struct cache_key_asker *asker,
                                   struct buf *out);

/* "host/path?query" of a key, if it is of that place (its data is NULL: of
 * any); otherwise its data is NULL. */
struct bytes cache_key_address(struct bytes place, struct bytes key);

/* Appends the key of another address of the same place and host: what Location
 * or Content-Location says of it (RFC 9111 4.4). False: it is of another host,
 * or no address. */
MUST_USE bool cache_key_put_other(const struct cache_key_rules *rules,
                                  const struct request *request,
                                  const struct cache_key_asker *asker,
                                  struct bytes reference, struct buf *out);

#endif
