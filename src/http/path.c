#include "http/path.h"

#include <stdint.h>

#include "base/byte_word.h"
#include "http/percent.h"

/* What a byte of a raw path means, as long as the path seems to be usual. */
enum { PLAIN, SLASH, DOT, ODD };

static const uint8_t kinds[256] = {
    ['\0'] = ODD, ['%'] = ODD, ['/'] = SLASH, ['.'] = DOT};

/* Whether a short path is usual. Each byte is looked at by itself. */
static bool is_usual_short(struct bytes raw)
{
    unsigned before = PLAIN;

    for (size_t i = 0; i < raw.len; i++) {
        unsigned kind = kinds[(unsigned char)raw.data[i]];

        if (kind == ODD || (before == SLASH && kind != PLAIN))
            return false;
        before = kind;
    }
    return true;
}

/* Whether eight bytes of a path are usual. `next` is the same text, but begins
 * one byte later. A dot differs from a slash in its lowest bit only. */
static bool are_usual(uint64_t bytes, uint64_t next)
{
    uint64_t dotted = byte_word_find(next | BYTE_EIGHTFOLD(1), '/');

    return ((byte_word_find(bytes, '/') & dotted) | byte_word_zeros(next) |
            byte_word_find(next, '%')) == 0;
}

/* Whether a path is usual, as nearly all are: nothing to decode, and no segment
 * that is empty or begins with a dot. Some bytes may be looked at twice. */
static bool is_usual(struct bytes raw)
{
    const size_t width = BYTE_WORD;
    const char *at = raw.data;
    const char *end = raw.data + raw.len;

    if (raw.len <= width / 2)
        return is_usual_short(raw);
    if (raw.len <= width)
        return are_usual(byte_word_of_ends(at, raw.len - 1),
                         byte_word_of_ends(at + 1, raw.len - 1));
    for (; (size_t)(end - at) > width + 1; at += width)
        if (!are_usual(byte_word(at), byte_word(at + 1)))
            return false;
    return are_usual(byte_word(end - width - 1), byte_word(end - width));
}

/* Decodes the first segment of *text to `out`, and moves *text to the slash
 * behind the segment, or to the end. Returns the reason for refusing a broken
 * escape, a NUL or an encoded slash. */
static enum reason decode_segment(struct bytes *text, char *out,
                                  size_t *len_out)
{
    const char *at = text->data;
    const char *end = text->data + text->len;
    char *to = out;

    while (at < end && *at != '/') {
        char c = *at++;

        if (c == '%') {
            int value = percent_value(at, end);

            if (value < 0)
                return REASON_TARGET_BYTES;
            if (value == '/')
                return REASON_ENCODED_SLASH;
            c = (char)value;
            at += 2;
        }
        if (c == '\0')
            return REASON_ENCODED_NUL;
        *to++ = c;
    }
    *text = bytes_between(at, end);
    *len_out = (size_t)(to - out);
    return REASON_NONE;
}

/* Whether a segment of the clean path begins with a dot, and is not
 * ".well-known". */
static bool has_hidden(struct bytes clean)
{
    const char *end = clean.data + clean.len;
    const char *slash = clean.data;

    while (slash) {
        const char *begin = slash + 1;
        struct bytes segment;

        slash = memchr(begin, '/', (size_t)(end - begin));
        segment = bytes_between(begin, slash ? slash : end);
        if (segment.len > 0 && *begin == '.' &&
            !bytes_eq(segment, BYTES(".well-known")))
            return true;
    }
    return false;
}

/*
 * Each round takes a slash and the segment behind it. `out` then has a clean
 * directory, "/" or "/.../", and the segment is decoded right behind that. The
 * segment either stays there, and gets its slash in the next round, or is
 * dropped by moving the end back.
 */
static bool clean_unusual(struct bytes raw, char *out, struct path *path_out)
{
    size_t len = 0;

    while (raw.len > 0) {
        const char *segment;
        size_t segment_len;

        raw.data++;
        raw.len--;
        if (len == 0 || out[len - 1] != '/')
            out[len++] = '/';
        segment = out + len;
        path_out->fault = decode_segment(&raw, out + len, &segment_len);
        if (path_out->fault != REASON_NONE)
            return false;
        if (segment_len == 2 && memcmp(segment, "..", 2) == 0) {
            if (len == 1) {
                path_out->fault = REASON_ABOVE_ROOT;
                return false;
            }
            do
                len--;
            while (out[len - 1] != '/');
        } else if (segment_len != 1 || *segment != '.') {
            len += segment_len;
        }
    }
    path_out->clean = (struct bytes){out, len};
    path_out->is_hidden = has_hidden(path_out->clean);
    return true;
}

