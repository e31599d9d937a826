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

/* The codings, the least preferred first: when a client likes two precompressed
 * siblings of a file equally, the sibling with the higher coding is sent. */
enum coding {
    CODING_IDENTITY,
    CODING_GZIP,
    CODING_ZSTD,
    CODING_BR,
    CODING_COUNT,
    /* Coded with a dictionary that the client has (RFC 9842). coding_pick()
     * never picks this coding, and no sibling has it. */
    CODING_DCZ = CODING_COUNT
};

/* coding_token() is the coding's token in Content-Encoding ("gzip"), and
 * coding_suffix() the suffix of a precompressed sibling (".gz"). The token and
 * suffix of CODING_IDENTITY are empty, and so is the suffix of CODING_DCZ. */
struct bytes coding_token(enum coding coding);
struct bytes coding_suffix(enum coding coding);

/* How much a client likes each coding, in thousandths up to 1000. A weight of 0
 * refuses the coding; a weight below 0 means that the client has not named the
 * coding. */
struct coding_taste {
    int weights[CODING_DCZ + 1];
};

/* Reads what the client says in Accept-Encoding. "x-gzip" means gzip; a member
 * with a malformed weight counts as q=0; of two members for one coding the
 * later counts. Returns false when there is no such field: then no answer is to
 * be coded. */
bool coding_taste_read(struct coding_taste *taste,
                       const struct request *request);

enum { CODING_MEMO_BYTES = 64 };

/* The last result of coding_taste_read(). It is kept because clients of one
 * kind send the same field. A memo begins as all zero and belongs to one
 * thread. */
struct coding_memo {
    size_t len; /* length of `text`; 0: no field was read yet */
    char text[CODING_MEMO_BYTES];
    struct coding_taste taste;
};

/* Does what coding_taste_read() does, but at less cost when the field is the
 * same as in the last call. */
bool coding_taste_recall(struct coding_memo *memo,
                         const struct request *request,
                         struct coding_taste *taste);

/* An order of codings. A client that likes several codings equally gets the one
 * that comes first in the order. */
struct coding_order {
    size_t count;
    enum coding codings[CODING_COUNT - 1]; /* never CODING_IDENTITY */
};

/* Chooses a coding of `order` whose bit (1 << coding) is in `available`: the
 * one with the highest weight, and of equal weights the first one in `order`.
 * CODING_IDENTITY is always available. When the client lists neither it nor
 * "*", it is acceptable but weighs less than any coding that is listed. When no
 * coding is acceptable, the result is CODING_IDENTITY all the same: RFC 9110
 * 12.5.3 lets a server disregard the field. */
enum coding coding_pick(const struct coding_taste *taste, unsigned available,
                        const struct coding_order *order);

/* Returns the bits of those codings in `available` that the client likes as
 * much as `coding`. */
unsigned coding_likes_as(const struct coding_taste *taste, unsigned available,
                         enum coding coding);

/* The order of siblings, the preferred coding first. */
extern const struct coding_order coding_order_of_siblings;

#endif
