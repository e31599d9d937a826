#include "cache/cache_vary.h"

#include "cache/cached_head.h"
#include "http/head_edit.h"

enum { MEMBERS_MAX = 24, WEIGHT_MAX = 1000 };

/* --- Names --------------------------------------------------------------- */

/* Whether the proxy itself sets a field of that name for each client, whatever
 * the client has sent. An answer that varies by such a field is for one client
 * alone. */
static bool is_told_here(struct bytes name)
{
    static const struct bytes names[] = {{"Forwarded", 9},
                                         {"X-Forwarded-For", 15},
                                         {"X-Real-IP", 9},
                                         {"X-Request-Id", 12},
                                         {"traceparent", 11}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_ieq(name, names[i]))
            return true;
    return false;
}

static bool put_name(struct buf *out, struct bytes name, unsigned *count)
{
    if (name.len == 0 || cached_head_is_listed(buf_bytes(out), name))
        return true;
    /* The value of Surrogate-Capability is ours, or is in the key
     * (cache_key.c). */
    if (bytes_ieq(name, BYTES("Surrogate-Capability")))
        return true;
    if (bytes_eq(name, BYTES("*")) || is_told_here(name) ||
        ++*count > CACHE_VARY_NAMES_MAX)
        return false;
    if (out->len > 0)
        buf_put_literal(out, ",");
    for (size_t i = 0; i < name.len; i++) {
        char lower = byte_lower(name.data[i]);

        buf_put(out, (struct bytes){&lower, 1});
    }
    return !out->failed;
}

/* Whether a body in these codings is of use only to clients with a certain
 * dictionary (RFC 9842). */
static bool wants_dictionary(struct bytes codings)
{
    struct bytes coding;

    while (field_next_member(&codings, &coding))
        if (bytes_ieq(coding, BYTES("dcb")) || bytes_ieq(coding, BYTES("dcz")))
            return true;
    return false;
}

bool cache_vary_names(struct bytes lines, struct buf *out)
{
    bool is_for_one_origin = false, is_for_one_dictionary = false;
    struct cached_line line;
    struct bytes member;
    unsigned count = 0;

    while (cached_head_next(&lines, &line)) {
        struct bytes list = line.value;

        if (bytes_ieq(line.name, BYTES("Access-Control-Allow-Origin")))
            is_for_one_origin |= !bytes_eq(line.value, BYTES("*"));
        if (bytes_ieq(line.name, BYTES("Content-Encoding")))
            is_for_one_dictionary |= wants_dictionary(line.value);
        if (!bytes_ieq(line.name, BYTES("Vary")))
            continue;
        while (field_next_member(&list, &member))
            if (!put_name(out, member, &count))
                return false;
    }
    /* Otherwise the first asker's origin would decide who may read the answer,
     * and the first asker's dictionary who can decode it. */
    return (!is_for_one_origin || put_name(out, BYTES("Origin"), &count)) &&
           (!is_for_one_dictionary ||
            put_name(out, BYTES("Available-Dictionary"), &count));
}

/* --- Members with weights ------------------------------------------------ */

struct weighed {
    struct bytes name;
    unsigned weight; /* in thousandths */
};

/* Reads a qvalue (RFC 9110 12.4.2). Returns false when `text` is none. */
static bool read_weight(struct bytes text, unsigned *weight_out)
{
    unsigned unit = WEIGHT_MAX;

    if (text.len == 0 || text.len > 5 ||
        (*text.data != '0' && *text.data != '1') ||
        (text.len > 1 && text.data[1] != '.'))
        return false;
    *weight_out = (unsigned)(*text.data - '0') * unit;
    for (size_t i = 2; i < text.len; i++) {
        unit /= 10;
        if (!byte_is_digit(text.data[i]))
            return false;
        *weight_out += (unsigned)(text.data[i] - '0') * unit;
    }
    return *weight_out <= WEIGHT_MAX;
}

/* Reads a member of a list. Returns false when it has more than a name and a
 * weight. */
