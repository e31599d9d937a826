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

/* Whether whoever has asked may read the answer (RFC 9842 9.3), so that its
 * length, which depends on what is in the dictionary, tells nobody anything: it
 * is of the same origin, or goes there, or is no browser, which says nothing of
 * that. What other origins may read by CORS is not sent so, either. */
bool dictionary_offer_is_readable(const struct request *request);

#endif
