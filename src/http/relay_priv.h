/*
 * relay_priv - what requests and replies have in common on their way on.
 */
#ifndef HTTP_RELAY_PRIV_H
#define HTTP_RELAY_PRIV_H

#include "http/relay.h"

/* The fields that Connection names, but for those that never go on. */
struct nominated {
    unsigned count;
    struct bytes names[RELAY_NOMINATED_MAX];
};

/* False: it names what is not for one connection (RFC 9110 7.6.1), or too
 * much, or nothing that is a name. */
MUST_USE bool relay_read_nominated(struct nominated *nominated,
                                   const struct field *fields, unsigned count);

bool relay_is_nominated(const struct nominated *nominated, struct bytes name);

/* Whether a field whose id is FIELD_OTHER says who asked: X-Forwarded-*. */
bool relay_tells_asker(struct bytes name);

/* Whether a field whose id is FIELD_OTHER is about the content, or about who
 * may have it: for everybody, and for no trailer. */
bool relay_is_for_all(struct bytes name);

bool relay_has_prefix(struct bytes name, struct bytes prefix);

void relay_put_via(const struct relay *relay, unsigned minor, struct buf *out);

#endif