static bool weigh(struct bytes member, struct weighed *out)
{
    const char *end = member.data + member.len;
    const char *semicolon = memchr(member.data, ';', member.len);
    struct bytes rest;

    *out = (struct weighed){.name = member, .weight = WEIGHT_MAX};
    if (semicolon)
        out->name = bytes_trim(bytes_between(member.data, semicolon));
    if (!head_is_token(out->name))
        return false;
    if (!semicolon)
        return true;
    rest = bytes_trim(bytes_between(semicolon + 1, end));
    return rest.len > 2 && byte_lower(rest.data[0]) == 'q' &&
           rest.data[1] == '=' &&
           read_weight((struct bytes){rest.data + 2, rest.len - 2},
                       &out->weight);
}

static int compare_names(struct bytes a, struct bytes b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int difference = byte_lower(a.data[i]) - byte_lower(b.data[i]);

        if (difference != 0)
            return difference;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

/* Orders members: heavier ones first, then by name. */
static bool comes_before(const struct weighed *a, const struct weighed *b)
{
    return a->weight != b->weight ? a->weight > b->weight
                                  : compare_names(a->name, b->name) < 0;
}

static size_t sort_in(struct weighed *list, size_t count, struct weighed one)
{
    size_t at = count;

    for (; at > 0 && comes_before(&one, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = one;
    return count + 1;
}

/* Takes all lines of that name apart. Returns false when there are too many
 * members to order, or one is malformed. The variant then has the lines as they
 * came, because nobody knows what the origin makes of them. */
static bool read_weighed(const struct request *request, struct bytes name,
                         bool by_name, struct weighed list[MEMBERS_MAX],
                         size_t *count_out)
{
    *count_out = 0;
    for (unsigned i = 0; i < request->field_count; i++) {
        struct bytes values = request->fields[i].value;
        struct bytes member;

        if (!bytes_ieq(request->fields[i].name, name))
            continue;
        while (field_next_member(&values, &member)) {
            struct weighed one;

            if (member.len == 0)
                continue;
            if (!weigh(member, &one) || *count_out == MEMBERS_MAX)
                return false;
            if (by_name)
                one.weight = one.weight > 0 ? WEIGHT_MAX : 0;
            *count_out = sort_in(list, *count_out, one);
        }
    }
    return true;
}

static void put_lower(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char lower = byte_lower(text.data[i]);

        buf_put(out, (struct bytes){&lower, 1});
    }
}

static void put_weighed(struct buf *out, const struct weighed *list,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_lower(out, list[i].name);
        if (list[i].weight < WEIGHT_MAX) {
            buf_put_literal(out, ";");
            buf_put_number(out, list[i].weight);
        }
        buf_put_literal(out, ",");
    }
}

/* --- Values -------------------------------------------------------------- */

/* Puts lines joined by commas, without white space around their members. Quoted
 * text is not changed. */
static void put_plain(struct buf *out, const struct request *request,
                      struct bytes name)
{
    bool is_first = true;

    for (unsigned i = 0; i < request->field_count; i++) {
        struct bytes value = request->fields[i].value;
        struct bytes member;

        if (!bytes_ieq(request->fields[i].name, name))
            continue;
        if (value.len > 0 && memchr(value.data, '"', value.len)) {
            buf_put(out, is_first ? BYTES("=") : BYTES(","));
            buf_put(out, value);
            is_first = false;
            continue;
        }
        while (field_next_member(&value, &member)) {
            buf_put(out, is_first ? BYTES("=") : BYTES(","));
            buf_put(out, member);
            is_first = false;
        }
    }
}

static bool has_field(const struct request *request, struct bytes name)
{
    for (unsigned i = 0; i < request->field_count; i++)
        if (bytes_ieq(request->fields[i].name, name))
            return true;
    return false;
}

static void put_value(struct buf *out, const struct request *request,
                      struct bytes name)
{
    bool is_coding = bytes_eq(name, BYTES("accept-encoding"));
    struct weighed list[MEMBERS_MAX];
    size_t count;

    if ((is_coding || bytes_eq(name, BYTES("accept-language"))) &&
        read_weighed(request, name, is_coding, list, &count)) {
        /* The ':' tells an empty list, which accepts nothing, from a missing
         * one, which accepts anything. It also tells "en;q=0.9", which becomes
         * ":en;900,", from a malformed "en;900,": put_plain() begins that with
         * '='. */
        if (has_field(request, name))
            buf_put_literal(out, ":");
        put_weighed(out, list, count);
    } else {
        put_plain(out, request, name);
    }
    buf_put_literal(out, "\n");
}

/* Whether the request has another field that some origins take for the field
 * `name`. Nobody knows what such an origin makes of both. */
static bool has_twin(const struct request *request, struct bytes name)
{
    for (unsigned i = 0; i < request->field_count; i++)
        if (field_is_called(request->fields[i].name, name) &&
            !bytes_ieq(request->fields[i].name, name))
            return true;
    return false;
}

bool cache_vary_put(struct bytes names, const struct request *request,
                    struct buf *out)
{
    size_t begin = out->len;
    struct bytes name;

    if (names.len == 0)
        return true;
    while (field_next_member(&names, &name)) {
        if (has_twin(request, name))
            return false;
        put_value(out, request, name);
    }
    return !out->failed && out->len - begin <= CACHE_VARIANT_BYTES_MAX;
}

/* --- Codings ------------------------------------------------------------- */

static bool is_coding(struct bytes name)
{
    static const struct bytes names[] = {{"gzip", 4},    {"br", 2},
                                         {"zstd", 4},    {"deflate", 7},
                                         {"dcb", 3},     {"dcz", 3},
                                         {"compress", 8}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_ieq(name, names[i]))
            return true;
    return false;
}

/* Returns a coding's usual name: "x-gzip" means gzip (RFC 9110 8.4.1.3). */
static struct bytes coding_of(struct bytes name)
{
    (void)bytes_take_ieq(&name, BYTES("x-"));
    return name;
}

/* Whether a request accepts a coding. A request without Accept-Encoding accepts
 * none. */
static bool takes(const struct request *request, struct bytes coding)
{
    bool takes_any = false;

    for (unsigned i = 0; i < request->field_count; i++) {
        struct bytes values = request->fields[i].value, member;
        struct weighed one;

        if (request->fields[i].id != FIELD_ACCEPT_ENCODING)
            continue;
        while (field_next_member(&values, &member)) {
            if (member.len == 0 || !weigh(member, &one))
                continue;
            if (bytes_ieq(coding_of(one.name), coding))
                return one.weight > 0;
            takes_any |= bytes_eq(one.name, BYTES("*")) && one.weight > 0;
        }
    }
    return takes_any;
}

bool cache_vary_takes(const struct request *request, struct bytes codings)
{
    struct bytes coding;

    while (field_next_member(&codings, &coding)) {
        coding = coding_of(coding);
        if (is_coding(coding) && !takes(request, coding))
            return false;
    }
    return true;
}

/* --- Languages ----------------------------------------------------------- */

/* Puts a tag in its usual case, as "zh-Hant-TW". A subtag of two letters is in
 * capitals, and one of four begins with a capital, unless it is the first or
 * follows a single letter. */
static void put_tag(struct buf *out, struct bytes tag)
{
    bool is_behind_single = true;

    for (size_t at = 0; at < tag.len;) {
        const char *end = memchr(tag.data + at, '-', tag.len - at);
        size_t len = end ? (size_t)(end - tag.data) - at : tag.len - at;

        for (size_t i = 0; i < len + (end != NULL); i++) {
            char byte = byte_lower(tag.data[at + i]);
            bool is_upper = !is_behind_single &&
                            (len == 2 || (len == 4 && i == 0));

            if (is_upper && byte >= 'a' && byte <= 'z')
                byte = (char)(byte - 'a' + 'A');
            buf_put(out, (struct bytes){&byte, 1});
        }
        is_behind_single = len == 1 || (at > 0 && is_behind_single);
        at += len + 1;
    }
}

/* Puts a weight in its shortest form. */
static void put_qvalue(struct buf *out, unsigned weight)
{
    unsigned unit = WEIGHT_MAX / 10;

    buf_put_literal(out, ";q=0");
    if (weight > 0)
        buf_put_literal(out, ".");
    for (; weight > 0; unit /= 10) {
        buf_put_number(out, weight / unit);
        weight %= unit;
    }
}

bool cache_vary_put_languages(const struct request *request, struct buf *out)
{
    struct weighed list[MEMBERS_MAX];
    size_t count;

    if (!read_weighed(request, BYTES("accept-language"), false, list, &count) ||
        count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_put_literal(out, ",");
        put_tag(out, list[i].name);
        if (list[i].weight < WEIGHT_MAX)
            put_qvalue(out, list[i].weight);
    }
    return !out->failed;
}
