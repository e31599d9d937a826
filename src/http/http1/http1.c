#include "http/http1/http1.h"

#include <http_parser.h>

#include "http/http1/http1_priv.h"

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct request *request = parser->data;

    request->target = (struct bytes){at, len};
    return 0;
}

/* Moves the fields to request->many, which has room for more. Returns false
 * when the caller has set no such room. */
static bool use_many(struct request *request)
{
    if (request->many && request->fields != request->many) {
        memcpy(request->many, request->fields,
               REQUEST_FIELDS_FEW * sizeof(*request->fields));
        request->fields = request->many;
    }
    return request->many;
}

static int on_header_field(http_parser *parser, const char *at, size_t len)
{
    struct request *request = parser->data;
    struct field *field;

    if (request->field_count == REQUEST_FIELDS_MAX)
        return -1;
    if (request->field_count == REQUEST_FIELDS_FEW && !use_many(request))
        return -1;
    field = &request->fields[request->field_count];
    field->name = (struct bytes){at, len};
    field->id = field_identify(field->name);
    return 0;
}

static int on_header_value(http_parser *parser, const char *at, size_t len)
{
    struct request *request = parser->data;
    struct field *field = &request->fields[request->field_count];

    field->value = bytes_trim((struct bytes){at, len});
    if (!(request->seen & (1u << field->id))) {
        request->seen |= 1u << field->id;
        request->first[field->id] = request->field_count;
    }
    request->field_count++;
    return 0;
}

static int on_reply_field(http_parser *parser, const char *at, size_t len)
{
    struct reply *reply = parser->data;
    struct field *field;

    if (reply->field_count == REPLY_FIELDS_MAX)
        return -1;
    field = &reply->fields[reply->field_count];
    field->name = (struct bytes){at, len};
    field->id = field_identify(field->name);
    return 0;
}

static int on_reply_value(http_parser *parser, const char *at, size_t len)
{
    struct reply *reply = parser->data;
    struct field *field = &reply->fields[reply->field_count++];

    field->value = bytes_trim((struct bytes){at, len});
    reply->seen |= 1u << field->id;
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1); /* the parser stops at the head's end */
    return 0;
}

static const http_parser_settings parser_settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
};

static const http_parser_settings reply_settings = {
    .on_header_field = on_reply_field,
    .on_header_value = on_reply_value,
    .on_headers_complete = on_headers_complete,
};

static enum method method_from(unsigned number)
{
    switch (number) {
    case HTTP_GET:
        return METHOD_GET;
    case HTTP_HEAD:
        return METHOD_HEAD;
    case HTTP_OPTIONS:
        return METHOD_OPTIONS;
    case HTTP_POST:
        return METHOD_POST;
    case HTTP_PUT:
        return METHOD_PUT;
    case HTTP_DELETE:
        return METHOD_DELETE;
    case HTTP_PATCH:
        return METHOD_PATCH;
    case HTTP_TRACE:
        return METHOD_TRACE;
    case HTTP_CONNECT:
        return METHOD_CONNECT;
    default:
        return METHOD_OTHER;
    }
}

/* Whether `name` is a registered method (RFC 9110 18.2) that http-parser does
 * not know. http-parser gets "POST" in its place, so no name here is shorter
 * than that. */
static bool is_further_method(struct bytes name)
{
    static const char *const names[] = {
        "QUERY",       "BASELINE-CONTROL",  "CHECKIN",        "LABEL",
        "MKWORKSPACE", "MKREDIRECTREF",     "ORDERPATCH",     "UNCHECKOUT",
        "UPDATE",      "UPDATEREDIRECTREF", "VERSION-CONTROL"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_eq(name, bytes_of(names[i])))
            return true;
    return false;
}

bool http1_find_method(struct bytes name, enum method *method_out)
{
    *method_out = METHOD_GET;
    if (bytes_eq(name, BYTES("GET")))
        return true;
    for (unsigned i = 0; i <= HTTP_SOURCE; i++) {
        if (!bytes_eq(name, bytes_of(http_method_str((enum http_method)i))))
            continue;
        *method_out = method_from(i);
        return true;
    }
    *method_out = METHOD_OTHER;
    return is_further_method(name);
}

/* Returns the reason for an error of http-parser. The head was checked before,
 * so http-parser can find only these few faults. */
static enum reason reason_of(enum http_errno error,
                             const struct request *request)
{
    bool has_coding = request_find(request, FIELD_TRANSFER_ENCODING);

    if (error == HPE_INVALID_METHOD) /* a token, but no registered method */
        return REASON_METHOD;
    if (error == HPE_INVALID_URL)
        return REASON_TARGET_FORM;
    if (error == HPE_UNEXPECTED_CONTENT_LENGTH && has_coding)
        return REASON_LENGTH_AND_CODING;
    return has_coding ? REASON_TRANSFER_ENCODING : REASON_CONTENT_LENGTH;
}

static enum reason take_apart(struct request *request, struct bytes head)
{
    http_parser parser;
    enum http_errno error;

    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = request;
    request->target = (struct bytes){head.data, 0};
    request->seen = 0;
    request->field_count = 0;
    http_parser_execute(&parser, &parser_settings, head.data, head.len);
    error = HTTP_PARSER_ERRNO(&parser);
    if (error != HPE_PAUSED)
        return reason_of(error, request);
    request->method = method_from(parser.method);
    request->minor = parser.http_minor > 0;
    /* One space stands between method and target. */
    request->method_name = bytes_between(head.data, request->target.data - 1);
    return REASON_NONE;
}

