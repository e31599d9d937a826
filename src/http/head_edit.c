#include "http/head_edit.h"

#include <assert.h>

/* --- Reading ------------------------------------------------------------- */

/* A bit for each byte that a token may have: letters, digits, and
 * "!#$%&'*+-.^_`|~". */
static const uint64_t token_bytes[4] = {0x03FF6CFA00000000, 0x57FFFFFFC7FFFFFE,
                                        0, 0};

bool head_is_token(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (!(token_bytes[c / 64] >> c % 64 & 1))
            return false;
    }
    return text.len > 0;
}

bool head_is_sf_token(struct bytes token)
{
    char first = token.len > 0 ? byte_lower(*token.data) : '\0';

    return (first >= 'a' && first <= 'z') || first == '*';
}

bool head_is_value(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

static bool is_type_field(struct bytes name)
{
    return bytes_ieq(name, BYTES("Content-Type"));
}

/* Whether only the server may set a field of that name. */
static bool is_reserved(struct bytes name)
{
    static const struct bytes reserved[] = {
        {"Connection", 10}, {"Content-Length", 14},    {"Content-Range", 13},
        {"Date", 4},        {"Keep-Alive", 10},        {"Proxy-Connection", 16},
        {"Trailer", 7},     {"Transfer-Encoding", 17}, {"Upgrade", 7},
    };

    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if (bytes_ieq(name, reserved[i]))
            return true;
    return false;
}

/* Takes an edit's text apart: name and value. */
static const char *read_edit(struct head_edit *edit, struct bytes text)
{
    const char *end = text.data + text.len;
    const char *colon = text.len > 0 ? memchr(text.data, ':', text.len) : NULL;
    bool has_value = edit->kind != HEAD_REMOVE;

    if (has_value && !colon)
        return "is not 'Name: value'";
    edit->name = has_value ? bytes_between(text.data, colon) : text;
    edit->value = has_value ? bytes_trim(bytes_between(colon + 1, end))
                            : BYTES("");
    if (!head_is_token(edit->name))
        return "does not begin with the name of a field";
    if (edit->name.len > HEAD_EDIT_NAME_MAX)
        return "has a name longer than 100 bytes";
    if (has_value && edit->value.len == 0)
        return "has no value";
    if (!head_is_value(edit->value))
        return "has a control character in its value";
    if (is_reserved(edit->name))
        return "names a field that only the server itself can write";
    if (is_type_field(edit->name) && edit->kind != HEAD_SET)
        return "names a field that can be set, not added or removed";
    return NULL;
}

const char *head_edits_add(struct head_edits *edits, enum head_edit_kind kind,
                           struct bytes text)
{
    struct head_edit edit = {.kind = kind};
    const char *fault = read_edit(&edit, text);
    size_t bytes = edit.name.len + edit.value.len + 4; /* with ": " and CRLF */

    if (fault)
        return fault;
    if (edits->count == HEAD_EDITS_MAX)
        return "is one edit too many, 32 are allowed";
    if (kind != HEAD_REMOVE) {
        if (bytes > HEAD_EDITS_BYTES_MAX - edits->bytes)
            return "makes edits longer than 8192 bytes in all";
        edits->bytes += bytes;
    }
    edits->edits[edits->count++] = edit;
    return NULL;
}

/* --- Applying ------------------------------------------------------------ */

/* Whether a line is a field of that name. */
static bool is_field(struct bytes line, struct bytes name)
{
    return line.len > name.len && line.data[name.len] == ':' &&
           bytes_ieq((struct bytes){line.data, name.len}, name);
}

/* Returns the line that begins at offset `at` of `head`, with its CRLF. */
static struct bytes line_at(struct bytes head, size_t at)
{
    const char *begin = head.data + at;
    const char *feed;

    assert(head.data);
    feed = memchr(begin, '\n', head.len - at);

    return bytes_between(begin, feed ? feed + 1 : head.data + head.len);
}

struct bytes head_find_next(struct bytes head, size_t *at, struct bytes name)
{
    while (*at < head.len) {
        struct bytes line = line_at(head, *at);

        *at += line.len;
        if (is_field(line, name))
            return bytes_trim(bytes_between(line.data + name.len + 1,
                                            line.data + line.len - 2));
    }
    return (struct bytes){0};
}

struct bytes head_find(struct bytes head, size_t from, struct bytes name)
{
    return head_find_next(head, &from, name);
}

void head_drop(struct buf *head, size_t from, struct bytes name)
{
    size_t kept = from;

    for (size_t at = from; at < head->len;) {
        struct bytes line = line_at(buf_bytes(head), at);

        at += line.len;
        if (is_field(line, name))
            continue;
        if (line.data != head->data + kept)
            memmove(head->data + kept, line.data, line.len);
        kept += line.len;
    }
    head->len = kept;
}

static void put_line(struct buf *head, const struct head_edit *edit)
{
    buf_put(head, edit->name);
    buf_put_literal(head, ": ");
    buf_put(head, edit->value);
    buf_put_literal(head, "\r\n");
}

/* Whether `head` has a Content-Type that may be changed. */
static bool has_free_type(const struct buf *head, size_t from)
{
    static const struct bytes ranges = {"Content-Type: multipart/byteranges",
                                        34};
    bool has_type = false;

    for (size_t at = from; at < head->len;) {
        struct bytes line = line_at(buf_bytes(head), at);

        at += line.len;
        has_type |= is_field(line, BYTES("Content-Type"));
        if (line.len > ranges.len &&
            bytes_ieq((struct bytes){line.data, ranges.len}, ranges))
            return false;
    }
    return has_type;
}

void head_edits_apply(const struct head_edits *edits, struct buf *head,
                      size_t from, bool keeps_type)
{
    for (size_t i = 0; i < edits->count; i++) {
        const struct head_edit *edit = &edits->edits[i];

        if (is_type_field(edit->name) &&
            (keeps_type || !has_free_type(head, from)))
            continue;
        if (edit->kind != HEAD_ADD)
            head_drop(head, from, edit->name);
        if (edit->kind != HEAD_REMOVE)
            put_line(head, edit);
    }
}

struct bytes head_edits_type(const struct head_edits *edits,
                             struct bytes fallback)
{
    for (size_t i = edits ? edits->count : 0; i > 0; i--)
        if (is_type_field(edits->edits[i - 1].name))
            return edits->edits[i - 1].value;
    return fallback;
}
