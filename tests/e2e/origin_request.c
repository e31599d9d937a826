#include "origin_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIZE_LINE_MAX = 18, TRAILER_LINE_MAX = 8192 };

static const char token_bytes[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrs"
                                  "tuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* What a head says, as far as it matters. */
struct head {
    unsigned hosts, lengths, codings, vias;
    uint64_t length;
};

/* These give what is wrong, or NULL. */

static const char *read_request_line(struct origin_request *request,
                                     const char *line)
{
    size_t method_len = strspn(line, token_bytes);
    const char *target = line + method_len + 1;
    size_t target_len, path_len;

    if (method_len == 0 || method_len >= sizeof(request->method) ||
        line[method_len] != ' ')
        return "no method";
    target_len = strcspn(target, " ");
    path_len = strcspn(target, "? ");
    if (target_len >= sizeof(request->target))
        return "a long target";
    if (*target != '/' && strncmp(target, "* ", 2) != 0)
        return "a target that is no path";
    /* Behind the '?' there is more than a URI can have. */
    for (size_t i = 0; i < target_len; i++)
        if ((unsigned char)target[i] <= 0x20 || target[i] == 0x7f ||
            (i < path_len &&
             ((unsigned char)target[i] > 0x7e || target[i] == '#')))
            return "a target with other bytes";
    if (strcmp(target + target_len, " HTTP/1.1") != 0)
        return "not HTTP/1.1";
    snprintf(request->method, sizeof(request->method), "%.*s", (int)method_len,
             line);
    snprintf(request->target, sizeof(request->target), "%.*s", (int)target_len,
             target);
    return NULL;
}

static const char *check_field(const char *line)
{
    size_t name_len = strspn(line, token_bytes);

    if (name_len == 0 || line[name_len] != ':')
        return "not a field";
    if (line[name_len + 1] != ' ')
        return "no space after the colon";
    for (const char *at = line + name_len; *at; at++)
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f)
            return "a control in a value";
    return NULL;
}

static bool is_named(const char *line, const char *name)
{
    size_t len = strlen(name);

    return strncasecmp(line, name, len) == 0 && line[len] == ':';
}

static const char *read_field(struct head *head, const char *line)
{
    static const char *const strangers[] = {
        "Keep-Alive",          "Proxy-Connection",
        "Proxy-Authorization", "HTTP2-Settings",
        "Content_Length",      "Transfer_Encoding",
        "X_Forwarded_For",     "Proxy"};
    const char *fault = check_field(line);
    const char *value = strchr(line, ':');
    char *end;

    if (fault)
        return fault;
    value += 2;
    for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
        if (is_named(line, strangers[i]))
            return "a field that should have stayed behind";
    if (is_named(line, "Connection") && strcmp(value, "TE") != 0 &&
        strcmp(value, "close") != 0 && strncmp(value, "upgrade", 7) != 0)
        return "a Connection of others";
    head->hosts += is_named(line, "Host");
    head->vias += is_named(line, "Via");
    if (is_named(line, "Content-Length")) {
        head->lengths++;
        head->length = strtoull(value, &end, 10);
        if (strspn(value, "0123456789") != strlen(value) || !*value ||
            (*value == '0' && value[1]))
            return "a length that is none";
    }
    if (is_named(line, "Transfer-Encoding")) {
        head->codings++;
        if (strcmp(value, "chunked") != 0)
            return "another coding than chunked";
    }
    return NULL;
}

static const char *read_head(struct origin_request *request, const char *text,
                             size_t len)
{
    struct head head = {0};
    char copy[65536 + 1];
    const char *fault = NULL;

    if (len > sizeof(copy) - 1 || memchr(text, '\0', len))
        return "a NUL in the head, or too much of it";
    memcpy(copy, text, len);
    copy[len] = '\0';
    for (char *line = copy, *next; *line != '\r' && !fault; line = next) {
        next = strchr(line, '\n') + 1;
        if (next - line < 2 || next[-2] != '\r')
            return "a bare LF";
        next[-2] = '\0';
        fault = line == copy ? read_request_line(request, line)
                             : read_field(&head, line);
    }
    if (fault)
        return fault;
    if (head.hosts != 1)
        return "no Host, or two";
    if (head.vias == 0 && strcmp(request->target, "/health") != 0)
        return "no Via, and no probe";
    if (head.lengths + head.codings > 1)
        return "more than one framing";
    request->is_chunked = head.codings == 1;
    request->left = head.length;
    request->state = request->is_chunked ? ORIGIN_SIZE
                     : head.length > 0   ? ORIGIN_BODY
                                         : ORIGIN_WHOLE;
    return NULL;
}

static const char *read_size(struct origin_request *request, const char *line,
                             size_t len)
{
    char digits[SIZE_LINE_MAX + 1];

    if (len < 3 || len > SIZE_LINE_MAX || line[len - 2] != '\r')
        return "not a chunk's size";
    memcpy(digits, line, len - 2);
    digits[len - 2] = '\0';
    if (strspn(digits, "0123456789abcdefABCDEF") != len - 2)
        return "not a chunk's size in digits";
    request->left = strtoull(digits, NULL, 16);
    request->state = request->left > 0 ? ORIGIN_BODY : ORIGIN_TRAILER;
    return NULL;
}

static const char *read_trailer(struct origin_request *request,
                                const char *line, size_t len)
{
    char text[TRAILER_LINE_MAX];

    if (len < 2 || len > sizeof(text) || line[len - 2] != '\r')
        return "a bare LF in the trailers";
    if (len == 2) {
        request->state = ORIGIN_WHOLE;
        return NULL;
    }
    memcpy(text, line, len - 2);
    text[len - 2] = '\0';
    return strlen(text) < len - 2 ? "a NUL in a trailer" : check_field(text);
}

static size_t read_body(struct origin_request *request, size_t len)
{
    size_t step = len < request->left ? len : (size_t)request->left;

    request->left -= step;
    if (request->left == 0)
        request->state = request->is_chunked ? ORIGIN_CRLF : ORIGIN_WHOLE;
    return step;
}

size_t origin_request_read(struct origin_request *request, const char *text,
                           size_t len, size_t *body_out, const char **fault_out)
{
    const char *line_end = memchr(text, '\n', len);
    const char *head_end = memmem(text, len, "\r\n\r\n", 4);
    size_t line_len = line_end ? (size_t)(line_end + 1 - text) : 0;

    *body_out = 0;
    *fault_out = NULL;
    if (len == 0)
        return 0;
    switch (request->state) {
    case ORIGIN_HEAD:
        if (head_end) {
            line_len = (size_t)(head_end + 4 - text);
            *fault_out = read_head(request, text, line_len);
            return *fault_out ? 0 : line_len;
        }
        return 0;
    case ORIGIN_SIZE:
        if (line_len > 0)
            *fault_out = read_size(request, text, line_len);
        else if (len > SIZE_LINE_MAX)
            *fault_out = "a chunk's size without end";
        return *fault_out ? 0 : line_len;
    case ORIGIN_BODY:
        return *body_out = read_body(request, len);
    case ORIGIN_CRLF:
        if (len < 2)
            return 0;
        if (memcmp(text, "\r\n", 2) != 0)
            *fault_out = "no line end after a chunk";
        request->state = ORIGIN_SIZE;
        return *fault_out ? 0 : 2;
    case ORIGIN_TRAILER:
        if (line_len > 0)
            *fault_out = read_trailer(request, text, line_len);
        return *fault_out ? 0 : line_len;
    case ORIGIN_WHOLE:
        break;
    }
    return 0;
}