/* http-parser takes no HTAB behind a Content-Length, though HTAB is allowed as
 * white space (RFC 9110 5.6.3), does not know every method, and in some builds
 * takes no byte above 0x7F in a query. For such a head http-parser gets a copy
 * with spaces, a method that it knows and a harmless query; the views are moved
 * back to the original. */
static void copy_without_tabs(char *copy, struct bytes head)
{
    memcpy(copy, head.data, head.len);
    for (size_t i = 0; i < head.len; i++)
        if (copy[i] == '\t')
            copy[i] = ' ';
}

static void move_fields(struct field *fields, unsigned count, const char *from,
                        const char *to)
{
    for (struct field *field = fields; field < fields + count; field++) {
        field->name.data = to + (field->name.data - from);
        field->value.data = to + (field->value.data - from);
    }
}

/* Overwrites the query in a copy of the head. The request line has been
 * checked, so that its target stands between two spaces. */
static void blank_query(char *copy, size_t len)
{
    char *target = memchr(copy, ' ', len);
    char *end = memchr(target + 1, ' ', len - (size_t)(target + 1 - copy));
    char *mark = memchr(target, '?', (size_t)(end - target));

    if (mark)
        memset(mark + 1, 'q', (size_t)(end - (mark + 1)));
}

static enum reason take_apart_plainly(struct request *request,
                                      struct bytes head)
{
    const char *end = memchr(head.data, ' ', head.len);
    struct bytes method = bytes_between(head.data, end);
    const struct bytes guise = BYTES("POST");
    char copy[HTTP1_HEAD_BYTES_MAX];
    size_t skipped = 0;
    enum reason reason;

    copy_without_tabs(copy, head);
    blank_query(copy, head.len);
    if (is_further_method(method)) {
        skipped = method.len - guise.len;
        memcpy(copy + skipped, guise.data, guise.len);
    }
    reason = take_apart(request,
                        (struct bytes){copy + skipped, head.len - skipped});
    if (is_further_method(method))
        request->method = METHOD_OTHER;
    request->target.data = head.data + (request->target.data - copy);
    request->method_name = method;
    move_fields(request->fields, request->field_count, copy, head.data);
    return reason;
}

static bool take_reply(struct reply *reply, struct bytes head)
{
    http_parser parser;

    http_parser_init(&parser, HTTP_RESPONSE);
    parser.data = reply;
    reply->seen = 0;
    reply->field_count = 0;
    http_parser_execute(&parser, &reply_settings, head.data, head.len);
    reply->status = parser.status_code;
    reply->minor = parser.http_minor > 0;
    return HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED;
}

bool http1_take_reply(struct reply *reply, struct bytes head)
{
    char copy[REPLY_HEAD_BYTES_MAX];
    bool is_taken = take_reply(reply, head);

    if (is_taken || !memchr(head.data, '\t', head.len))
        return is_taken;
    copy_without_tabs(copy, head);
    is_taken = take_reply(reply, (struct bytes){copy, head.len});
    move_fields(reply->fields, reply->field_count, copy, head.data);
    return is_taken;
}

static const struct http1_rules request_rules = {
    .check_first = http1_check_request_line,
    .head_bytes_max = HTTP1_HEAD_BYTES_MAX,
    .first_bytes_max = HTTP1_LINE_BYTES_MAX,
    .leading_crlf_max = HTTP1_LEADING_CRLF_MAX,
};

/* Returns the request line of a head, which may be malformed. */
static struct bytes line_of(struct bytes head)
{
    const char *end = memchr(head.data, '\r', head.len);

    return end ? bytes_between(head.data, end) : head;
}

static enum reason read_head(struct request *request, struct bytes head)
{
    enum reason reason = take_apart(request, head);

    if (reason == REASON_NONE) {
        const char *target_end = request->target.data + request->target.len;

        request->line = bytes_between(head.data,
                                      target_end + strlen(" HTTP/1.1"));
    } else {
        request->line = line_of(head);
        reason = take_apart_plainly(request, head);
    }
    return reason == REASON_NONE ? http1_read_meaning(request) : reason;
}

enum http1_verdict http1_parse(struct http1_progress *progress,
                               const char *data, size_t len,
                               struct request *request, size_t *used_out,
                               enum reason *reason_out)
{
    enum http1_verdict verdict = http1_find_end(&request_rules, progress, data,
                                                len, used_out, reason_out);
    const char *start = data + (progress->lines > 0 ? progress->start
                                                    : progress->line);

    if (verdict == HTTP1_MORE)
        return HTTP1_MORE;
    *progress = (struct http1_progress){0};
    if (verdict == HTTP1_BAD) {
        request->line = line_of(bytes_between(start, data + len));
        return HTTP1_BAD;
    }
    *reason_out = read_head(request, bytes_between(start, data + *used_out));
    return *reason_out == REASON_NONE ? HTTP1_DONE : HTTP1_BAD;
}

unsigned long http1_parser_version(void)
{
    return http_parser_version();
}
