#include "http/http2/http2_request.h"

#include "http/http1/http1_priv.h"

/*
 * The stored text:
 *
 *   struct text_front | GET /path HTTP/2.0 | record | record | ...
 *
 * and a record:  name's length, value's length | name | value
 */
struct text_front {
    uint16_t line_len;
    uint16_t method_len;
    uint16_t field_count;
    uint16_t is_https; /* ":scheme" is https */
};

struct record_front {
    uint16_t name_len;
    uint16_t value_len;
};

#define VERSION " HTTP/2.0"

_Static_assert(HTTP2_LINE_EXTRA >= sizeof(struct record_front),
               "whatever passes the limit of a list has room in the text");
_Static_assert(HTTP2_LIST_BYTES_MAX + 1024 <= UINT16_MAX, "lengths have room");

/* --- Gathering ----------------------------------------------------------- */

void http2_head_begin(struct http2_head *head, bool is_trailer)
{
    memset(head, 0, offsetof(struct http2_head, host_text));
    head->is_trailer = is_trailer;
    head->priority = PRIORITY_DEFAULT;
}

static struct bytes put_text(struct http2_head *head, struct bytes text)
{
    char *to = head->text + head->text_len;

    memcpy(to, text.data, text.len);
    head->text_len += text.len;
    return (struct bytes){to, text.len};
}

static void put_record(struct http2_head *head, struct bytes name,
                       struct bytes value)
{
    struct record_front front = {(uint16_t)name.len, (uint16_t)value.len};
    unsigned host_count = head->is_trailer ? 0 : 1; /* it has no record */

    if (head->field_count + host_count == REQUEST_FIELDS_MAX) {
        head->reason = REASON_TOO_MANY_FIELDS;
        return;
    }
    (void)put_text(head, (struct bytes){(const char *)&front, sizeof(front)});
    (void)put_text(head, name);
    (void)put_text(head, value);
    head->field_count++;
}

static void put_cookie(struct http2_head *head, struct bytes value)
{
    if (head->cookie_len > 0) {
        memcpy(head->cookies + head->cookie_len, "; ", 2);
        head->cookie_len += 2;
    }
    memcpy(head->cookies + head->cookie_len, value.data, value.len);
    head->cookie_len += value.len;
}

/* --- What a line may be -------------------------------------------------- */

/* Whether `name` is a field's name by RFC 9113 8.2.1, and also a token as in
 * HTTP/1.1. */
static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!http1_is_in(name.data[i], IN_TOKEN) ||
            (name.data[i] >= 'A' && name.data[i] <= 'Z'))
            return false;
    return name.len > 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_value(struct bytes value)
{
    return value.len == 0 ||
           (http1_all_in(value, IN_VALUE) && !is_blank(*value.data) &&
            !is_blank(value.data[value.len - 1]));
}

/* Takes a pseudo-field, which may come once, and before all other fields
 * (8.3). */
static bool add_pseudo(struct http2_head *head, struct bytes name,
                       struct bytes value)
{
    const struct {
        struct bytes name;
        struct bytes *place;
    } places[] = {{BYTES(":method"), &head->method},
                  {BYTES(":path"), &head->path},
                  {BYTES(":scheme"), &head->scheme},
                  {BYTES(":authority"), &head->authority},
                  {BYTES(":protocol"), &head->protocol}};

    if (head->has_fields || head->is_trailer)
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (!bytes_eq(places[i].name, name))
            continue;
        if (places[i].place->data || value.len == 0)
            return false;
        *places[i].place = put_text(head, value);
        return true;
    }
    return false;
}

static bool add_length(struct http2_head *head, struct bytes value)
{
    if (head->has_length)
        return false;
    head->has_length = true;
    return http1_read_length(value, &head->content_length);
}

static bool add_host(struct http2_head *head, struct bytes value)
{
    if (head->host.data || head->is_trailer)
        return false;
    if (value.len > sizeof(head->host_text)) {
        head->reason = REASON_HOST_INVALID;
        return true;
    }
    memcpy(head->host_text, value.data, value.len);
    head->host = (struct bytes){head->host_text, value.len};
    return true;
}

/* Adds a field. Returns false when the field is malformed, or is one about a
 * connection, which HTTP/2 does not allow (8.2.2). */
