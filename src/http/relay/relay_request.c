#include "http/relay/relay.h"

#include "http/percent.h"
#include "http/relay/relay_priv.h"

/* --- What is asked ------------------------------------------------------- */

static bool has_member(const struct request *request, enum field_id id,
                       struct bytes wanted)
{
    const struct field *field = request_find(request, id);

    for (; field; field = request_next(request, field)) {
        struct bytes list = field->value;
        struct bytes member;

        while (field_next_member(&list, &member))
            if (bytes_ieq(member, wanted))
                return true;
    }
    return false;
}

bool relay_upgrades(const struct relay *relay, const struct request *request)
{
    return relay->upgrade.len > 0 && request->minor >= 1 &&
           request->method == METHOD_GET && !request->is_chunked &&
           request->content_length == 0 &&
           has_member(request, FIELD_CONNECTION, BYTES("upgrade")) &&
           has_member(request, FIELD_UPGRADE, relay->upgrade);
}

bool relay_leaves_out(const struct request *request)
{
    struct nominated nominated;

    return request->has_options &&
           (!relay_read_nominated(&nominated, request->fields,
                                  request->field_count) ||
            nominated.count > 0);
}

/* Only the beginning of a scheme is compared, because schemes like "Nego2" bind
 * the connection, too. */
bool relay_binds_connection(const struct request *request)
{
    const struct field *field = request_find(request, FIELD_AUTHORIZATION);

    for (; field; field = request_next(request, field))
        if (relay_has_prefix(field->value, BYTES("NTLM")) ||
            relay_has_prefix(field->value, BYTES("Nego")))
            return true;
    return false;
}

bool relay_takes_trailers(const struct request *request)
{
    return request->minor >= 1 &&
           has_member(request, FIELD_TE, BYTES("trailers"));
}

enum body_framing relay_framing(const struct request *request,
                                const struct relay_from *from)
{
    if (request->is_chunked)
        return from->has_length ? BODY_LENGTH : BODY_CHUNKED;
    return request_find(request, FIELD_CONTENT_LENGTH) ? BODY_LENGTH
                                                       : BODY_NONE;
}

/* Counts how often our own name stands in Via: "1.1 name" or "HTTP/1.1 name
 * (...)", RFC 9110 7.6.3. */
static unsigned count_rounds(const struct relay *relay,
                             const struct request *request)
{
    const struct field *field = request_find(request, FIELD_VIA);
    unsigned rounds = 0;

    for (; field; field = request_next(request, field)) {
        struct bytes list = field->value;
        struct bytes member;

        while (field_next_member(&list, &member)) {
            (void)bytes_take_word(&member); /* the protocol's version */
            rounds += bytes_ieq(bytes_take_word(&member), relay->pseudonym);
        }
    }
    return rounds;
}

/* --- The request line ---------------------------------------------------- */

/* Whether servers read a segment as "." or "..". The dots may be encoded, and
 * some servers leave out all that follows a ';', which may be encoded, too. */
static bool is_dot_segment(struct bytes segment)
{
    const char *end = segment.data + segment.len;
    unsigned dots = 0;

    for (const char *at = segment.data; at < end; dots++) {
        int byte = *at == '%' ? percent_value(at + 1, end) : *at;

        if (byte == ';')
            break;
        if (byte != '.')
            return false;
        at += *at == '%' ? 3 : 1;
    }
    return dots == 1 || dots == 2;
}

/* Returns the length of a text at `at` that some servers take for a slash; 0
 * for any other text. */
static size_t slash_len(const char *at, const char *end)
{
    int value;

    if (*at == '/' || *at == '\\')
        return 1;
    if (*at != '%')
        return 0;
    value = percent_value(at + 1, end);
    return value == '/' || value == '\\' ? 3 : 0;
}

/* Whether the path has a dot segment. If this server and the upstream did not
 * both resolve it, the path would mean different places to them. */
static bool has_dot_segment(struct bytes path)
{
    const char *end = path.data + path.len;
    const char *begin = path.data;

    for (const char *at = begin; at < end; at++) {
        size_t len = slash_len(at, end);

        if (len == 0)
            continue;
        if (is_dot_segment(bytes_between(begin, at)))
            return true;
        begin = at + len;
        at = begin - 1;
    }
    return is_dot_segment(bytes_between(begin, end));
}

/* Takes `strip` off *path. Returns false when the path does not begin with the
 * segments of `strip`. */
