/*
 * relay_checks - what must hold for the fields of a message that was made anew.
 *
 * Part of fuzz_relay and fuzz_reply.
 */
#ifndef FUZZ_RELAY_CHECKS_H
#define FUZZ_RELAY_CHECKS_H

#include "http/relay/relay.h"

#include "head_checks.h"

struct fields {
    const struct field *list;
    unsigned count;
};

/* Whether Connection names it, by plain search. */
static inline bool is_named(struct fields fields, struct bytes name)
{
    for (unsigned i = 0; i < fields.count; i++) {
        struct bytes value = fields.list[i].value;

        if (fields.list[i].id != FIELD_CONNECTION)
            continue;
        for (size_t at = 0, end; at <= value.len; at = end + 1) {
            for (end = at; end < value.len && value.data[end] != ',';)
                end++;
            if (bytes_ieq(bytes_trim((struct bytes){value.data + at, end - at}),
                          name))
                return true;
        }
    }
    return false;
}

/* Nothing there is about one connection but what we say of ours, and what is
 * there was there before, in that order, unless we say it. */
static inline void check_relayed(struct fields before, struct fields after,
                                 uint32_t ours)
{
    unsigned at = 0;

    for (unsigned i = 0; i < after.count; i++) {
        const struct field *field = &after.list[i];

        CHECK(field->id != FIELD_HOP_BY_HOP);
        if (ours & (1u << field->id))
            continue;
        CHECK(field->id != FIELD_CONNECTION && field->id != FIELD_UPGRADE);
        CHECK(field->id != FIELD_TE && field->id != FIELD_TRAILER);
        CHECK(field->id != FIELD_TRANSFER_ENCODING);
        CHECK(!is_named(before, field->name));
        while (at < before.count &&
               !(bytes_eq(before.list[at].name, field->name) &&
                 bytes_eq(before.list[at].value, field->value)))
            at++;
        CHECK(at++ < before.count);
    }
}

/* How many fields there are that mean nothing to us and are for all. */
static inline unsigned count_others(struct fields fields)
{
    unsigned count = 0;

    for (unsigned i = 0; i < fields.count; i++)
        count += fields.list[i].id == FIELD_OTHER &&
                 !memchr(fields.list[i].name.data, '_',
                         fields.list[i].name.len) &&
                 !(fields.list[i].name.len >= 11 &&
                   bytes_ieq((struct bytes){fields.list[i].name.data, 11},
                             BYTES("X-Forwarded"))) &&
                 !is_named(fields, fields.list[i].name);
    return count;
}

#endif
