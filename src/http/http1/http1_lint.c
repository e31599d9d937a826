#include "base/byte_word.h"
#include "http/http1/http1_priv.h"

/* clang-format off */
const uint8_t http1_byte_sets[256] = {
     0,  0,  0,  0,  0,  0,  0,  0,  0,  2,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     2, 15,  6,  3, 15, 31, 15, 15, 14, 14, 15, 15, 14, 15, 15,  6,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  6, 14,  6, 14,  6,  6,
     6, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  6,  6,  6,  7, 15,
     7, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  6,  7,  6, 15,  0,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
     2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
};
/* clang-format on */

/* Whether the only control bytes among eight bytes are tabs. This slow way is
 * for the few values that have a tab. */
__attribute__((noinline)) static bool is_tabbed_word(const char *at)
{
    return http1_all_in((struct bytes){at, sizeof(uint64_t)}, IN_VALUE);
}

static bool is_value_word(const char *at)
{
    return byte_word_controls(byte_word(at)) == 0 || is_tabbed_word(at);
}

/* Some of the last eight bytes may be looked at twice, which costs less than
 * looking at the last bytes one by one. */
bool http1_is_value(struct bytes text)
{
    const char *end = text.data + text.len;

    if (text.len < sizeof(uint64_t))
        return http1_all_in(text, IN_VALUE);
    for (; (size_t)(end - text.data) > sizeof(uint64_t);
         text.data += sizeof(uint64_t))
        if (!is_value_word(text.data))
            return false;
    return is_value_word(end - sizeof(uint64_t));
}

static bool is_hex(char c)
{
    return byte_is_digit(c) || (byte_lower(c) >= 'a' && byte_lower(c) <= 'f');
}

bool http1_escapes_are_valid(struct bytes text)
{
    const char *at = text.data;
    const char *end = text.data + text.len;

    while ((at = memchr(at, '%', (size_t)(end - at)))) {
        if (end - at < 3 || !is_hex(at[1]) || !is_hex(at[2]))
            return false;
        at += 3;
    }
    return true;
}

/* A minor version higher than we know counts as the highest that we know (RFC
 * 9110 2.5). */
enum reason http1_check_version(struct bytes version)
{
    if (version.len != 8 || memcmp(version.data, "HTTP/", 5) != 0 ||
        !byte_is_digit(version.data[5]) || version.data[6] != '.' ||
        !byte_is_digit(version.data[7]))
        return REASON_REQUEST_LINE;
    return version.data[5] == '1' ? REASON_NONE : REASON_VERSION;
}

/* Sets the high bit of each byte that is not IN_TARGET or begins an escape. The
 * result is 0 exactly when there is no such byte. */
static uint64_t find_odd(uint64_t word)
{
    uint64_t below = (word - BYTE_EIGHTFOLD('!')) & ~word;

    return ((word | below) & BYTE_EIGHTFOLD(0x80)) |
           byte_word_find(word, 0x7F) | byte_word_find(word, '#') |
           byte_word_find(word, '%');
}

/* Whether `text` has no white space. */
static bool is_one_word(struct bytes text)
{
    return !memchr(text.data, ' ', text.len) &&
           !memchr(text.data, '\t', text.len);
}

/* The path is checked strictly, because all its readers must read the same. The
 * query belongs to the application, and browsers send what people type: a '%'
 * that begins no escape, '#', plain UTF-8. So a query may have every byte that
 * cannot end the target. In HTTP/2 a space does not end the target, and a query
 * may have spaces. */
bool http1_is_target(struct bytes target)
{
    const char *end = target.data + target.len;
    const char *mark;
    struct bytes query;

    if (byte_word_lacks(target, find_odd) || /* the usual case */
        (http1_all_in(target, IN_TARGET) && http1_escapes_are_valid(target)))
        return true;
    mark = memchr(target.data, '?', target.len);
    if (!mark)
        return false;
    query = bytes_between(mark + 1, end);
    target = bytes_between(target.data, mark);
    return http1_all_in(target, IN_TARGET) && http1_escapes_are_valid(target) &&
           http1_is_value(query) && is_one_word(query);
}

enum reason http1_check_request_line(struct bytes line)
{
    const char *end = line.data + line.len;
    const char *at = line.data;
    const char *target;