static bool strip_path(struct bytes strip, struct bytes *path)
{
    if (strip.len == 0)
        return true;
    if (path->len < strip.len || memcmp(path->data, strip.data, strip.len) != 0)
        return false;
    path->data += strip.len;
    path->len -= strip.len;
    return path->len == 0 || *path->data == '/' ||
           strip.data[strip.len - 1] == '/';
}

static enum relay_verdict put_line(const struct relay *relay,
                                   const struct request *request,
                                   struct buf *out)
{
    struct bytes path = request->path;
    struct bytes first = relay->replace;

    if (has_dot_segment(path))
        return RELAY_BAD_TARGET;
    if (bytes_eq(path, BYTES("*")))
        first.len = 0; /* "*" means the whole server */
    else if (!strip_path(relay->strip, &path))
        return RELAY_BAD_TARGET;
    buf_put(out, request->method_name);
    buf_put_literal(out, " ");
    if (first.len > 0 && *first.data != '/')
        buf_put_literal(out, "/");
    if (first.len > 0 && first.data[first.len - 1] == '/' && path.len > 0 &&
        *path.data == '/')
        first.len--;
    buf_put(out, first);
    if (first.len == 0 &&
        (path.len == 0 || (*path.data != '/' && *path.data != '*')))
        buf_put_literal(out, "/");
    buf_put(out, path);
    if (request->query.data) {
        buf_put_literal(out, "?");
        buf_put(out, request->query);
    }
    buf_put_literal(out, " HTTP/1.1\r\n");
    return RELAY_DONE;
}

/* --- The fields ---------------------------------------------------------- */

/* Whether CGI has a variable of that name (RFC 3875 4.1). Gunicorn believes the
 * SCRIPT_NAME of a trusted client: it tells the path where the application
 * begins. With "/public" as SCRIPT_NAME, the path /public/admin would be the
 * application's /admin, whatever rules this server has for /admin. */
static bool is_variable(struct bytes name)
{
    static const struct bytes names[] = {
        {"SCRIPT_NAME", 11},      {"PATH_INFO", 9},
        {"REMOTE_USER", 11},      {"REMOTE_ADDR", 11},
        {"REMOTE_HOST", 11},      {"REMOTE_PORT", 11},
        {"REMOTE_IDENT", 12},     {"AUTH_TYPE", 9},
        {"QUERY_STRING", 12},     {"REQUEST_METHOD", 14},
        {"REQUEST_URI", 11},      {"REQUEST_SCHEME", 14},
        {"PATH_TRANSLATED", 15},  {"SERVER_NAME", 11},
        {"SERVER_PORT", 11},      {"SERVER_PROTOCOL", 15},
        {"DOCUMENT_ROOT", 13},    {"SCRIPT_FILENAME", 15},
        {"GATEWAY_INTERFACE", 17}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_ieq(name, names[i]))
            return true;
    return false;
}

/* Whether all servers keep that byte when they read the name of a field. */
static bool is_kept(char byte)
{
    return byte == '-' || field_byte_of_cgi(byte) != '_';
}

static bool is_plain(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_kept(name.data[i]))
            return false;
    return true;
}

/* Whether some servers read a name as another name that has a meaning. CGI
 * makes '_' of '-', PHP also of '.', and lighttpd of all bytes but letters and
 * digits. */
static bool is_disguised(const struct relay *relay, struct bytes name)
{
    char other[32];
    struct bytes twin = {other,
                         name.len < sizeof(other) ? name.len : sizeof(other)};

    if (is_plain(name)) /* the usual case */
        return false;
    for (size_t i = 0; i < twin.len; i++)
        other[i] = (char)(is_kept(name.data[i]) ? name.data[i] : '-');
    return relay_is_for_all(twin) || field_identify(twin) != FIELD_OTHER ||
           relay_says(relay, twin) || is_variable(name);
}

static bool goes_on(const struct relay *relay, const struct field *field,
                    const struct nominated *nominated, bool believes_x)
{
    switch (field->id) {
    case FIELD_CONNECTION:
    case FIELD_CONTENT_LENGTH:
    case FIELD_EXPECT:
    case FIELD_FORWARDED:
    case FIELD_HOP_BY_HOP:
    case FIELD_HOST:
    case FIELD_MAX_FORWARDS:
    case FIELD_TE:
    case FIELD_TRAILER:
    case FIELD_TRANSFER_ENCODING:
    case FIELD_UPGRADE:
    case FIELD_X_FORWARDED_FOR:
        return false;
    case FIELD_X_FORWARDED_HOST:
    case FIELD_X_FORWARDED_PROTO:
    case FIELD_X_REAL_IP:
        return believes_x;
    case FIELD_OTHER:
        return !relay_is_nominated(nominated, field->name) &&
               !is_disguised(relay, field->name) &&
               !relay_says(relay, field->name) &&
               (believes_x || !relay_tells_asker(field->name));
    default:
        return true;
    }
}

