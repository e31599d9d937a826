#include "http/reply.h"

#include "http/head_edit.h"
#include "http/http1/http1_priv.h"

enum {
    STATUS_AT = 9, /* where the status stands in "HTTP/1.1 200 OK" */
    REASON_AT = 13 /* where its reason phrase stands */
};

static const char length_is_unclear[] = "has a Content-Length that is unclear";

/* Checks version SP status [ SP [ phrase ] ], RFC 9112 4. The second SP is
 * required, but some servers leave it out when there is no phrase, and nobody
 * can mistake that. A status outside of 100 to 599 is REASON_REPLY_STATUS. */
static enum reason check_status_line(struct bytes line)
{
    const char *end = line.data + line.len;
    const char *status = line.data + STATUS_AT;
    enum reason fault;

    if (line.len < STATUS_AT || status[-1] != ' ')
        return REASON_REQUEST_LINE;
    fault = http1_check_version(bytes_between(line.data, status - 1));
    if (fault != REASON_NONE)
        return fault;
    if (end - status < 3 || !byte_is_digit(status[0]) ||
        !byte_is_digit(status[1]) || !byte_is_digit(status[2]) ||
        *status < '1' || *status > '5')
        return REASON_REPLY_STATUS;
    if (line.len >= REASON_AT &&
        (line.data[REASON_AT - 1] != ' ' ||
         !http1_is_value(bytes_between(line.data + REASON_AT, end))))
        return REASON_REQUEST_LINE;
    return REASON_NONE;
}

static const struct http1_rules reply_rules = {
    .check_first = check_status_line,
    .head_bytes_max = REPLY_HEAD_BYTES_MAX,
    .first_bytes_max = REPLY_HEAD_BYTES_MAX,
};

static const char *fault_of(enum reason reason, bool is_first)
{
    switch ((int)reason) {
    case REASON_HEAD_TOO_LARGE:
    case REASON_TOO_MANY_FIELDS:
    case REASON_TARGET_TOO_LONG:
        return "has a head that is too large";
    case REASON_REPLY_STATUS:
        return "has a status that is none";
    case REASON_VERSION:
        return "is not in HTTP/1.x";
    default:
        return is_first ? "does not begin with a status line"
                        : "has a malformed field line";
    }
}

/* --- What the fields say together ---------------------------------------- */

const struct field *reply_find(const struct reply *reply, enum field_id id)
{
    if (reply->seen & (1u << id))
        for (unsigned i = 0; i < reply->field_count; i++)
            if (reply->fields[i].id == id)
                return &reply->fields[i];
    return NULL;
}

/* Finds the value of a field that may come only once; its data is NULL when the
 * field did not come. Returns false when the field came twice. */
static bool find_single(const struct reply *reply, enum field_id id,
                        struct bytes *value_out)
{
    *value_out = (struct bytes){NULL, 0};
    if (!(reply->seen & (1u << id)))
        return true;
    for (unsigned i = 0; i < reply->field_count; i++) {
        if (reply->fields[i].id != id)
            continue;
        if (value_out->data)
            return false;
        *value_out = reply->fields[i].value;
    }
    return true;
}

/* Reads Connection (RFC 9112 9.3). Whether it names Upgrade matters for a 101
 * only (RFC 9110 7.8). */
static const char *read_connection(struct reply *reply)
{
    bool closes = false;
    bool keeps = reply->minor == 1;
    bool upgrades = false;
    struct bytes list, member;

    for (unsigned i = 0;
         reply->seen & (1u << FIELD_CONNECTION) && i < reply->field_count;
         i++) {
        if (reply->fields[i].id != FIELD_CONNECTION)
            continue;
        list = reply->fields[i].value;
        while (field_next_member(&list, &member)) {
            closes |= bytes_ieq(member, BYTES("close"));
            keeps |= bytes_ieq(member, BYTES("keep-alive"));
            upgrades |= bytes_ieq(member, BYTES("upgrade"));
        }
    }
    reply->persists = keeps && !closes;
    if (!find_single(reply, FIELD_UPGRADE, &reply->upgrade) || !upgrades)
        reply->upgrade = (struct bytes){NULL, 0};
    return reply->status == 101 && reply->upgrade.len == 0
               ? "switches protocols without one Upgrade"
               : NULL;
}

