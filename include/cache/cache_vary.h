/*
 * cache_vary - finds which of several answers to one address a request selects,
 * by the fields that Vary names (RFC 9111 4.1).
 *
 * A variant is a text: the values of these fields. Differences that mean
 * nothing to an origin are taken out: lines are joined and white space goes. Of
 * Accept-Encoding the accepted codings stay, in one order. Accept-Language
 * loses its case and the order of languages that are liked equally.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_VARY_H
#define CACHE_CACHE_VARY_H

#include "base/buf.h"
#include "http/request.h"

enum {
    CACHE_VARY_NAMES_MAX = 16,
    CACHE_VARY_BYTES_MAX = 4096,   /* limit for all names together */
    CACHE_VARIANT_BYTES_MAX = 2048 /* limit for all values together */
};

/* Puts the names in all Vary fields of a reply's lines into `out`, in lower
 * case, with commas between. An answer that only one origin may read also
 * varies by Origin, and one in dcb or dcz by Available-Dictionary, even if Vary
 * does not say so. Returns false when there are too many names, or when nobody
 * can tell for whom the answer is. That is so when a name is '*', or when it
 * names a field in which proxies tell who asks. */
MUST_USE bool cache_vary_names(struct bytes lines, struct buf *out);

/* Puts the values that a request has for these names. Returns false when the
 * values are too long, or when one of the fields stands beside another that
 * some servers take for the same ("X_A" for "X-A"). */
MUST_USE bool cache_vary_put(struct bytes names, const struct request *request,
                             struct buf *out);

/* Whether a request accepts an answer with these codings (Content-Encoding). A
 * coding that is unknown here counts as accepted. */
bool cache_vary_takes(const struct request *request, struct bytes codings);

/* Puts an Accept-Language for the request to the origin: the normalised value
 * that the variant has, but with tags in their usual case (RFC 5646 2.1.1). So
 * all requests of one variant ask the origin alike. Returns false when the
 * request has no Accept-Language, or when its variant has the value
 * unchanged. */
MUST_USE bool cache_vary_put_languages(const struct request *request,
                                       struct buf *out);

#endif
