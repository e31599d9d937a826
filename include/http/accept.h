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
    ACCEPT_FAMILY, /* matched by the range of all subtypes, as "text/..." */
    ACCEPT_ITSELF
};

struct accepted {
    enum accept_precision precision;
    unsigned weight; /* in thousandths; 0: refused, or not named */
};

/* Finds what the value of one Accept field says of `type`, which has the form
 * "type/subtype". The most precise range decides, whatever parameters it has
 * besides q; of two equally precise ranges the one with the higher weight
 * decides. A malformed weight counts as 0. */
struct accepted accept_find_in(struct bytes value, struct bytes type);

/* Finds what all Accept fields of a request together say of `type`. */
struct accepted accept_find(const struct request *request, struct bytes type);

#endif
