#include "handler/cors.h"

#define VARY_ORIGIN "Vary: Origin\r\n"
#define VARY_PREFLIGHT                              \
    "Vary: Origin, Access-Control-Request-Method, " \
    "Access-Control-Request-Headers\r\n"

/* --- Reading ------------------------------------------------------------- */

/* Whether a byte may stand in a host as browsers write it: in lower case, with
 * other scripts as "xn--". */
static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || byte_is_digit(c) || c == '-' || c == '.' ||
           c == '_';
}

/* Whether `text` is empty, or is ":" and a port up to 65535 that is not the
 * scheme's default. */
static bool is_port(struct bytes text, bool is_https)
{
    unsigned port = 0;

    if (text.len == 0)
        return true;
    if (*text.data != ':' || text.len < 2 || text.len > 6 ||
        text.data[1] == '0')
        return false;
    for (size_t i = 1; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        port = port * 10 + (unsigned)(text.data[i] - '0');
    }
    return port <= 65535 && port != (is_https ? 443 : 80);
}

/* Returns the length of the host with which `text` begins: a name, or an IPv6
 * address in brackets. */
static size_t host_len(struct bytes text)
{
    size_t len = 0;

    if (text.len > 0 && *text.data == '[') {
        for (len = 1; len < text.len && text.data[len] != ']'; len++)
            if (!byte_is_digit(text.data[len]) && text.data[len] != ':' &&
                (text.data[len] < 'a' || text.data[len] > 'f'))
                return 0;
        return len > 2 && len < text.len ? len + 1 : 0;
    }
    while (len < text.len && is_host_byte(text.data[len]))
        len++;
    return len;
}

/* Takes "https://" or "http://" off `text`, and returns the length taken.
 * Returns 0 if `text` begins with neither. */
static size_t take_scheme(struct bytes *text, bool *is_https_out)
{
    static const struct bytes https = {"https://", 8};
    struct bytes scheme = https;

    *is_https_out = text->len >= https.len &&
                    memcmp(text->data, https.data, https.len) == 0;
    if (!*is_https_out) {
        scheme = BYTES("http://");
        if (text->len < scheme.len ||
            memcmp(text->data, scheme.data, scheme.len) != 0)
            return 0;
    }
    text->data += scheme.len;
    text->len -= scheme.len;
    return scheme.len;
}

static const char *read_origin(struct cors_origin *origin, struct bytes text)
{
    struct bytes rest = text;
    bool is_https;
    size_t len = take_scheme(&rest, &is_https);

    if (len == 0)
        return "is not '*' and begins with neither http:// nor https://";
    origin->before = text;
    origin->after = (struct bytes){NULL, 0};
    if (rest.len > 1 && rest.data[0] == '*' && rest.data[1] == '.') {
        rest.data++;
        rest.len--;
        origin->before.len = len;
        origin->after = rest;
        if (rest.len < 2 || rest.data[1] == '.')
            return "has no name behind its '*'";
    }
    len = host_len(rest);
    if (len == 0 ||
        !is_port((struct bytes){rest.data + len, rest.len - len}, is_https))
        return "is not scheme://host[:port] as browsers send it: in lower "
               "case, no path, no default port";
    return NULL;
}

const char *cors_add_origin(struct cors *cors, struct bytes text)
{
    const char *fault;

    if (bytes_eq(text, BYTES("*"))) {
        cors->is_any = true;
        return NULL;
    }
    if (cors->origin_count == CORS_ORIGINS_MAX)
        return "is one origin too many, 64 are allowed";
    if (text.len > CORS_ORIGIN_BYTES_MAX)
        return "is longer than 300 bytes";
    fault = read_origin(&cors->origins[cors->origin_count], text);
    if (!fault)
        cors->origin_count++;
    return fault;
}

static const char *add_name(struct cors_names *names, struct bytes text)
{
    if (!head_is_token(text) || text.len > HEAD_EDIT_NAME_MAX)
        return "is no name, or longer than 100 bytes";
    if (names->count == CORS_NAMES_MAX)
        return "is one name too many, 32 are allowed";
    names->names[names->count++] = text;
    return NULL;
}

const char *cors_add_method(struct cors *cors, struct bytes text)
{
    return add_name(&cors->methods, text);
}

const char *cors_add_field(struct cors *cors, struct bytes text)
{
    return add_name(&cors->fields, text);
}

const char *cors_add_exposed(struct cors *cors, struct bytes text)
{
    return add_name(&cors->exposed, text);
}

static bool has_star(const struct cors_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (bytes_eq(names->names[i], BYTES("*")))
            return true;
    return false;
}

/* --- Writing ------------------------------------------------------------- */

