/*
 * relay_priv - what requests and replies have in common on their way on.
 */
#ifndef HTTP_RELAY_RELAY_PRIV_H
#define HTTP_RELAY_RELAY_PRIV_H

#include "http/relay/relay.h"

#define RELAY_ID_FIELD "X-Request-Id"

/* The fields that Connection names, but for those that never go on. */
struct nominated {
    unsigned count;
    struct bytes names[RELAY_NOMINATED_MAX];
};

/* False: it names what is not for one connection (RFC 9110 7.6.1), or too
 * much, or nothing that is a name. */
MUST_USE bool relay_read_nominated(struct nominated *nominated,
                                   const struct field *fields, unsigned count);

bool relay_is_among(const struct nominated *nominated, struct bytes name);

/* Asks relay_is_among() only where there are names; mostly there are none. */
static inline bool relay_is_nominated(const struct nominated *nominated,
                                      struct bytes name)
{
    return nominated->count > 0 && relay_is_among(nominated, name);
}

/* Whether a field whose id is FIELD_OTHER says who asked: X-Forwarded-*. */
bool relay_tells_asker(struct bytes name);

/* Whether a field whose id is FIELD_OTHER is about the content, or about who
 * may have it: for everybody, and for no trailer. */
bool relay_is_for_all(struct bytes name);

bool relay_has_prefix(struct bytes name, struct bytes prefix);

/*
 * Fields that stand behind one another in the head they came in, and are
 * written there as they would be here, are copied as one text: most heads are
 * a few such runs.
 */
struct relay_run {
    struct bytes text; /* without the last line's end; empty: there is none */
};

/* Appends a field as it came, now or with those behind it. */
void relay_run_put(struct relay_run *run, const struct field *field,
                   struct buf *out);

/* Appends what has not been appended yet: before anything else is, and at the
 * end. */
void relay_run_end(struct relay_run *run, struct buf *out);

void relay_put_via(const struct relay *relay, unsigned minor, struct buf *out);

/* --- relay_names.c ------------------------------------------------------- */

/* Whether a field of a reply names a place, which relay->renames has named
 * otherwise. */
bool relay_names_place(const struct relay *relay, const struct field *field);

/* Appends such a field; a place of the upstream's by the name that the client
 * has for it. */
void relay_put_place(const struct relay *relay, const struct request *request,
                     const struct field *field, struct buf *out);

/* --- relay_asker.c: what requests are told of who has asked -------------- */

/* Whether what the peer says in that way is believed. */
bool relay_believes(const struct relay *relay, const struct relay_from *from,
                    enum forwarded_field way);

/* Whether a field whose id is FIELD_OTHER is one that relay_put_asker() says,
 * so that the client's does not go on. */
bool relay_says(const struct relay *relay, struct bytes name);

void relay_put_asker(const struct relay *relay, const struct request *request,
                     const struct relay_from *from, struct buf *out);

#endif
