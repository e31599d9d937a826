/*
 * cache_vary - which of several answers to one address a request selects: by
 * the fields that Vary names (RFC 9111 4.1).
 *
 * A variant is a text: the values that these fields have, normalised as far as
 * it cannot matter to the origin: lines joined, white space gone; of
 * Accept-Encoding the codings that are taken, in one order; of Accept-Language
 * the case and the order of those that are liked the same.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_VARY_H
#define CACHE_CACHE_VARY_H

#include "base/buf.h"
#include "http/request.h"

enum {
    CACHE_VARY_NAMES_MAX = 16,
    CACHE_VARY_BYTES_MAX = 4096,   /* of the names */
    CACHE_VARIANT_BYTES_MAX = 2048 /* of the values */
};

/* Gathers the names of all Vary fields of a reply's lines, in lower case, with
 * commas between, into out; what allows one origin alone to read it varies by
 * Origin, said or not. False: there are too many, or one is '*' or what proxies
 * say of who asks: nobody can tell for whom it is. */
MUST_USE bool cache_vary_names(struct bytes lines, struct buf *out);

/* Puts the values that a request has for these names. False: they are too long,
 * or one stands beside a field that some take for it ("X_A" for "X-A"). */
MUST_USE bool cache_vary_put(struct bytes names, const struct request *request,
                             struct buf *out);

/* Whether a request takes what is coded so (Content-Encoding). Of codings that
 * are not known here nothing is said, and it does. */
bool cache_vary_takes(const struct request *request, struct bytes codings);

/* Puts the Accept-Language of a request as its key has it, but for how tags are
 * written (RFC 5646 2.1.1): what has the same key is asked for in the same way.
 * False: the key is as it came, or it has none. */
MUST_USE bool cache_vary_put_languages(const struct request *request,
                                       struct buf *out);

#endif
