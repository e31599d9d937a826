/*
 * dictionary_offer - what a client says of the dictionary it has for an answer
 * (RFC 9842), and whether it may be sent one that needs it.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_DICTIONARY_OFFER_H
#define HTTP_DICTIONARY_OFFER_H

#include "http/request.h"

enum { DICTIONARY_HASH_BYTES = 32 };

/* The SHA-256 in Available-Dictionary, a byte sequence (RFC 9651 3.3.5) in its
 * only form: padded, without parameters. False: there is no such field, or two,
 * or something else is in it. */
MUST_USE bool dictionary_offer_read(const struct request *request,
                                    uint8_t hash_out[DICTIONARY_HASH_BYTES]);

/* Whether the page that asks may read the answer (RFC 9842 9.3), whose length
 * tells something of the dictionary: the request is of the same origin, or the
 * browser goes there, or the client is no browser and does not say. An answer
 * that another origin may read by CORS counts as not readable, too. */
bool dictionary_offer_is_readable(const struct request *request);

#endif
