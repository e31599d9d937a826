#include "http/http1.h"

#include <http_parser.h>

#include "http/http1_priv.h"

static const struct known_field {
    struct bytes name;
    enum field_id id;
} known_fields[] = {
    {{"host", 4}, FIELD_HOST},
    {{"range", 5}, FIELD_RANGE},
    {{"accept", 6}, FIELD_ACCEPT},
    {{"expect", 6}, FIELD_EXPECT},
    {{"origin", 6}, FIELD_ORIGIN},
    {{"referer", 7}, FIELD_REFERER},
    {{"if-match", 8}, FIELD_IF_MATCH},
    {{"if-range", 8}, FIELD_IF_RANGE},
    {{"forwarded", 9}, FIELD_FORWARDED},
    {{"connection", 10}, FIELD_CONNECTION},
    {{"user-agent", 10}, FIELD_USER_AGENT},
    {{"authorization", 13}, FIELD_AUTHORIZATION},
    {{"if-none-match", 13}, FIELD_IF_NONE_MATCH},
    {{"content-length", 14}, FIELD_CONTENT_LENGTH},
    {{"accept-encoding", 15}, FIELD_ACCEPT_ENCODING},
    {{"x-forwarded-for", 15}, FIELD_X_FORWARDED_FOR},
    {{"if-modified-since", 17}, FIELD_IF_MODIFIED_SINCE},
    {{"transfer-encoding", 17}, FIELD_TRANSFER_ENCODING},
    {{"if-unmodified-since", 19}, FIELD_IF_UNMODIFIED_SINCE},
};

enum { KNOWN_FIELDS = sizeof(known_fields) / sizeof(*known_fields) };

/* Where the names of each length begin: most fields differ by that alone. */
static const uint8_t first_of_length[] = {
    0, 0, 0, 0, 0, 1, 2, 5, 6, 8, 9, 11, 11, 11, 13, 14, 16, 16, 18, 18};

static enum field_id identify(struct bytes name)
{
    if (name.len >= sizeof(first_of_length))
        return FIELD_OTHER;
    for (size_t i = first_of_length[name.len];
         i < KNOWN_FIELDS && known_fields[i].name.len == name.len; i++)
        if (byte_lower(*name.data) == *known_fields[i].name.data &&
            bytes_ieq(known_fields[i].name, name))
            return known_fields[i].id;
    return FIELD_OTHER;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct request *request = parser->data;

    request->target = (struct bytes){at, len};
    return 0;
}

static int on_header_field(http_parser *parser, const char *at, size_t len)
{
    struct request *request = parser->data;
    struct field *field;

    if (request->field_count == REQUEST_FIELDS_MAX)
        return -1;
    field = &request->fields[request->field_count];
    field->name = (struct bytes){at, len};
    field->id = identify(field->name);
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

static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1); /* what follows is not for this parser */
    return 0;
}

static const http_parser_settings parser_settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
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

/* Returns 0 or the status to answer. */
static unsigned take_apart(struct request *request, struct bytes head)
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
    if (error == HPE_INVALID_METHOD)
        return 501; /* a token, but no method that anybody registered */
    if (error != HPE_PAUSED)
        return 400;
    request->method = method_from(parser.method);
    request->minor = parser.http_minor;
    request->method_name = (struct bytes){
        head.data, strlen(http_method_str((enum http_method)parser.method))};
    return 0;
}

/* http-parser knows no HTAB behind a Content-Length, though white space there
 * may be one (RFC 9110 5.6.3). It gets a copy with spaces then; the views are
 * moved back to the original. */
static unsigned take_apart_without_tabs(struct request *request,
                                        struct bytes head)
{
    char copy[HTTP1_HEAD_BYTES_MAX];
    unsigned status;

    memcpy(copy, head.data, head.len);
    for (size_t i = 0; i < head.len; i++)
        if (copy[i] == '\t')
            copy[i] = ' ';
    status = take_apart(request, (struct bytes){copy, head.len});
    request->target.data = head.data + (request->target.data - copy);
    request->method_name.data = head.data;
    for (unsigned i = 0; i < request->field_count; i++) {
        struct field *field = &request->fields[i];

        field->name.data = head.data + (field->name.data - copy);
        field->value.data = head.data + (field->value.data - copy);
    }
    return status;
}

enum http1_verdict http1_parse(struct http1_progress *progress,
                               const char *data, size_t len,
                               struct request *request, size_t *used_out,
                               unsigned *status_out)
{
    enum http1_verdict verdict = http1_find_end(progress, data, len, used_out,
                                                status_out);
    const char *start = data + (progress->lines > 0 ? progress->start
                                                    : progress->line);
    const char *end;

    if (verdict == HTTP1_MORE)
        return HTTP1_MORE;
    end = memchr(start, '\r', len - (size_t)(start - data));
    request->line = bytes_between(start, end ? end : data + len);
    *progress = (struct http1_progress){0};
    if (verdict == HTTP1_DONE) {
        struct bytes head = bytes_between(start, data + *used_out);

        *status_out = take_apart(request, head);
        if (*status_out == 400 && memchr(head.data, '\t', head.len))
            *status_out = take_apart_without_tabs(request, head);
        if (*status_out == 0)
            *status_out = http1_read_meaning(request);
        if (*status_out != 0)
            verdict = HTTP1_BAD;
    }
    return verdict;
}

unsigned long http1_parser_version(void)
{
    return http_parser_version();
}