static bool add_field(struct http2_head *head, struct bytes name,
                      struct bytes value)
{
    switch (field_identify(name)) {
    case FIELD_CONNECTION:
    case FIELD_TRANSFER_ENCODING:
    case FIELD_UPGRADE:
        return false;
    case FIELD_HOP_BY_HOP:
        if (bytes_eq(name, BYTES("keep-alive")) ||
            bytes_eq(name, BYTES("proxy-connection")))
            return false;
        break;
    case FIELD_TE:
        if (!bytes_ieq(value, BYTES("trailers")))
            return false;
        break;
    case FIELD_CONTENT_LENGTH:
        if (!add_length(head, value))
            return false;
        break;
    default:
        break;
    }
    if (bytes_eq(name, BYTES("cookie"))) {
        put_cookie(head, value);
        return true;
    }
    if (head->protocol.data && bytes_eq(name, BYTES("sec-websocket-key")))
        return true; /* the server's own key takes its place */
    put_record(head, name, value);
    if (bytes_eq(name, BYTES("priority"))) {
        head->has_priority = true;
        priority_read(&head->priority, value);
    }
    return true;
}

static bool take_line(struct http2_head *head, struct bytes name,
                      struct bytes value)
{
    if (name.len > 0 && *name.data == ':')
        return is_value(value) && add_pseudo(head, name, value);
    if (!is_name(name) || !is_value(value))
        return false;
    if (!head->has_fields) {
        head->has_fields = true;
        head->records_at = head->text_len;
    }
    return bytes_eq(name, BYTES("host")) ? add_host(head, value)
                                         : add_field(head, name, value);
}

bool http2_head_add(struct http2_head *head, struct bytes name,
                    struct bytes value)
{
    head->list_bytes += name.len + value.len + HTTP2_LINE_EXTRA;
    head->line_count++;
    if (head->list_bytes > HTTP2_LIST_BYTES_READ ||
        head->line_count > HTTP2_LINES_READ)
        return false;
    if (head->list_bytes > HTTP2_LIST_BYTES_MAX)
        head->reason = REASON_HEAD_TOO_LARGE;
    if (head->reason == REASON_NONE && !head->is_malformed)
        head->is_malformed = !take_line(head, name, value);
    return true;
}

/* --- The whole head ------------------------------------------------------ */

/* Whether `text` is a scheme by RFC 3986 3.1. */
static bool is_scheme(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = byte_lower(text.data[i]);
        bool is_letter = c >= 'a' && c <= 'z';

        if (!is_letter &&
            (i == 0 || (!byte_is_digit(c) && c != '+' && c != '-' && c != '.')))
            return false;
    }
    return text.len > 0;
}

static bool is_https(const struct http2_head *head)
{
    return bytes_ieq(head->scheme, BYTES("https"));
}

/* Whether a head has the pseudo-fields that RFC 9113 8.3.1 and 8.5 and RFC 8441
 * 4 demand. */
static bool has_its_pseudo_fields(const struct http2_head *head)
{
    bool is_connect = head->method.data &&
                      bytes_eq(head->method, BYTES("CONNECT"));

    if (is_connect && !head->protocol.data)
        return head->authority.data && !head->scheme.data && !head->path.data;
    if (head->protocol.data && (!is_connect || !head->authority.data))
        return false;
    return head->method.data && head->scheme.data && head->path.data &&
           is_scheme(head->scheme) && http1_all_in(head->method, IN_TOKEN) &&
           (*head->path.data == '/' ||
            (bytes_eq(head->path, BYTES("*")) &&
             bytes_eq(head->method, BYTES("OPTIONS"))));
}

/* Takes an empty port off an authority, or the port that its scheme has anyway
 * (RFC 3986 6.2.3). */
static struct bytes drop_usual_port(const struct http2_head *head,
                                    struct bytes authority)
{
    struct bytes port = is_https(head) ? BYTES(":443") : BYTES(":80");
    const char *end = authority.data + authority.len;

    if (authority.len > port.len &&
        memcmp(end - port.len, port.data, port.len) == 0)
        authority.len -= port.len;
    else if (authority.len > 1 && end[-1] == ':')
        authority.len--;
    return authority;
}

/* Whether Host and ":authority" name the same (8.3.1). If only Host came, it
 * becomes the authority. */
static bool settle_host(struct http2_head *head)
{
    if (head->authority.data && head->host.data &&
        !bytes_ieq(drop_usual_port(head, head->authority),
                   drop_usual_port(head, head->host)))
        return false;
    if (!head->authority.data)
        head->authority = head->host;
    return true;
}