/* Puts Max-Forwards (RFC 9110 7.6.2), lowered by one. With other methods than
 * TRACE and OPTIONS it means nothing, and goes on unchanged. */
static enum relay_verdict put_max_forwards(const struct request *request,
                                           struct buf *out)
{
    const struct field *field = request_find(request, FIELD_MAX_FORWARDS);
    uint64_t count = 0;

    if (!field)
        return RELAY_DONE;
    if (request->method != METHOD_OPTIONS && request->method != METHOD_TRACE) {
        head_field(out, field->name, field->value);
        return RELAY_DONE;
    }
    if (request_next(request, field) || field->value.len == 0 ||
        field->value.len > 18)
        return RELAY_BAD_COUNT;
    for (size_t i = 0; i < field->value.len; i++) {
        char digit = field->value.data[i];

        if (!byte_is_digit(digit))
            return RELAY_BAD_COUNT;
        count = 10 * count + (uint64_t)(digit - '0');
    }
    if (count == 0)
        return RELAY_LAST;
    head_number(out, BYTES("Max-Forwards"), count - 1);
    return RELAY_DONE;
}

/* Puts the fields about our connection to the upstream, and the empty line. */
static void put_connection(const struct relay *relay,
                           const struct request *request,
                           const struct relay_from *from, struct buf *out)
{
    bool takes_trailers = relay_takes_trailers(request);
    bool has_body = request->is_chunked || request->content_length > 0;

    if (takes_trailers)
        buf_put_literal(out, "TE: trailers\r\n");
    /* A request without content may not have Expect (RFC 9110 10.1.1): some
     * servers would wait for a body, and take the next request for the body. */
    if (from->expects_continue && request->expects_continue && has_body)
        buf_put_literal(out, "Expect: 100-continue\r\n");
    if (relay_upgrades(relay, request)) {
        head_field(out, BYTES("Upgrade"), relay->upgrade);
        buf_put(out, takes_trailers ? BYTES("Connection: upgrade, TE\r\n")
                                    : BYTES("Connection: upgrade\r\n"));
    } else if (takes_trailers) {
        buf_put_literal(out, "Connection: TE\r\n");
    }
    switch (relay_framing(request, from)) {
    case BODY_LENGTH:
        head_number(out, BYTES("Content-Length"),
                    from->has_length ? from->length : request->content_length);
        break;
    case BODY_CHUNKED:
        head_field(out, BYTES("Transfer-Encoding"), BYTES("chunked"));
        break;
    case BODY_NONE:
    case BODY_UNTIL_CLOSE:
    case BODY_TUNNEL:
        break;
    }
    buf_put_literal(out, "\r\n");
}

enum relay_verdict relay_request(const struct relay *relay,
                                 const struct request *request,
                                 const struct relay_from *from, struct buf *out)
{
    const struct field *end = request->fields + request->field_count;
    bool believes_x = relay_believes(relay, from, FORWARDED_X_FOR);
    struct relay_run run = {.text.len = 0};
    struct nominated nominated;
    enum relay_verdict verdict;

    nominated.count = 0;
    if (request_find(request, FIELD_CONNECTION) &&
        !relay_read_nominated(&nominated, request->fields,
                              request->field_count))
        return RELAY_BAD_CONNECTION;
    if (count_rounds(relay, request) >= RELAY_ROUNDS_MAX)
        return RELAY_LOOP;
    verdict = put_line(relay, request, out);
    if (verdict != RELAY_DONE)
        return verdict;
    head_field(out, BYTES("Host"),
               relay->keeps_host && request->host.len > 0 ? request->host
                                                          : relay->host);
    for (const struct field *field = request->fields; field < end; field++)
        if (goes_on(relay, field, &nominated, believes_x))
            relay_run_put(&run, field, out);
    relay_run_end(&run, out);
    verdict = put_max_forwards(request, out);
    if (verdict != RELAY_DONE)
        return verdict;
    relay_put_via(relay, request->minor, out);
    relay_put_asker(relay, request, from, out);
    put_connection(relay, request, from, out);
    return out->failed ? RELAY_TOO_LARGE : RELAY_DONE;
}
