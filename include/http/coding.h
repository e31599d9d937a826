/*
 * coding - content codings and which of them a client takes
 * (RFC 9110 8.4.1 and 12.5.3).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_CODING_H
#define HTTP_CODING_H

#include "base/bytes.h"
#include "http/request.h"

/* In rising order of preference when a client likes several the same. */
enum coding {
    CODING_IDENTITY,
    CODING_GZIP,
    CODING_ZSTD,
    CODING_BR,
    CODING_COUNT
};

/* Its token in Content-Encoding ("gzip"), and the suffix of a precompressed
 * sibling (".gz"); both empty for CODING_IDENTITY. */
struct bytes coding_token(enum coding coding);
struct bytes coding_suffix(enum coding coding);

/* Chooses among the codings whose bit (1 << coding) is in available the one
 * with the highest weight; at equal weight the most preferred of the enum.
 * CODING_IDENTITY is always available; without its own member or "*" it is
 * acceptable but weighs less than any coding that is listed. "x-gzip" means
 * gzip. A member with a malformed weight counts as q=0; of two members for
 * one coding the later counts. When nothing is acceptable the answer is
 * CODING_IDENTITY all the same: RFC 9110 12.5.3 lets a server disregard the
 * field. Without the field: identity. */
enum coding coding_choose(const struct request *request, unsigned available);

#endif
