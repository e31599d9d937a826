#include "reply.h"

#include <strings.h>
#include <time.h>

#include "harness.h"

enum { SIZE_LINE, DATA, DATA_END, TRAILER }; /* chunk_state */

/* --- Dates --------------------------------------------------------------- */

const char *http_date_text(int64_t seconds, char out[30])
{
    time_t time = (time_t)seconds;
    struct tm utc;

    gmtime_r(&time, &utc);
    strftime(out, 30, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    return out;
}

int64_t http_date(const char *text)
{
    struct tm utc = {0};
    char again[30];
    int64_t seconds;

    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &utc))
        flunk("not a date: '%s'", text);
    seconds = timegm(&utc);
    if (strcmp(http_date_text(seconds, again), text) != 0)
        flunk("not an IMF-fixdate: '%s'", text);
    return seconds;
}

/* --- The head ------------------------------------------------------------ */

static bool is_token(const char *text)
{
    return *text &&
           text[strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrst"
                             "uvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

static bool is_value(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

const char *reply_field(const struct reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->field_count; i++)
        if (strcasecmp(reply->fields[i].name, name) == 0)
            return reply->fields[i].value;
    return NULL;
}

bool reply_lists(const struct reply *reply, const char *name, const char *token)
{
    size_t len = strlen(token);

    for (size_t i = 0; i < reply->field_count; i++) {
        const char *at = reply->fields[i].value;

        if (strcasecmp(reply->fields[i].name, name) != 0)
            continue;
        while (*at) {
            size_t step;

            at += strspn(at, ", \t");
            step = strcspn(at, ", \t");
            if (step == len && strncasecmp(at, token, len) == 0)
                return true;
            at += step;
        }
    }
    return false;
}

static void read_status_line(struct reply *reply, const char *line)
{
    if (strncmp(line, "HTTP/1.1 ", 9) != 0 ||
        strspn(line + 9, "0123456789") != 3 || line[12] != ' ' ||
        !is_value(line + 13))
        flunk("no status line: '%s'", line);
    reply->status = (unsigned)strtoul(line + 9, NULL, 10);
    if (reply->status < 100 || reply->status > 599)
        flunk("no status: '%s'", line);
}

static void read_field(struct reply *reply, char *line)
{
    char *colon = strchr(line, ':');
    char *value = colon ? colon + 1 : line;
    char *end = line + strlen(line);

    if (!colon || reply->field_count == REPLY_FIELDS_MAX)
        flunk("no field, or one too many: '%s'", line);
    *colon = '\0';
    value += strspn(value, " \t");
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    if (!is_token(line) || !is_value(value))
        flunk("not a field: '%s: %s'", line, value);
    reply->fields[reply->field_count].name = line;
    reply->fields[reply->field_count++].value = value;
}

/* It says so itself (RFC 9110 7.6.3); the fields are another server's then. */
static bool is_relayed(const struct reply *reply)
{
    return reply_field(reply, "Via") != NULL;
}

/* No field of ours may come twice, but for these lists. */
static void check_twice(const struct reply *reply)
{
    for (size_t i = 0; i < reply->field_count; i++) {
        const char *name = reply->fields[i].name;

        if (reply_field(reply, name) != reply->fields[i].value &&
            (is_relayed(reply) ? strcasecmp(name, "Content-Length") == 0
                               : strcasecmp(name, "Vary") != 0 &&
                                     strcasecmp(name, "Allow") != 0))
            flunk("%u with two fields '%s'", reply->status, name);
    }
}

/* What a status promises (RFC 9110 15), and what every answer has. */
static void check_promises(const struct reply *reply)
{
    static const struct {
        unsigned status;
        const char *name;
    } promises[] = {{206, "Content-Type"},
                    {301, "Location"},
                    {304, "ETag"},
                    {405, "Allow"},
                    {416, "Content-Range"}};
    const char *range = reply_field(reply, "Content-Range");
    const char *sniff = reply_field(reply, "X-Content-Type-Options");

    if (reply->status < 200)
        return;
    /* RFC 9110 6.6.1: those of 5xx may come without a date. */
    if (!reply_field(reply, "Date") && reply->status < 500)
        flunk("%u without Date", reply->status);
    if (reply_field(reply, "Date"))
        http_date(reply_field(reply, "Date"));
    if (is_relayed(reply))
        return;
    if (sniff ? strcmp(sniff, "nosniff") != 0
              : reply_field(reply, "Content-Type") != NULL)
        flunk("%u without nosniff", reply->status);
    for (size_t i = 0; i < sizeof(promises) / sizeof(*promises); i++)
        if (reply->status == promises[i].status &&
            !reply_field(reply, promises[i].name))
            flunk("%u without %s", reply->status, promises[i].name);
    if (reply->status == 416 && strncmp(range, "bytes */", 8) != 0)
        flunk("416 with '%s'", range);
    if (range && reply->status != 416 && reply->status != 206)
        flunk("%u with Content-Range", reply->status);
}

static void choose_framing(struct reply *reply, bool to_head)
{
    const char *length = reply_field(reply, "Content-Length");
    const char *coding = reply_field(reply, "Transfer-Encoding");
    bool has_none = reply->status < 200 || reply->status == 204;
    char *end;

    if (has_none && (length || coding))
        flunk("%u announces a body", reply->status);
    if (length && coding)
        flunk("%u with length and coding", reply->status);
    if (coding && (strcasecmp(coding, "chunked") != 0 || reply->status == 304))
        flunk("%u with coding '%s'", reply->status, coding);
    if (length) {
        reply->length = strtoull(length, &end, 10);
        if (*end || end == length || *length == '+' || *length == '-')
            flunk("length '%s'", length);
    }
    if (has_none || reply->status == 304 || to_head)
        reply->framing = REPLY_NO_BODY;
    else if (coding)
        reply->framing = REPLY_BY_CHUNKS;
    else if (length)
        reply->framing = REPLY_BY_LENGTH;
    else
        reply->framing = REPLY_BY_CLOSE;
    if (reply->framing == REPLY_BY_CLOSE &&
        !reply_lists(reply, "Connection", "close"))
        flunk("%u: nothing tells where the body ends", reply->status);
}

/* False: more is needed. */
static bool parse_head(struct reply *reply, const char *data, size_t len,
                       bool to_head)
{
    const char *end = memmem(data, len, "\r\n\r\n", 4);
    char *line = reply->text;
    size_t head_len = end ? (size_t)(end - data) + 2 : 0;

    if (!end) {
        if (len >= REPLY_HEAD_MAX)
            flunk("no end of the head: '%.200s'", data);
        return false;
    }
    if (head_len >= REPLY_HEAD_MAX || memchr(data, '\0', head_len))
        flunk("too long, or a NUL in it: '%.200s'", data);
    memcpy(reply->text, data, head_len);
    reply->text[head_len] = '\0';
    for (bool is_first = true; *line; is_first = false) {
        char *stop = strchr(line, '\n');

        if (stop == line || stop[-1] != '\r')
            flunk("a bare LF: '%s'", line);
        stop[-1] = '\0';
        if (is_first)
            read_status_line(reply, line);
        else
            read_field(reply, line);
        line = stop + 1;
    }
    check_twice(reply);
    check_promises(reply);
    choose_framing(reply, to_head);
    reply->at = reply->head_len = head_len + 2;
    reply->body = data + reply->at;
    return true;
}

/* --- The body ------------------------------------------------------------ */

static size_t read_chunk_size(const char *line, size_t len)
{
    size_t size = 0;

    if (len == 0 || len > 8 || strspn(line, "0123456789abcdefABCDEF") != len)
        flunk("not a chunk size: '%.*s'", (int)len, line);
    for (size_t i = 0; i < len; i++)
        size = size * 16 + (size_t)(line[i] <= '9' ? line[i] - '0'
                                                   : (line[i] | 32) - 'a' + 10);
    return size;
}

/* One step through the chunks. False: more is needed. */
static bool parse_chunk(struct reply *reply, char *data, size_t len)
{
    char *at = data + reply->at;
    size_t left = len - reply->at;
    char *end;
    size_t step;

    switch (reply->chunk_state) {
    case SIZE_LINE:
        end = memmem(at, left, "\r\n", 2);
        if (!end)
            return left > 10 ? flunk("no chunk size: '%.10s'", at),
                   false     : false;
        reply->chunk_left = read_chunk_size(at, (size_t)(end - at));
        reply->at += (size_t)(end - at) + 2;
        reply->chunk_state = reply->chunk_left > 0 ? DATA : TRAILER;
        return true;
    case DATA:
        step = left < reply->chunk_left ? left : reply->chunk_left;
        /* The body has been joined up to body_len, before here. */
        memmove((char *)(uintptr_t)reply->body + reply->body_len, at, step);
        reply->body_len += step;
        reply->at += step;
        reply->chunk_left -= step;
        if (reply->chunk_left == 0)
            reply->chunk_state = DATA_END;
        return step > 0;
    case DATA_END:
    default:
        if (left < 2)
            return false;
        if (memcmp(at, "\r\n", 2) != 0)
            flunk("no line end after a chunk, or a trailer: '%.2s'", at);
        reply->at += 2;
        reply->chunk_state = reply->chunk_state == TRAILER ? -1 : SIZE_LINE;
        return true;
    }
}

void reply_begin(struct reply *reply)
{
    reply->status = 0;
    reply->field_count = 0;
    reply->length = 0;
    reply->at = 0;
    reply->body_len = 0;
    reply->chunk_state = SIZE_LINE;
}

size_t reply_parse(struct reply *reply, char *data, size_t len, bool is_all,
                   bool to_head)
{
    if (reply->at == 0 && !parse_head(reply, data, len, to_head))
        return 0;
    switch (reply->framing) {
    case REPLY_NO_BODY:
        return reply->at;
    case REPLY_BY_LENGTH:
        reply->body = data + reply->at;
        reply->body_len = (size_t)reply->length;
        return len - reply->at >= reply->length
                   ? reply->at + (size_t)reply->length
                   : 0;
    case REPLY_BY_CHUNKS:
        reply->body = data + reply->head_len; /* data may have moved */
        while (reply->chunk_state != -1)
            if (!parse_chunk(reply, data, len))
                return 0;
        return reply->at;
    case REPLY_BY_CLOSE:
        reply->body = data + reply->at;
        reply->body_len = len - reply->at;
        return is_all ? len : 0;
    }
    return 0;
}
