/*
 * relay_priv - what requests and replies have in common when they are relayed.
 */
#ifndef HTTP_RELAY_RELAY_PRIV_H
#define HTTP_RELAY_RELAY_PRIV_H

#include "http/relay/relay.h"

#define RELAY_ID_FIELD "X-Request-Id"

/* The fields that Connection names. Fields that are never relayed are left
 * out. */
struct nominated {
    unsigned count;
    struct bytes names[RELAY_NOMINATED_MAX];
};

/* Reads the Connection field. Returns false when it names too many fields, or
 * an end-to-end field such as Cache-Control (RFC 9110 7.6.1), or contains
 * something that is no field name. */
MUST_USE bool relay_read_nominated(struct nominated *nominated,
                                   const struct field *fields, unsigned count);

bool relay_is_among(const struct nominated *nominated, struct bytes name);

/* Does what relay_is_among() does, but without a call when there are no names,
 * as usual. */
static inline bool relay_is_nominated(const struct nominated *nominated,
                                      struct bytes name)
{
    return nominated->count > 0 && relay_is_among(nominated, name);
}

/* Whether a field whose id is FIELD_OTHER says who asked: X-Forwarded-*. */
bool relay_tells_asker(struct bytes name);

/* Whether a field whose id is FIELD_OTHER is about the content, or about who
 * may have the content. Such a field is for all recipients, and has no place in
 * a trailer. */
bool relay_is_for_all(struct bytes name);

bool relay_has_prefix(struct bytes name, struct bytes prefix);

/*
 * A run of fields that are copied as one text. They stand side by side in the
 * head that came, and each is written there just as a relay would write it.
 * Most heads consist of a few such runs.
 */
struct relay_run {
    struct bytes text; /* the fields without the last CRLF; or empty */
};

/* Appends a field as it came. A field that may be part of a run is appended
 * later, when the run has ended. */
void relay_run_put(struct relay_run *run, const struct field *field,
                   struct buf *out);

/* Appends the run that has not been appended yet. To be called before anything
 * else is appended, and behind the last field. */
void relay_run_end(struct relay_run *run, struct buf *out);

void relay_put_via(const struct relay *relay, unsigned minor, struct buf *out);

/* --- relay_names.c ------------------------------------------------------- */

/* Whether a reply's field names a path that is to be renamed for the client
 * (relay->renames). */
bool relay_names_place(const struct relay *relay, const struct field *field);

/* Appends a field for which relay_names_place() is true, with the client's name
 * for the upstream's path. */
void relay_put_place(const struct relay *relay, const struct request *request,
                     const struct field *field, struct buf *out);

/* --- relay_asker.c: what requests are told of who has asked -------------- */

/* Whether the peer is believed when it names clients in the field `way`. */
bool relay_believes(const struct relay *relay, const struct relay_from *from,
                    enum forwarded_field way);

/* Whether relay_put_asker() writes a field of that name. Then the client's own
 * field must not go on. The field's id is FIELD_OTHER. */
bool relay_says(const struct relay *relay, struct bytes name);

void relay_put_asker(const struct relay *relay, const struct request *request,
                     const struct relay_from *from, struct buf *out);

#endif
