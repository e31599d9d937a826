#include "cache/cache_vary.h"
#include "handler/cached/cached_priv.h"

#include <stdlib.h>

enum {
    ADDED_MAX = 4, /* fields that the cache adds to a request */
    CAPABILITY_BYTES = 128,
    GAP_BYTES = 64
};

/* Puts copied texts one behind the other. */
struct copier {
    char *at;
};

static struct bytes copy(struct copier *copier, struct bytes text)
{
    char *to = copier->at;

    if (!text.data)
        return text;
    if (text.len > 0)
        memcpy(to, text.data, text.len);
    copier->at += text.len;
    return (struct bytes){to, text.len};
}

/* Copies `text` in lower case, as it is in the key (cache/cache_key.h). An
 * answer stored for all clients must not depend on the spelling of one
 * client. */
static struct bytes copy_lower(struct copier *copier, struct bytes text)
{
    char *to = copier->at;

    if (!text.data)
        return text;
    for (size_t i = 0; i < text.len; i++)
        to[i] = byte_lower(text.data[i]);
    copier->at += text.len;
    return (struct bytes){to, text.len};
}

static bool is_lowered(const struct field *field)
{
    return field->id == FIELD_HOST || field->id == FIELD_ACCEPT_ENCODING;
}

/* Returns true for a field with a condition or a range, if the fetch has a
 * condition or range of its own. The client's field is about the client's copy
 * of the answer; the fetch's field is about the stored answer. */
static bool is_left_out(enum field_id id, bool is_condition_ours)
{
    switch (id) {
    case FIELD_IF_NONE_MATCH:
    case FIELD_IF_MODIFIED_SINCE:
    case FIELD_IF_RANGE:
    case FIELD_RANGE:
        return is_condition_ours;
    default:
        return false;
    }
}

/* Returns true for the field in which a client says what it understands. The
 * fetch has such a field of its own, since stored answers go to all clients.
 * Only the field of a trusted proxy stays: it is in the key. */
static bool is_capability(const struct field *field)
{
    return field_is_called(field->name, BYTES("Surrogate-Capability"));
}

static size_t bytes_of_request(const struct request *request)
{
    size_t bytes = request->line.len + request->method_name.len +
                   request->target.len + request->path.len +
                   request->query.len + request->host.len;

    for (unsigned i = 0; i < request->field_count; i++)
        bytes += request->fields[i].name.len + request->fields[i].value.len;
    return bytes;
}

static void put_field(struct request *request, struct bytes name,
                      struct bytes value)
{
    request->fields[request->field_count++] = (struct field){
        .name = name, .value = value, .id = field_identify(name)};
}

/* Notes the first field of each kind. */
static void index_fields(struct request *request)
{
    request->seen = 0;
    for (unsigned i = 0; i < request->field_count; i++) {
        enum field_id id = request->fields[i].id;

        if (id == FIELD_OTHER || request->seen & (1u << id))
            continue;
        request->seen |= 1u << id;
        request->first[id] = (uint8_t)i;
    }
}

static bool is_languages(const struct field *field)
{
    return bytes_ieq(field->name, BYTES("Accept-Language"));
}

/* Joins all lines of Accept-Language into one, which takes no more bytes than
 * the lines. Returns false if the lines must stay as they are. */
static bool put_languages(struct request *to, const struct request *from,
                          struct copier *copier)
{
    size_t bytes = 0;
    struct buf text;

    for (unsigned i = 0; i < from->field_count; i++)
        if (is_languages(&from->fields[i]))
            bytes += from->fields[i].name.len + from->fields[i].value.len;
    if (bytes == 0)
        return false;
    buf_init(&text, copier->at, bytes, bytes);
    if (!cache_vary_put_languages(from, &text))
        return false;
    copier->at += text.len;
    put_field(to, BYTES("Accept-Language"), buf_bytes(&text));
    return true;
}