/* Whether a Transfer-Encoding is a made-up name, which nobody can take for
 * chunked. We have asked for no coding (RFC 9110 10.1.4), so the body has none.
 * Without chunks, a body that has a Transfer-Encoding ends with the connection
 * (RFC 9112 6.3). */
static bool is_made_up(struct bytes coding)
{
    static const struct bytes names[] = {{"identity", 8}, {"gzip", 4},
                                         {"x-gzip", 6},   {"deflate", 7},
                                         {"compress", 8}, {"x-compress", 10},
                                         {"br", 2},       {"zstd", 4}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_ieq(coding, names[i]))
            return false;
    for (size_t i = 0; i + 5 <= coding.len; i++)
        if (bytes_are_ieq(coding.data + i, "chunk", 5))
            return false;
    return head_is_token(coding);
}

/* Reads how the body is framed (RFC 9112 6.1 to 6.3): any doubt is an error. A
 * reply without a body may have no framing (RFC 9110 8.6, RFC 9112 6.1), but
 * "Content-Length: 0" harms nobody there. */
static const char *read_framing(struct reply *reply)
{
    bool is_bare = reply->status < 200 || reply->status == 204;
    struct bytes length, coding;
    bool is_coded;

    if (!find_single(reply, FIELD_TRANSFER_ENCODING, &coding))
        return "has several Transfer-Encoding fields";
    reply->has_length = reply->seen & (1u << FIELD_CONTENT_LENGTH);
    is_coded = coding.data;
    reply->is_chunked = is_coded && bytes_ieq(coding, BYTES("chunked"));
    reply->content_length = 0;
    if (reply->has_length &&
        (is_coded || !find_single(reply, FIELD_CONTENT_LENGTH, &length) ||
         !http1_read_length(length, &reply->content_length)))
        return length_is_unclear;
    if (is_coded && !reply->is_chunked && !is_made_up(coding))
        return "has a Transfer-Encoding other than chunked";
    if (is_coded && reply->minor == 0)
        return "has a Transfer-Encoding in HTTP/1.0";
    if (is_bare && (is_coded || reply->content_length > 0))
        return "has a length where no body may follow";
    if (reply->status < 200 && reply->minor == 0)
        return "has a 1xx status in HTTP/1.0"; /* RFC 9110 15.2 */
    return NULL;
}

static const char *take_apart(struct reply *reply, struct bytes head)
{
    const char *end = memchr(head.data, '\r', head.len);
    struct bytes line = bytes_between(head.data, end);
    const char *fault;

    if (!http1_take_reply(reply, head))
        return length_is_unclear; /* http-parser found a fault in the length */
    reply->reason = line.len > REASON_AT
                        ? bytes_between(line.data + REASON_AT, end)
                        : BYTES("");
    fault = read_framing(reply);
    if (!fault)
        fault = read_connection(reply);
    if (reply->seen & (1u << FIELD_TRANSFER_ENCODING) && !reply->is_chunked)
        reply->persists = false; /* the connection ends with the body */
    return fault;
}

enum http1_verdict http1_parse_reply(struct http1_progress *progress,
                                     const char *data, size_t len,
                                     struct reply *reply, size_t *used_out,
                                     const char **fault_out)
{
    enum reason reason = REASON_NONE;
    enum http1_verdict verdict = http1_find_end(&reply_rules, progress, data,
                                                len, used_out, &reason);
    /* Whether the fault is in the first line. If that line is complete, it has
     * been counted already. */
    bool is_first = progress->lines == 0 ||
                    (progress->lines == 1 && progress->line == 0);

    if (verdict == HTTP1_MORE)
        return HTTP1_MORE;
    *progress = (struct http1_progress){0};
    if (verdict == HTTP1_BAD) {
        *fault_out = fault_of(reason, is_first);
        return HTTP1_BAD;
    }
    *fault_out = take_apart(reply, (struct bytes){data, *used_out});
    return *fault_out ? HTTP1_BAD : HTTP1_DONE;
}

enum body_framing reply_framing(const struct reply *reply, enum method asked)
{
    if (reply->status == 101 ||
        (asked == METHOD_CONNECT && reply->status / 100 == 2))
        return BODY_TUNNEL;
    if (asked == METHOD_HEAD || reply->status < 200 || reply->status == 204 ||
        reply->status == 304)
        return BODY_NONE;
    if (reply->is_chunked)
        return BODY_CHUNKED;
    return reply->has_length ? BODY_LENGTH : BODY_UNTIL_CLOSE;
}
