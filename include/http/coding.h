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

/* The codings in rising order: of siblings that a client likes the same, the
 * last is sent. */
enum coding {
    CODING_IDENTITY,
    CODING_GZIP,
    CODING_ZSTD,
    CODING_BR,
    CODING_COUNT,
    /* Coded with a dictionary that the client has (RFC 9842): never picked with
     * the others, and the coding of no sibling. */
    CODING_DCZ = CODING_COUNT
};

/* The coding's token in Content-Encoding ("gzip"), and the suffix of a
 * precompressed sibling (".gz"); both empty for CODING_IDENTITY, the suffix for
 * CODING_DCZ. */
struct bytes coding_token(enum coding coding);
struct bytes coding_suffix(enum coding coding);

/* How much a client likes each coding: thousandths, at most 1000; 0: not at
 * all, below 0: it has not said. */
struct coding_taste {
    int weights[CODING_DCZ + 1];
};

/* Reads what the client says in Accept-Encoding. "x-gzip" means gzip; a member
 * with a malformed weight counts as q=0; of two members for one coding the
 * later counts. False: there is no such field, and nothing is to be coded. */
bool coding_taste_read(struct coding_taste *taste,
                       const struct request *request);

enum { CODING_MEMO_BYTES = 64 };

/* What coding_taste_read() last found, as clients of one kind say the same.
 * Begins as all zero; one thread's. */
struct coding_memo {
    size_t len; /* length of the field; 0: none was read */
    char text[CODING_MEMO_BYTES];
    struct coding_taste taste;
};

/* Does what coding_taste_read() does, at less cost when the fields are those
 * that were read last. */
bool coding_taste_recall(struct coding_memo *memo,
                         const struct request *request,
                         struct coding_taste *taste);

/* An order of codings: of several that a client likes the same it gets the
 * first. */
struct coding_order {
    size_t count;
    enum coding codings[CODING_COUNT - 1]; /* without CODING_IDENTITY */
};

/* Chooses among the codings whose bit (1 << coding) is in available, and which
 * are in order, the one with the highest weight; at equal weight the first of
 * order. CODING_IDENTITY is always available; without its own member or "*" it
 * is acceptable but weighs less than any coding that is listed. When nothing is
 * acceptable the answer is CODING_IDENTITY all the same: RFC 9110 12.5.3 lets a
 * server disregard the field. */
enum coding coding_pick(const struct coding_taste *taste, unsigned available,
                        const struct coding_order *order);

/* Bits of the available codings that the client likes as much as coding. */
unsigned coding_likes_as(const struct coding_taste *taste, unsigned available,
                         enum coding coding);

/* The order for siblings, preferred first. */
extern const struct coding_order coding_order_of_siblings;

#endif
