#include "http/http2/http2_request.h"

#include "http/http1/http1_priv.h"
#include "http/http2/http2_priv.h"

struct text_front {
    uint16_t line_len;
    uint16_t method_len;
    uint16_t field_count;
    uint16_t is_https; /* ":scheme" is https */
};

_Static_assert(HTTP2_LIST_BYTES_MAX + 1024 <= UINT16_MAX, "lengths have room");

/* --- Storing ------------------------------------------------------------- */

/* Returns the request's target, which for a CONNECT is the authority. */
static struct bytes target_of(const struct http2_head *head)
{
    return head->path.data ? head->path : head->authority;
}

/* Cuts the text of a refused request to the length that the log keeps. */
static struct bytes cut(struct bytes text)
{
    if (text.len > HTTP1_LINE_BYTES_MAX)
        text.len = HTTP1_LINE_BYTES_MAX;
    return text;
}

static size_t host_bytes(const struct http2_head *head)
{
    return head->authority.data
               ? sizeof(struct record_front) + 4 + head->authority.len
               : 0;
}

static size_t line_bytes(const struct http2_head *head)
{
    return cut(head->method).len + 1 + cut(target_of(head)).len +
           sizeof(HTTP2_VERSION) - 1;
}

size_t http2_text_bytes(const struct http2_head *head)
{
    return sizeof(struct text_front) + line_bytes(head) + host_bytes(head) +
           http2_head_records(head).len;
}

static char *copy(char *to, struct bytes text)
{
    if (text.data)
        memcpy(to, text.data, text.len);
    return to + text.len;
}

void http2_text_store(const struct http2_head *head, char *to)
{
    struct text_front front = {
        .line_len = (uint16_t)line_bytes(head),
        .method_len = (uint16_t)cut(head->method).len,
        .field_count = (uint16_t)(head->field_count +
                                  (head->authority.data ? 1 : 0)),
        .is_https = http2_head_is_https(head)};
    struct record_front host = {4, (uint16_t)head->authority.len};

    to = copy(to, (struct bytes){(const char *)&front, sizeof(front)});
    to = copy(to, cut(head->method));
    to = copy(to, BYTES(" "));
    to = copy(to, cut(target_of(head)));
    to = copy(to, BYTES(HTTP2_VERSION));
    if (head->authority.data) {
        to = copy(to, (struct bytes){(const char *)&host, sizeof(host)});
        to = copy(to, BYTES("host"));
        to = copy(to, head->authority);
    }
    (void)copy(to, http2_head_records(head));
}

/* --- A request ----------------------------------------------------------- */

unsigned http2_text_fields(const char *text)
{
    struct text_front front;

    memcpy(&front, text, sizeof(front));
    return front.field_count;
}

static const char *read_field(struct request *request, const char *at)
{
    struct field *field = &request->fields[request->field_count];
    struct record_front front;

    memcpy(&front, at, sizeof(front));
    at += sizeof(front);
    field->name = (struct bytes){at, front.name_len};
    field->value = (struct bytes){at + front.name_len, front.value_len};
    field->id = field_identify(field->name);
    if (!(request->seen & (1u << field->id))) {
        request->seen |= 1u << field->id;
        request->first[field->id] = request->field_count;
    }
    request->field_count++;
    return field->value.data + front.value_len;
}

void http2_request_read_fields(struct request *request, const char *text)
{
    struct text_front front;
    const char *at;

    memcpy(&front, text, sizeof(front));
    request->seen = 0;
    request->field_count = 0;
    at = text + sizeof(front) + front.line_len;
    for (unsigned i = 0; i < front.field_count; i++)
        at = read_field(request, at);
}

enum reason http2_request_read(struct request *request, const char *text)
{
    struct text_front front;
    const char *line = text + sizeof(front);
    enum reason reason;

    memcpy(&front, text, sizeof(front));
    request->line = (struct bytes){line, front.line_len};
    request->method_name = (struct bytes){line, front.method_len};
    request->target = bytes_between(line + front.method_len + 1,
                                    line + front.line_len -
                                        (sizeof(HTTP2_VERSION) - 1));
    request->minor = REQUEST_HTTP2;
    http2_request_read_fields(request, text);
    if (!http1_find_method(request->method_name, &request->method))
        request->method = METHOD_OTHER;
    reason = http1_read_meaning(request);
    if (front.is_https)
        request->scheme = TARGET_SCHEME_HTTPS;
    request->keep_alive = true;
    return reason;
}