    while (at < end && http1_is_in(*at, IN_TOKEN))
        at++;
    if (at == line.data || at == end || *at != ' ')
        return REASON_REQUEST_LINE;
    target = ++at;
    at = memchr(at, ' ', (size_t)(end - at));
    if (!at || at == target)
        return REASON_REQUEST_LINE;
    if (!http1_is_target(bytes_between(target, at)))
        return REASON_TARGET_BYTES;
    return http1_check_version(bytes_between(at + 1, end));
}

/* Checks name ":" value, without white space at the beginning or before the
 * colon. The line's CR stands behind the line, so that reading the name stops
 * there. */
static enum reason check_field_line(struct bytes line)
{
    const char *end = line.data + line.len;
    const char *at = line.data;

    while (http1_is_in(*at, IN_TOKEN))
        at++;
    if (at == line.data || *at != ':' ||
        !http1_is_value(bytes_between(at + 1, end)))
        return REASON_FIELD_LINE;
    return REASON_NONE;
}

/* Returns why a first line that is too long is refused. If no method has ended
 * within the limit, the method is none that anybody knows (RFC 9112 3). */
static enum reason reason_of_length(const struct http1_rules *rules,
                                    const char *line)
{
    return memchr(line, ' ', rules->first_bytes_max) ? REASON_TARGET_TOO_LONG
                                                     : REASON_METHOD;
}

/* Checks the part of a line that has come: it has no control byte, and CR only
 * where LF may follow. So a line with a fault is refused before its end has
 * come. */
static enum reason check_partial(const struct http1_rules *rules,
                                 const struct http1_progress *progress,
                                 const char *data, size_t len)
{
    const char *end = data + len;

    if (len > progress->checked && end[-1] == '\r')
        end--; /* the CR belongs to the line's end */
    if (!http1_is_value(bytes_between(data + progress->checked, end)))
        return REASON_CONTROL_BYTE;
    if (progress->lines == 0 &&
        end - (data + progress->line) > rules->first_bytes_max)
        return reason_of_length(rules, data + progress->line);
    return len - progress->start > rules->head_bytes_max ? REASON_HEAD_TOO_LARGE
                                                         : REASON_NONE;
}

static enum reason check_line(const struct http1_rules *rules,
                              struct http1_progress *progress,
                              struct bytes line)
{
    if (progress->lines > REQUEST_FIELDS_MAX) /* replies have the same limit */
        return REASON_TOO_MANY_FIELDS;
    if (progress->lines++ > 0)
        return check_field_line(line);
    progress->start = (uint16_t)progress->line;
    return line.len > rules->first_bytes_max
               ? reason_of_length(rules, line.data)
               : rules->check_first(line);
}

/* Returns why a complete line is refused. A control byte goes before any other
 * reason, because it is found first when the line comes in parts. */
static enum reason fault_in(struct bytes line, enum reason reason)
{
    return http1_is_value(line) ? reason : REASON_CONTROL_BYTE;
}

enum http1_verdict http1_find_end(const struct http1_rules *rules,
                                  struct http1_progress *progress,
                                  const char *data, size_t len,
                                  size_t *used_out, enum reason *reason_out)
{
    const char *lf;

    while ((lf = memchr(data + progress->checked, '\n',
                        len - progress->checked))) {
        struct bytes line = bytes_between(data + progress->line, lf);

        if (line.len == 0 || line.data[line.len - 1] != '\r') {
            *reason_out = fault_in(line, REASON_LINE_END);
            return HTTP1_BAD;
        }
        line.len--;
        *used_out = (size_t)(lf - data) + 1;
        if (line.len == 0 && progress->lines > 0) {
            *reason_out = REASON_HEAD_TOO_LARGE;
            return *used_out - progress->start > rules->head_bytes_max
                       ? HTTP1_BAD
                       : HTTP1_DONE;
        }
        *reason_out = REASON_NONE;
        if (line.len > 0)
            *reason_out = check_line(rules, progress, line);
        else if (progress->line >= 2u * rules->leading_crlf_max)
            *reason_out = REASON_EMPTY_LINES;
        if (*reason_out != REASON_NONE) {
            *reason_out = fault_in(line, *reason_out);
            return HTTP1_BAD;
        }
        progress->line = progress->checked = (uint32_t)*used_out;
    }
    *reason_out = check_partial(rules, progress, data, len);
    if (*reason_out != REASON_NONE)
        return HTTP1_BAD;
    progress->checked = (uint32_t)len;
    if (len > progress->line && data[len - 1] == '\r')
        progress->checked--; /* the CR is checked with what follows */
    return HTTP1_MORE;
}
