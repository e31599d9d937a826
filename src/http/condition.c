#include "http/condition.h"

#include "http/date.h"

/* entity-tag = [ %s"W/" ] DQUOTE *etagc DQUOTE */
struct tag {
    bool is_weak;
    struct bytes opaque; /* the tag with its quotes; empty: there is none */
};

static bool is_etagc(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte == 0x21 || (byte >= 0x23 && byte != 0x7f);
}

/* Takes an entity tag off the front of *text. */
static bool take_tag(struct bytes *text, struct tag *tag)
{
    size_t begin, at;

    tag->is_weak = text->len >= 2 && memcmp(text->data, "W/", 2) == 0;
    begin = at = tag->is_weak ? 2 : 0;
    if (at == text->len || text->data[at] != '"')
        return false;
    do
        at++;
    while (at < text->len && is_etagc(text->data[at]));
    if (at == text->len || text->data[at] != '"')
        return false;
    at++;
    tag->opaque = (struct bytes){text->data + begin, at - begin};
    *text = (struct bytes){text->data + at, text->len - at};
    return true;
}

static struct tag current_tag(const struct validators *current)
{
    struct bytes text = current->etag;
    struct tag tag;

    return take_tag(&text, &tag) ? tag : (struct tag){0};
}

static bool same_tag(const struct tag *a, const struct tag *b, bool strongly)
{
    return bytes_eq(a->opaque, b->opaque) &&
           !(strongly && (a->is_weak || b->is_weak));
}

/* Whether a list ("*" / #entity-tag) has the tag of `current`. The list begins
 * in `field`, and goes on in further fields with the same id. */
static bool list_matches(const struct request *request,
                         const struct field *field,
                         const struct validators *current, bool strongly)
{
    const struct tag wanted = current_tag(current);
    bool found = false;

    if (bytes_eq(field->value, BYTES("*")))
        return !request_next(request, field);
    for (; field; field = request_next(request, field)) {
        struct bytes rest = bytes_trim(field->value);

        while (rest.len > 0) {
            struct tag tag;

            if (*rest.data == ',') { /* empty members are allowed */
                rest.data++;
                rest.len--;
                rest = bytes_trim(rest);
                continue;
            }
            if (!take_tag(&rest, &tag))
                return false;
            found |= same_tag(&tag, &wanted, strongly);
            rest = bytes_trim(rest);
            if (rest.len > 0 && *rest.data != ',')
                return false;
        }
    }
    return found;
}

static bool find_date(const struct request *request, enum field_id id,
                      int64_t now, int64_t *date_out)
{
    const struct field *field = request_single(request, id);

    return field && date_parse(field->value, now, date_out);
}

enum condition_verdict condition_evaluate(const struct request *request,
                                          const struct validators *current,
                                          int64_t now)
{
    bool reads = request->method == METHOD_GET ||
                 request->method == METHOD_HEAD;
    bool has_date = current->modified != INT64_MIN;
    const struct field *field;
    int64_t date;

    if ((field = request_find(request, FIELD_IF_MATCH))) {
        if (!list_matches(request, field, current, true))
            return CONDITION_FAILED;
    } else if (has_date &&
               find_date(request, FIELD_IF_UNMODIFIED_SINCE, now, &date) &&
               current->modified > date) {
        return CONDITION_FAILED;
    }

    if ((field = request_find(request, FIELD_IF_NONE_MATCH))) {
        if (list_matches(request, field, current, false))
            return reads ? CONDITION_NOT_MODIFIED : CONDITION_FAILED;
    } else if (reads && has_date &&
               find_date(request, FIELD_IF_MODIFIED_SINCE, now, &date) &&
               current->modified <= date) {
        return CONDITION_NOT_MODIFIED;
    }
    return CONDITION_PROCEED;
}

bool condition_range_applies(const struct request *request,
                             const struct validators *current, int64_t now)
{
    const struct tag wanted = current_tag(current);
    const struct field *field = request_single(request, FIELD_IF_RANGE);
    struct bytes value;
    struct tag tag;
    int64_t date;

    if (!field)
        return !request_find(request, FIELD_IF_RANGE);
    value = field->value;
    if (take_tag(&value, &tag))
        return value.len == 0 && same_tag(&tag, &wanted, true);
    return !current->is_date_shared && date_parse(field->value, now, &date) &&
           date == current->modified && date < now;
}
