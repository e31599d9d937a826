/*
 * encode_priv - shared by encode.c, which decides, and encode_source.c, which
 * compresses.
 */
#ifndef HANDLER_ENCODE_PRIV_H
#define HANDLER_ENCODE_PRIV_H

#include "handler/encode.h"

struct coded_source; /* opaque */

/* The fields of digests (RFC 9530, and older ones). A trailer with such a field
 * is dropped from a compressed body, for which the digest would be wrong. */
enum { ENCODE_DIGESTS = 4 };
extern const struct bytes encode_digests[ENCODE_DIGESTS];

/* Makes a stream, without a source below it yet. Returns NULL if too many
 * streams are open, or when there is no memory. */
MUST_USE struct coded_source *coded_source_create(struct encoder *encoder,
                                                  struct exchange *exchange,
                                                  enum coding coding);

/* Begins a source that compresses the bytes of `inner`, and owns `inner` from
 * then on. */
struct source *coded_source_begin(struct coded_source *coded,
                                  struct source *inner);

/* Begins a source that compresses `body`, which stays in memory until the
 * response was sent. */
struct source *coded_source_begin_with(struct coded_source *coded,
                                       struct bytes body);

#endif
