/*
 * accept - how much a client likes a media type (RFC 9110 12.5.1).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_ACCEPT_H
#define HTTP_ACCEPT_H

#include "http/request.h"

enum accept_precision {
    ACCEPT_UNNAMED,
    ACCEPT_ANY,    /* matched by the range of all types */
    ACCEPT_FAMILY, /* matched by the range of all its subtypes */
    ACCEPT_ITSELF
};

struct accepted {
    enum accept_precision precision;
    unsigned weight; /* in thousandths; 0: not accepted, or not named */
};

/* What the value of one Accept says of type, "type/subtype". The most precise
 * range decides, whatever its parameters besides q; of two the one with the
 * higher weight. A malformed weight counts as 0. */
struct accepted accept_find_in(struct bytes value, struct bytes type);

/* Judges by all Accept fields of a request. */
struct accepted accept_find(const struct request *request, struct bytes type);

#endif