bool path_clean(struct bytes raw, char *out, struct path *path_out)
{
    path_out->fault = REASON_TARGET_FORM;
    if (raw.len == 0 || *raw.data != '/')
        return false;
    if (!is_usual(raw))
        return clean_unusual(raw, out, path_out);
    *path_out = (struct path){.clean = raw};
    return true;
}

/* Takes the next byte of a path. An encoded ';' or '\' counts as that byte,
 * unless the reading is literal. */
static char take_byte(const char **at, const char *end, bool literally)
{
    char c = *(*at)++;

    if (c == '%' && !literally) {
        int value = percent_value(*at, end);

        if (value == ';' || value == '\\') {
            c = (char)value;
            *at += 2;
        }
    }
    return c;
}

/* Finds the bytes that are ';' or '\\', or may begin an encoded one: '%'. */
static uint64_t find_ambiguous(uint64_t word)
{
    return byte_word_find(word, '%') | byte_word_find(word, ';') |
           byte_word_find(word, '\\');
}

bool path_is_ambiguous(struct bytes raw)
{
    const char *end = raw.data + raw.len;

    if (byte_word_lacks(raw, find_ambiguous))
        return false; /* the usual case */
    for (const char *at = raw.data; at < end;) {
        char c = take_byte(&at, end, false);

        if (c == ';' || c == '\\')
            return true;
    }
    return false;
}

bool path_may_have_authority(struct bytes raw)
{
    return memmem(raw.data, raw.len, "//", 2);
}

unsigned path_find_readings(struct bytes raw)
{
    const char *end = raw.data + raw.len;
    bool has_encoded = false, has_literal = false;
    unsigned found = 0;

    for (const char *at = raw.data; at < end;) {
        const char *from = at;
        char c = take_byte(&at, end, false);

        if (c != ';' && c != '\\')
            continue;
        found |= c == ';' ? PATH_WITHOUT_PARAMETERS : PATH_WITH_BACKSLASHES;
        has_encoded |= at - from > 1;
        has_literal |= at - from == 1;
    }
    if (has_encoded && has_literal)
        found |= PATH_LITERALLY;
    if (found & PATH_WITH_BACKSLASHES &&
        (found & PATH_WITHOUT_PARAMETERS || path_may_have_authority(raw)))
        found |= PATH_BACKSLASHES_LAST | PATH_AUTHORITY_LAST;
    /* Without its parameters a path may begin with two slashes. */
    return found != 0 || path_may_have_authority(raw)
               ? found | PATH_WITHOUT_AUTHORITY
               : 0;
}

/* Whether no combination with fewer flags says the same about every path. */
static bool is_distinct(unsigned reading)
{
    const unsigned removals = PATH_WITHOUT_PARAMETERS | PATH_WITHOUT_AUTHORITY;
    const unsigned both = PATH_BACKSLASHES_LAST | removals;

    if (reading & PATH_BACKSLASHES_LAST &&
        !(reading & PATH_WITH_BACKSLASHES && reading & removals))
        return false; /* nothing comes before the backslashes */
    if (reading & PATH_AUTHORITY_LAST && (reading & both) != both)
        return false; /* nothing comes between them and the authority */
    return !(reading & PATH_LITERALLY) ||
           reading & (PATH_WITHOUT_PARAMETERS | PATH_WITH_BACKSLASHES);
}

unsigned path_next_reading(unsigned found, unsigned reading)
{
    do
        reading = (reading - found) & found; /* counts in these bits only */
    while (reading != 0 && !is_distinct(reading));
    return reading;
}

/*
 * Takes the first authority out of a path, and returns the new end of the path.
 * To some readers a path that begins with two slashes or more refers to another
 * host (RFC 3986 4.2; URL standard 4.4, by which the number of slashes does not
 * matter). If nothing is left, "/" takes the place of the path.
 */
