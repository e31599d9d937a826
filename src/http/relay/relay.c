#include "http/relay/relay.h"

#include "http/relay/relay_priv.h"

/* --- What both ways have in common --------------------------------------- */

enum reason relay_reason(enum relay_verdict verdict)
{
    switch (verdict) {
    case RELAY_BAD_CONNECTION:
        return REASON_CONNECTION_FIELD;
    case RELAY_BAD_TARGET:
        return REASON_PATH_UNCLEAR;
    case RELAY_BAD_COUNT:
        return REASON_MAX_FORWARDS;
    case RELAY_TOO_LARGE:
        return REASON_HEAD_TOO_LARGE;
    case RELAY_LOOP:
        return REASON_LOOP;
    case RELAY_BAD_SWITCH:
    case RELAY_DONE:
    case RELAY_LAST:
        break;
    }
    return REASON_NONE;
}

bool relay_has_prefix(struct bytes name, struct bytes prefix)
{
    return name.len >= prefix.len &&
           bytes_ieq((struct bytes){name.data, prefix.len}, prefix);
}

bool relay_tells_asker(struct bytes name)
{
    if (!relay_has_prefix(name, BYTES("X-")))
        return false;
    /* Some applications (Yii) take X-Rewrite-URL and the like for the target
     * when a proxy that they trust sends such a field. */
    return relay_has_prefix(name, BYTES("X-Forwarded")) ||
           bytes_ieq(name, BYTES("X-Rewrite-URL")) ||
           bytes_ieq(name, BYTES("X-Original-URL")) ||
           bytes_ieq(name, BYTES("X-Script-Name"));
}

bool relay_is_for_all(struct bytes name)
{
    return relay_tells_asker(name) ||
           relay_has_prefix(name, BYTES("Content-")) ||
           bytes_ieq(name, BYTES("Cookie")) ||
           bytes_ieq(name, BYTES("Set-Cookie")) ||
           bytes_ieq(name, BYTES("Cache-Control"));
}

/* Notes a name from Connection. Returns false when Connection must not name
 * that field. */
static bool nominate(struct nominated *nominated, struct bytes name)
{
    switch (field_identify(name)) {
    case FIELD_CONNECTION:
    case FIELD_HOP_BY_HOP:
    case FIELD_TE:
    case FIELD_TRAILER:
    case FIELD_UPGRADE:
        return true; /* such a field never goes on as it came */
    case FIELD_OTHER:
        break;
    default:
        return false;
    }
    if (name.len == 0 || bytes_ieq(name, BYTES("close")))
        return true;
    if (!head_is_token(name) || relay_is_for_all(name) ||
        nominated->count == RELAY_NOMINATED_MAX)
        return false;
    nominated->names[nominated->count++] = name;
    return true;
}

bool relay_read_nominated(struct nominated *nominated,
                          const struct field *fields, unsigned count)
{
    nominated->count = 0;
    for (const struct field *field = fields; field < fields + count; field++) {
        struct bytes list = field->value;
        struct bytes member;

        if (field->id != FIELD_CONNECTION)
            continue;
        while (field_next_member(&list, &member))
            if (!nominate(nominated, member))
                return false;
    }
    return true;
}

bool relay_is_among(const struct nominated *nominated, struct bytes name)
{
    for (unsigned i = 0; i < nominated->count; i++)
        if (bytes_ieq(nominated->names[i], name))
            return true;
    return false;
}

/* --- Runs of fields ------------------------------------------------------ */

/* Whether the head has the field as "name: value", with one blank and with a
 * value. */
static bool is_usual(const struct field *field)
{
    const char *colon = field->name.data + field->name.len;

    return field->value.len > 0 && field->value.data == colon + 2 &&
           colon[0] == ':' && colon[1] == ' ';
}

/* Whether `field` is the line right behind the run. */
static bool follows(const struct relay_run *run, const struct field *field)
{
    const char *end = run->text.data + run->text.len;

    return run->text.len > 0 && field->name.data == end + 2 && end[0] == '\r' &&
           end[1] == '\n';
}

void relay_run_put(struct relay_run *run, const struct field *field,
                   struct buf *out)
{
    const char *end = field->value.data + field->value.len;

    if (!is_usual(field)) {
        relay_run_end(run, out);
        head_field(out, field->name, field->value);
        return;
    }
    if (follows(run, field)) {
        run->text.len = (size_t)(end - run->text.data);
        return;
    }
    relay_run_end(run, out);
    run->text = bytes_between(field->name.data, end);
}

void relay_run_end(struct relay_run *run, struct buf *out)
{
    if (run->text.len == 0)
        return;
    buf_put(out, run->text);
    buf_put_literal(out, "\r\n");
    run->text.len = 0;
}

void relay_put_via(const struct relay *relay, unsigned minor, struct buf *out)
{
    buf_put(out, minor == 0               ? BYTES("Via: 1.0 ")
                 : minor == REQUEST_HTTP2 ? BYTES("Via: 2.0 ")
                                          : BYTES("Via: 1.1 "));
    buf_put(out, relay->pseudonym);
    buf_put_literal(out, "\r\n");
}