static void put_names(struct buf *to, struct bytes field,
                      const struct cors_names *names)
{
    if (names->count == 0)
        return;
    buf_put(to, field);
    for (size_t i = 0; i < names->count; i++) {
        buf_put(to, i == 0 ? BYTES(": ") : BYTES(", "));
        buf_put(to, names->names[i]);
    }
    buf_put_literal(to, "\r\n");
}

const char *cors_finish(struct cors *cors)
{
    struct buf tail;
    const char *fault = NULL;

    if (!cors->is_any && cors->origin_count == 0)
        return "allows no origin";
    if (cors->max_age_s > CORS_AGE_MAX_S)
        return "has a max-age of more than 86400 seconds";
    if (cors->allows_credentials &&
        (cors->is_any || has_star(&cors->methods) || has_star(&cors->fields) ||
         has_star(&cors->exposed)))
        return "has '*' together with credentials";
    buf_init(&tail, cors->tail, sizeof(cors->tail), sizeof(cors->tail));
    buf_put_literal(&tail, "\r\n");
    if (!cors->is_any)
        buf_put_literal(&tail, VARY_ORIGIN);
    if (cors->allows_credentials)
        buf_put_literal(&tail, "Access-Control-Allow-Credentials: true\r\n");
    put_names(&tail, BYTES("Access-Control-Expose-Headers"), &cors->exposed);
    if (tail.failed)
        fault = "exposes more fields than fit 4096 bytes";
    cors->tail_len = tail.len;
    buf_fini(&tail);
    return fault;
}

/* --- Judging ------------------------------------------------------------- */

/* Whether a host may stand in the place of an allowed name's '*'. */
static bool is_below(struct bytes host)
{
    if (host.len == 0 || *host.data == '.')
        return false;
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_byte(host.data[i]))
            return false;
    return true;
}

static bool matches(const struct cors_origin *origin, struct bytes text)
{
    struct bytes before = origin->before;
    struct bytes after = origin->after;

    if (!after.data)
        return bytes_eq(before, text);
    if (text.len <= before.len + after.len ||
        memcmp(text.data, before.data, before.len) != 0 ||
        memcmp(text.data + text.len - after.len, after.data, after.len) != 0)
        return false;
    return is_below(bytes_between(text.data + before.len,
                                  text.data + text.len - after.len));
}

/* Returns the origin that may read the answer, or an empty text. */
static struct bytes allowed_origin(const struct cors *cors,
                                   const struct request *request)
{
    const struct field *field = request_single(request, FIELD_ORIGIN);

    if (cors->is_any)
        return BYTES("*");
    for (size_t i = 0; field && i < cors->origin_count; i++)
        if (matches(&cors->origins[i], field->value))
            return field->value;
    return BYTES("");
}

static bool is_preflight(const struct request *request)
{
    if (request->method != METHOD_OPTIONS ||
        !request_find(request, FIELD_ORIGIN))
        return false;
    for (unsigned i = 0; i < request->field_count; i++)
        if (bytes_ieq(request->fields[i].name,
                      BYTES("Access-Control-Request-Method")))
            return true;
    return false;
}

bool cors_answer_preflight(const struct cors *cors, struct exchange *exchange,
                           const struct server_defaults *defaults)
{
    static const struct cors_names usual = {
        3, {{"GET", 3}, {"HEAD", 4}, {"POST", 4}}};
    struct response *response = &exchange->response;
    struct buf *head = &response->head;
    struct bytes origin;

    if (!is_preflight(&exchange->request))
        return false;
    origin = allowed_origin(cors, &exchange->request);
    response_begin(response, 204, defaults);
    buf_put_literal(head, VARY_PREFLIGHT);
    if (origin.len > 0) {
        head_field(head, BYTES("Access-Control-Allow-Origin"), origin);
        if (cors->allows_credentials)
            head_field(head, BYTES("Access-Control-Allow-Credentials"),
                       BYTES("true"));
        put_names(head, BYTES("Access-Control-Allow-Methods"),
                  cors->methods.count > 0 ? &cors->methods : &usual);
        put_names(head, BYTES("Access-Control-Allow-Headers"), &cors->fields);
        if (cors->max_age_s > 0)
            head_number(head, BYTES("Access-Control-Max-Age"), cors->max_age_s);
    }
    response_add_head(response);
    return true;
}

void cors_describe(const struct cors *cors, const struct request *request,
                   struct response *response)
{
    struct bytes origin = allowed_origin(cors, request);

    response->own_fields |= RESPONSE_OWN_CORS;
    if (origin.len == 0) {
        response_put_extra(response, BYTES(VARY_ORIGIN));
        return;
    }
    response_put_extra(response, BYTES("Access-Control-Allow-Origin: "));
    response_put_extra(response, origin);
    response_put_extra(response, (struct bytes){cors->tail, cors->tail_len});
}
