/*
 * cache_part - a part of a request that an operator names, to be put into a
 * cache's key, or to be left out of it:
 *
 *   header:NAME    a field
 *   cookie:NAME    a cookie
 *   query:NAME     a parameter of the query; with '*' behind NAME, all
 *                  parameters that begin with NAME
 *
 * Thread: any; values only. Names are borrowed.
 */
#ifndef CACHE_CACHE_PART_H
#define CACHE_CACHE_PART_H

#include "base/buf.h"
#include "http/request.h"

enum cache_part_kind { CACHE_PART_HEADER, CACHE_PART_COOKIE, CACHE_PART_QUERY };

struct cache_part {
    enum cache_part_kind kind;
    bool is_out;    /* '-' stood before the part: it is left out of the key */
    bool is_prefix; /* '*' stood behind the name */
    struct bytes name;
};

enum { CACHE_PARTS_MAX = 32 };

struct cache_parts {
    size_t count;
    struct cache_part items[CACHE_PARTS_MAX];
};

/* Reads a part out of `text`. A '-' in front leaves the part out of the key;
 * only "query:NAME" may have it. Returns NULL when the part was read, otherwise
 * what is wrong with `text`. */
const char *cache_part_read(struct cache_part *part, struct bytes text);

/* Whether the request has any of the parts. */
bool cache_parts_has(const struct cache_parts *parts,
                     const struct request *request);

/* Appends '?' and the query, without the parameters that are to be left out.
 * Appends nothing when no other parameter remains, or when query.data is
 * NULL. */
void cache_parts_put_query(const struct cache_parts *parts, struct bytes query,
                           struct buf *out);

/* Appends the fields and cookies of the request that the parts name, each as a
 * line. */
void cache_parts_put(const struct cache_parts *parts,
                     const struct request *request, struct buf *out);

#endif
