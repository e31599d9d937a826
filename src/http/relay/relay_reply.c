#include "http/relay/relay.h"

#include "http/relay/relay_priv.h"

/* Whether a field is an X-Request-Id that is left out, because this server
 * gives the request an id of its own. */
static bool is_own_id(const struct relay *relay, struct bytes name)
{
    return relay->request_id.len > 0 && bytes_ieq(name, BYTES(RELAY_ID_FIELD));
}

static inline bool goes_on(const struct relay *relay, const struct field *field,
                           const struct nominated *nominated,
                           bool sends_trailer)
{
    static const uint32_t stay = 1u << FIELD_CONNECTION |
                                 1u << FIELD_CONTENT_LENGTH |
                                 1u << FIELD_HOP_BY_HOP | 1u << FIELD_TE |
                                 1u << FIELD_TRANSFER_ENCODING |
                                 1u << FIELD_UPGRADE;

    if (field->id == FIELD_OTHER)
        return !relay_is_nominated(nominated, field->name) &&
               !is_own_id(relay, field->name);
    if (field->id == FIELD_TRAILER)
        return sends_trailer;
    return !(stay & (1u << field->id));
}

/* Appends a field, with the client's name for a path that it names. */
static inline void put_field(const struct relay *relay,
                             const struct request *request,
                             const struct field *field, struct relay_run *run,
                             struct buf *out)
{
    if (!relay_names_place(relay, field)) {
        relay_run_put(run, field, out);
        return;
    }
    relay_run_end(run, out);
    relay_put_place(relay, request, field, out);
}

/* Reads Connection, if the reply has it; most replies do not. */
static bool read_nominated(struct nominated *nominated,
                           const struct reply *reply)
{
    nominated->count = 0;
    return !(reply->seen & (1u << FIELD_CONNECTION)) ||
           relay_read_nominated(nominated, reply->fields, reply->field_count);
}

/* Puts the end-to-end fields, and Via. */
static bool put_fields(const struct relay *relay, const struct request *request,
                       const struct reply *reply, bool sends_trailer,
                       struct buf *out)
{
    const struct field *end = reply->fields + reply->field_count;
    struct relay_run run = {.text.len = 0};
    struct nominated nominated;

    if (!read_nominated(&nominated, reply))
        return false;
    for (const struct field *field = reply->fields; field < end; field++)
        if (goes_on(relay, field, &nominated, sends_trailer))
            put_field(relay, request, field, &run, out);
    relay_run_end(&run, out);
    relay_put_via(relay, reply->minor, out);
    return true;
}

enum relay_verdict relay_interim(const struct relay *relay,
                                 const struct request *request,
                                 const struct reply *reply, struct buf *out)
{
    bool switches = reply->status == 101;

    if (switches && (!relay_upgrades(relay, request) ||
                     !bytes_ieq(reply->upgrade, relay->upgrade)))
        return RELAY_BAD_SWITCH;
    if (!put_fields(relay, request, reply, false, out))
        return RELAY_BAD_CONNECTION;
    if (switches) {
        if (relay->request_id.len > 0) /* no other head follows a 101 */
            head_field(out, BYTES(RELAY_ID_FIELD), relay->request_id);
        head_field(out, BYTES("Upgrade"), relay->upgrade);
    }
    return out->failed ? RELAY_TOO_LARGE : RELAY_DONE;
}

enum relay_verdict relay_reply(const struct relay *relay,
                               const struct request *request,
                               const struct reply *reply, struct buf *head)
{
    enum body_framing framing = reply_framing(reply, request->method);

    if (!put_fields(relay, request, reply,
                    framing == BODY_CHUNKED && relay_takes_trailers(request),
                    head))
        return RELAY_BAD_CONNECTION;
    if (framing == BODY_NONE && reply->has_length && reply->status != 204)
        head_number(head, BYTES("Content-Length"), reply->content_length);
    return head->failed ? RELAY_TOO_LARGE : RELAY_DONE;
}

/* --- Errors that get another body ---------------------------------------- */

static bool outlives_body(struct bytes name)
{
    static const struct bytes gone[] = {
        {"Accept-Ranges", 13}, {"Date", 4},    {"Digest", 6},
        {"ETag", 4},           {"Expires", 7}, {"Last-Modified", 13},
        {"Repr-Digest", 11},   {"Server", 6},  {"X-Content-Type-Options", 22},
    };

    for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++)
        if (bytes_ieq(name, gone[i]))
            return false;
    return !relay_has_prefix(name, BYTES("Content-"));
}

enum relay_verdict relay_error(const struct relay *relay,
                               const struct request *request,
                               const struct reply *reply, struct buf *fields)
{
    const struct field *end = reply->fields + reply->field_count;
    struct relay_run run = {.text.len = 0};
    struct nominated nominated;

    if (!read_nominated(&nominated, reply))
        return RELAY_BAD_CONNECTION;
    for (const struct field *field = reply->fields; field < end; field++)
        if (goes_on(relay, field, &nominated, false) &&
            outlives_body(field->name))
            put_field(relay, request, field, &run, fields);
    relay_run_end(&run, fields);
    relay_put_via(relay, reply->minor, fields);
    return fields->failed ? RELAY_TOO_LARGE : RELAY_DONE;
}

/* --- Trailers ------------------------------------------------------------ */

/* Whether a field may stand in a trailer (RFC 9110 6.5.1). A field with an id
 * other than FIELD_OTHER means something to a server, and may not stand
 * there. */
static bool may_trail(struct bytes name)
{
    static const struct bytes never[] = {
        {"Age", 3},     {"Expires", 7},           {"Location", 8},
        {"Pragma", 6},  {"Retry-After", 11},      {"Vary", 4},
        {"Warning", 7}, {"WWW-Authenticate", 16}, {"Authentication-Info", 19},
    };

    if (field_identify(name) != FIELD_OTHER || relay_is_for_all(name) ||
        relay_has_prefix(name, BYTES("Proxy-")) ||
        relay_has_prefix(name, BYTES("Sec-")))
        return false;
    for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
        if (bytes_ieq(name, never[i]))
            return false;
    return true;
}

void relay_trailer(struct bytes lines, struct buf *out)
{
    while (lines.len > 0) {
        const char *feed = memchr(lines.data, '\n', lines.len);
        const char *colon = memchr(lines.data, ':', lines.len);
        struct bytes line;

        if (!feed || !colon)
            return;
        line = bytes_between(lines.data, feed + 1);
        if (may_trail(bytes_between(lines.data, colon)))
            buf_put(out, line);
        lines.data += line.len;
        lines.len -= line.len;
    }
}