static char *take_authority(char *out, char *end)
{
    char *at = memmem(out, (size_t)(end - out), "//", 2);
    char *host = at;
    char *rest;

    if (!at)
        return end;
    while (host < end && *host == '/')
        host++;
    rest = memchr(host, '/', (size_t)(end - host));
    if (!rest) {
        at[0] = '/';
        return at + 1;
    }
    memmove(at, rest, (size_t)(end - rest));
    return at + (end - rest);
}

/* Writes `raw` to `out` as that reading has it, except that authorities stay.
 * `raw` and `out` may be the same memory. Returns the end of the new text. */
static char *write_as(struct bytes raw, unsigned reading, char *out)
{
    const char *end = raw.data + raw.len;
    bool is_parameter = false;
    char *to = out;

    for (const char *at = raw.data; at < end;) {
        const char *from = at;
        char c = take_byte(&at, end, reading & PATH_LITERALLY);

        if (c == '\\' && reading & PATH_WITH_BACKSLASHES) {
            c = '/';
            from = "/";
        }
        if (c == ';' && reading & PATH_WITHOUT_PARAMETERS)
            is_parameter = true;
        else if (c == '/')
            is_parameter = false;
        if (is_parameter)
            continue;
        *to++ = *from;
        /* Encoded bytes stay encoded, because path_clean() decodes them. */
        for (from++; c != '/' && from < at; from++)
            *to++ = *from;
    }
    return to;
}

bool path_clean_as(struct bytes raw, unsigned reading, char *out,
                   struct path *path_out)
{
    unsigned last = reading & PATH_BACKSLASHES_LAST
                        ? reading & (PATH_WITH_BACKSLASHES | PATH_LITERALLY)
                        : 0;
    bool is_after = last && reading & PATH_AUTHORITY_LAST;
    char *to = write_as(raw, reading & ~(last & PATH_WITH_BACKSLASHES), out);

    if (reading & PATH_WITHOUT_AUTHORITY && !is_after)
        to = take_authority(out, to);
    if (last)
        to = write_as(bytes_between(out, to), last, out);
    if (reading & PATH_WITHOUT_AUTHORITY && is_after)
        to = take_authority(out, to);
    return path_clean(bytes_between(out, to), out, path_out);
}

struct bytes path_replace_slashes(struct bytes raw, char slash, char *out)
{
    const char *end = raw.data + raw.len;
    char *to = out;

    for (const char *at = raw.data; at < end; at++) {
        *to++ = *at;
        if (*at == '%' && percent_value(at + 1, end) == '/') {
            to[-1] = slash;
            at += 2;
        }
    }
    return bytes_between(out, to);
}

static bool is_unreserved(char c)
{
    char lower = byte_lower(c);

    return (lower >= 'a' && lower <= 'z') || byte_is_digit(c) ||
           (c != '\0' && strchr("-._~", c));
}

/* Writes the three characters "%XX" that stand for a byte. */
static char *encode_byte(char *to, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;

    *to++ = '%';
    *to++ = hex[byte >> 4];
    *to++ = hex[byte & 15];
    return to;
}

/* Percent-encodes all bytes except unreserved characters and the bytes in
 * `also`. Returns the length of the result. */
static size_t encode(struct bytes text, const char *also, char *out)
{
    char *to = out;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (is_unreserved(c) || (c != '\0' && strchr(also, c)))
            *to++ = c;
        else
            to = encode_byte(to, c);
    }
    return (size_t)(to - out);
}

void path_put_query(struct bytes query, struct buf *out)
{
    const char *plain = query.data; /* the first byte not appended yet */
    const char *end = query.data + query.len;

    for (const char *at = query.data; at < end; at++) {
        char escape[3];

        if (*at != '#' && (unsigned char)*at < 0x80)
            continue;
        encode_byte(escape, *at);
        buf_put(out, bytes_between(plain, at));
        buf_put(out, (struct bytes){escape, sizeof(escape)});
        plain = at + 1;
    }
    buf_put(out, bytes_between(plain, end));
}

size_t path_encode(struct bytes path, char *out)
{
    return encode(path, "/!$()*+,;=", out); /* not & and ' */
}

size_t path_encode_value(struct bytes text, char *out)
{
    return encode(text, "/", out);
}