static enum reason check_meaning(const struct http2_head *head)
{
    enum method method;

    if (head->method.len + head->path.len + sizeof(VERSION) >
        HTTP1_LINE_BYTES_MAX)
        return REASON_TARGET_TOO_LONG;
    if (head->path.data && !http1_is_target(head->path))
        return REASON_TARGET_BYTES;
    if (head->scheme.data && !is_https(head) &&
        !bytes_ieq(head->scheme, BYTES("http"))) /* no other is served */
        return REASON_TARGET_FORM;
    if (!http1_find_method(head->method, &method))
        return REASON_METHOD;
    return head->protocol.data && !bytes_ieq(head->protocol, BYTES("websocket"))
               ? REASON_METHOD
               : REASON_NONE;
}

static void add_socket(struct http2_head *head, const char *key)
{
    put_record(head, BYTES("connection"), BYTES("upgrade"));
    put_record(head, BYTES("upgrade"), BYTES("websocket"));
    put_record(head, BYTES("sec-websocket-key"), (struct bytes){key, 24});
    head->method = BYTES("GET");
}

/* Whether a head announces a body that cannot come: none follows the head, or
 * the request opens a tunnel, which has no body (RFC 9110 9.3.6). The length
 * would be passed on with the request, and the upstream would take the next
 * request for the body. */
static bool is_body_false(const struct http2_head *head, bool ends)
{
    bool is_tunnel = head->protocol.data;

    return (ends && is_tunnel) ||
           (head->content_length > 0 && (ends || is_tunnel));
}

enum http2_verdict http2_head_end(struct http2_head *head, bool ends,
                                  const char *socket_key,
                                  enum reason *reason_out)
{
    bool is_whole = head->reason == REASON_NONE;

    *reason_out = head->reason;
    if (head->is_malformed)
        return HTTP2_MALFORMED;
    if (!is_whole)
        return HTTP2_REFUSED;
    if (head->is_trailer)
        return ends ? HTTP2_DONE : HTTP2_MALFORMED;
    if (!head->has_fields)
        head->records_at = head->text_len;
    if (!has_its_pseudo_fields(head) || !settle_host(head) ||
        is_body_false(head, ends))
        return HTTP2_MALFORMED;
    *reason_out = check_meaning(head);
    if (*reason_out != REASON_NONE)
        return HTTP2_REFUSED;
    if (head->cookie_len > 0)
        put_record(head, BYTES("cookie"),
                   (struct bytes){head->cookies, head->cookie_len});
    if (head->protocol.data)
        add_socket(head, socket_key);
    *reason_out = head->reason;
    return head->reason == REASON_NONE ? HTTP2_DONE : HTTP2_REFUSED;
}

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
           sizeof(VERSION) - 1;
}

static size_t records_bytes(const struct http2_head *head)
{
    return head->has_fields || head->field_count > 0
               ? head->text_len - head->records_at
               : 0;
}

size_t http2_head_bytes(const struct http2_head *head)
{
    return sizeof(struct text_front) + line_bytes(head) + host_bytes(head) +
           records_bytes(head);
}

static char *copy(char *to, struct bytes text)
{
    if (text.data)
        memcpy(to, text.data, text.len);
    return to + text.len;
}

void http2_head_store(const struct http2_head *head, char *to)
{
    struct text_front front = {
        .line_len = (uint16_t)line_bytes(head),
        .method_len = (uint16_t)cut(head->method).len,
        .field_count = (uint16_t)(head->field_count +
                                  (head->authority.data ? 1 : 0)),
        .is_https = is_https(head)};
    struct record_front host = {4, (uint16_t)head->authority.len};

    to = copy(to, (struct bytes){(const char *)&front, sizeof(front)});
    to = copy(to, cut(head->method));
    to = copy(to, BYTES(" "));
    to = copy(to, cut(target_of(head)));
    to = copy(to, BYTES(VERSION));
    if (head->authority.data) {
        to = copy(to, (struct bytes){(const char *)&host, sizeof(host)});
        to = copy(to, BYTES("host"));
        to = copy(to, head->authority);
    }
    (void)copy(to, (struct bytes){head->text + head->records_at,
                                  records_bytes(head)});
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
                                        (sizeof(VERSION) - 1));
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
