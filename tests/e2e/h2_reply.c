#include "h2_reply.h"

#include <ctype.h>

#include "harness.h"

/* --- One block ----------------------------------------------------------- */

static void check_field(const struct h2_reply *reply,
                        const struct h2_field *field)
{
    static const char *const of_connections[] = {"connection", "keep-alive",
                                                 "proxy-connection",
                                                 "transfer-encoding",
                                                 "upgrade"};

    for (const char *at = field->name; *at; at++)
        if (isupper((unsigned char)*at) || *at <= ' ' ||
            (*at == ':' && at > field->name) || *at == 0x7f)
            flunk("stream %u: a field's name is '%s'", reply->stream,
                  field->name);
    for (size_t i = 0; i < sizeof(of_connections) / sizeof(char *); i++)
        if (strcmp(field->name, of_connections[i]) == 0)
            flunk("stream %u: '%s: %s'", reply->stream, field->name,
                  field->value);
    if (strpbrk(field->value, "\r\n"))
        flunk("stream %u: '%s' has more than one line", reply->stream,
              field->name);
}

static void check_fields(const struct h2_reply *reply,
                         const struct h2_fields *fields, size_t first)
{
    for (size_t i = first; i < fields->count; i++) {
        if (fields->list[i].name[0] == ':' || fields->list[i].name[0] == '\0')
            flunk("stream %u: '%s' is out of place", reply->stream,
                  fields->list[i].name);
        check_field(reply, &fields->list[i]);
    }
}

static unsigned status_of(const struct h2_reply *reply,
                          const struct h2_fields *fields)
{
    const char *text = fields->count > 0 ? fields->list[0].value : "";

    if (fields->count == 0 || strcmp(fields->list[0].name, ":status") != 0 ||
        strlen(text) != 3 || strspn(text, "0123456789") != 3)
        flunk("stream %u: no :status first", reply->stream);
    return (unsigned)strtoul(text, NULL, 10);
}

const char *h2_field(const struct h2_fields *fields, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->list[i].name, name) == 0) {
            if (value)
                flunk("'%s' comes twice", name);
            value = fields->list[i].value;
        }
    return value;
}

/* --- The whole ----------------------------------------------------------- */

static void end(struct h2_reply *reply)
{
    const char *length = h2_field(&reply->fields, "content-length");
    bool has_no_body = reply->to_head || reply->status == 304 ||
                       reply->status == 204;

    reply->has_ended = true;
    if (has_no_body && reply->body_len > 0)
        flunk("stream %u: a body of %zu bytes where none may be", reply->stream,
              reply->body_len);
    if (!has_no_body && length && strtoull(length, NULL, 10) != reply->body_len)
        flunk("stream %u: %zu bytes, but content-length: %s", reply->stream,
              reply->body_len, length);
}

static void expect_open(const struct h2_reply *reply)
{
    if (reply->has_ended || reply->is_reset)
        flunk("stream %u: something behind its end", reply->stream);
}

void h2_reply_fields(struct h2_reply *reply, const struct h2_fields *fields,
                     bool ends)
{
    expect_open(reply);
    if (reply->status == 0) {
        unsigned status = status_of(reply, fields);

        check_fields(reply, fields, 1);
        if (status == 101 || (status < 200 && ends))
            flunk("stream %u: status %u", reply->stream, status);
        if (status >= 200) {
            reply->status = status;
            reply->fields = *fields;
        } else if (reply->early_count < H2_EARLY_MAX) {
            reply->early[reply->early_count++] = status;
            reply->early_fields = *fields;
        }
    } else {
        if (!ends)
            flunk("stream %u: trailers that do not end it", reply->stream);
        check_fields(reply, fields, 0);
        reply->trailers = *fields;
    }
    if (ends)
        end(reply);
}

static void keep(struct h2_reply *reply, const uint8_t *data, size_t len)
{
    if (reply->body_len + len + 1 > reply->cap) {
        char *larger;

        reply->cap = 2 * (reply->body_len + len + 1);
        larger = scratch(reply->cap);
        if (reply->body_len > 0)
            memcpy(larger, reply->body, reply->body_len);
        reply->body = larger;
    }
    memcpy(reply->body + reply->body_len, data, len);
    reply->body[reply->body_len + len] = '\0';
}

void h2_reply_data(struct h2_reply *reply, const uint8_t *data, size_t len,
                   bool ends)
{
    expect_open(reply);
    if (reply->status == 0)
        flunk("stream %u: DATA before HEADERS", reply->stream);
    if (!reply->is_unkept)
        keep(reply, data, len);
    reply->body_len += len;
    if (ends)
        end(reply);
}

/* --- Expectations -------------------------------------------------------- */

void check_h2_status(const struct h2_reply *reply, unsigned wanted,
                     const char *file, int line)
{
    if (reply->is_reset)
        flunk("%s:%d: stream %u was reset (%u), not answered %u", file, line,
              reply->stream, reply->code, wanted);
    if (reply->status != wanted)
        flunk("%s:%d: stream %u was answered %u, not %u", file, line,
              reply->stream, reply->status, wanted);
}

void check_h2_body(const struct h2_reply *reply, const char *wanted,
                   const char *file, int line)
{
    const char *body = reply->body ? reply->body : "";

    if (!reply->has_ended)
        flunk("%s:%d: stream %u has not ended", file, line, reply->stream);
    if (reply->body_len != strlen(wanted) ||
        memcmp(body, wanted, reply->body_len) != 0)
        flunk("%s:%d: the body is '%.500s', not '%s'", file, line, body,
              wanted);
}

void check_h2_seeded(const struct h2_reply *reply, uint64_t seed,
                     uint64_t offset, size_t len, const char *file, int line)
{
    if (!reply->has_ended || reply->body_len != len)
        flunk("%s:%d: stream %u has %zu bytes%s, not %zu", file, line,
              reply->stream, reply->body_len,
              reply->has_ended ? "" : " and no end", len);
    if (!seeded_is(seed, offset, reply->body, len))
        flunk("%s:%d: the body is not what it should be", file, line);
}

void check_h2_field(const struct h2_reply *reply, const char *name,
                    const char *wanted, const char *file, int line)
{
    const char *value = h2_field(&reply->fields, name);

    if (!value || strcmp(value, wanted) != 0)
        flunk("%s:%d: '%s' is '%s', not '%s'", file, line, name,
              value ? value : "(none)", wanted);
}