static void copy_fields(struct request *to, const struct request *from,
                        bool is_condition_ours, bool is_trusted,
                        struct copier *copier)
{
    bool has_languages = put_languages(to, from, copier);

    for (unsigned i = 0; i < from->field_count; i++) {
        const struct field *field = &from->fields[i];

        if ((has_languages && is_languages(field)) ||
            (!is_trusted && is_capability(field)))
            continue;
        if (!is_left_out(field->id, is_condition_ours))
            put_field(to, copy(copier, field->name),
                      is_lowered(field) ? copy_lower(copier, field->value)
                                        : copy(copier, field->value));
    }
}

/* Asks whether the stored answer is still valid (RFC 9111 4.3.1). */
static void put_conditions(struct request *to, const struct cache_facts *facts,
                           struct copier *copier)
{
    if (facts->etag.len > 0)
        put_field(to, BYTES("If-None-Match"), copy(copier, facts->etag));
    if (facts->modified.len > 0)
        put_field(to, BYTES("If-Modified-Since"),
                  copy(copier, facts->modified));
}

/* Asks for the missing part, unless the representation has changed
 * (If-Range). */
static void put_gap(struct request *to, const struct cache_facts *facts,
                    const struct range *gap, struct copier *copier)
{
    struct buf text;

    buf_init(&text, copier->at, GAP_BYTES, GAP_BYTES);
    buf_put_literal(&text, "bytes=");
    buf_put_number(&text, gap->first);
    buf_put_literal(&text, "-");
    buf_put_number(&text, gap->last);
    copier->at += text.len;
    put_field(to, BYTES("Range"), buf_bytes(&text));
    put_field(to, BYTES("If-Range"), copy(copier, facts->etag));
}

/* Adds Surrogate-Capability, which tells the origin which parts of
 * Surrogate-Control this cache understands. */
static void put_capability(struct request *to, struct bytes name,
                           struct copier *copier)
{
    struct buf text;

    if (name.len > CAPABILITY_BYTES / 2)
        return;
    buf_init(&text, copier->at, CAPABILITY_BYTES, CAPABILITY_BYTES);
    buf_put(&text, name);
    buf_put_literal(&text, "=\"Surrogate/1.0\"");
    copier->at += text.len;
    put_field(to, BYTES("Surrogate-Capability"), buf_bytes(&text));
}

static void copy_texts(struct request *to, const struct request *from,
                       struct copier *copier)
{
    to->line = copy(copier, from->line);
    to->method_name = copy(copier, from->method_name);
    to->target = copy(copier, from->target);
    to->path = copy(copier, from->path);
    to->query = copy(copier, from->query);
    to->host = copy_lower(copier, from->host);
}

void *cached_request_make(const struct cached *cached, struct exchange *to,
                          const struct exchange *from,
                          const struct cache_entry *earlier,
                          const struct range *gap)
{
    const struct forwarded_trust *trust = cached->options.trust;
    const struct request *asked = &from->request;
    const struct cache_facts *facts = earlier ? &earlier->facts : NULL;
    size_t fields = asked->field_count + (size_t)ADDED_MAX;
    struct request *request = &to->request;
    struct field *block;
    struct copier copier;

    block = malloc(fields * sizeof(*block) + bytes_of_request(asked) +
                   (facts ? facts->etag.len + facts->modified.len : 0) +
                   CAPABILITY_BYTES + GAP_BYTES);
    if (!block)
        return NULL;
    copier.at = (char *)(block + fields);
    *request = (struct request){.method = asked->method,
                                .minor = 1,
                                .keep_alive = true,
                                .fields = block};
    copy_texts(request, asked, &copier);
    copy_fields(request, asked, earlier,
                trust && forwarded_is_trusted(trust, from->neighbour), &copier);
    if (facts && gap)
        put_gap(request, facts, gap, &copier);
    else if (facts)
        put_conditions(request, facts, &copier);
    put_capability(request, cached->options.name, &copier);
    index_fields(request);
    return block;
}
