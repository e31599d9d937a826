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
    CACHE_VARY_BYTES_MAX = 4096,   /* of all names */
    CACHE_VARIANT_BYTES_MAX = 2048 /* of all values */
};

/* Gathers the names of all Vary fields of a reply's lines, in lower case, with
 * commas between, into out; an answer that one origin alone may read varies by
 * Origin, and one that takes a dictionary (dcb, dcz) by that, said or not.
 * False: there are too many, or one is '*' or what proxies say of who asks:
 * nobody can tell for whom it is. */
MUST_USE bool cache_vary_names(struct bytes lines, struct buf *out);

/* Puts the values that a request has for these names. False: they are too long,
 * or one stands beside a field that some take for it ("X_A" for "X-A"). */
MUST_USE bool cache_vary_put(struct bytes names, const struct request *request,
                             struct buf *out);

/* Whether a request takes an answer with these codings (Content-Encoding). A
 * coding that is not known here counts as taken. */
bool cache_vary_takes(const struct request *request, struct bytes codings);

/* Puts the Accept-Language of a request as its key has it, but with tags as
 * they are usually written (RFC 5646 2.1.1), so that requests of one key ask
 * alike. False: the key is as it came, or there is none. */
MUST_USE bool cache_vary_put_languages(const struct request *request,
                                       struct buf *out);

#endif
