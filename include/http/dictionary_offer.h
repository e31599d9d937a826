/*
 * dictionary_offer - reads which dictionary a client offers for an answer (RFC
 * 9842), and decides whether the answer may be made with a dictionary.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_DICTIONARY_OFFER_H
#define HTTP_DICTIONARY_OFFER_H

#include "http/request.h"

enum { DICTIONARY_HASH_BYTES = 32 };

/* Reads the SHA-256 in Available-Dictionary: a byte sequence (RFC 9651 3.3.5)
 * in its only form, padded and without parameters. Returns false when there is
 * no such field, or two, or one with anything else in it. */
MUST_USE bool dictionary_offer_read(const struct request *request,
                                    uint8_t hash_out[DICTIONARY_HASH_BYTES]);

/* Whether the page that asks may read the answer. For any other page no
 * dictionary is used, because the length of the answer tells something of the
 * dictionary (RFC 9842 9.3). The page may read the answer if the request is of
 * the same origin, or if the browser navigates there. A client that does not
 * say is no browser, and may read it, too. An answer that another origin may
 * read by CORS counts as not readable. */
bool dictionary_offer_is_readable(const struct request *request);

#endif
