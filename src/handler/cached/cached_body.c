#include "handler/cached/cached_priv.h"
#include "handler/encode.h"

static bool is_intact(void *object)
{
    (void)object;
    return true; /* complete bodies never change */
}

static void release_body(void *object)
{
    struct cache_body *body = object;

    cache_body_release(&body);
}

/* Adds a short body compressed as a whole, if it is to be compressed, and
 * returns whether it was added. For HEAD, adds only the fields that GET would
 * get, and returns false. The response must already hold a reference to the
 * body. */
static bool is_coded(struct exchange *exchange, const struct part *part)
{
    struct response *response = &exchange->response;

    if (!response->encode || response->status == 206)
        return false;
    if (!response->is_head)
        return part->kind == PART_MEMORY &&
               encode_add_memory(response->encode, exchange,
                                 (struct bytes){part->at.memory,
                                                (size_t)part->len});
    encode_head(response->encode, exchange);
    return false;
}

/* Adds a long body compressed, read from its file piece by piece, if it is to
 * be compressed. Returns whether it was added. */
static bool is_coded_long(struct cached *cached, struct exchange *exchange,
                          struct cache_body *body, uint64_t first, uint64_t len)
{
    struct response *response = &exchange->response;
    struct source *source;

    if (response->is_head || !encode_wants(response->encode, exchange, len))
        return false;
    source = cached_source_create(cached, exchange, body, first, first + len);
    if (source)
        encode_add_source(response->encode, exchange, source, len);
    return source;
}

/* Adds the head, and `len` bytes of a complete body. */
static void add_whole(struct cached *cached, struct exchange *exchange,
                      struct cache_body *body, uint64_t first, uint64_t len)
{
    struct response *response = &exchange->response;
    struct part part = cache_body_part(body, first, len);

    if ((part.kind != PART_MEMORY || part.len < len) &&
        is_coded_long(cached, exchange, body, first, len))
        return;
    head_number(&response->head, BYTES("Content-Length"), len);
    response->origin = (struct origin){.is_intact = is_intact,
                                       .release = release_body,
                                       .object = cache_body_acquire(body)};
    if ((part.len == len || response->is_head) && is_coded(exchange, &part))
        return;
    response_add_head(response);
    if (response->is_head || response->head.failed)
        return;
    response->body_bytes = len;
    while (len > 0) {
        part = cached_is_mapped(exchange)
                   ? cache_body_part_mapped(body, first, len)
                   : cache_body_part(body, first, len);
        response_add_part(response, part);
        first += part.len;
        len -= part.len;
    }
}

/* Adds a body that is still being filled. `length` may be
 * CACHE_LENGTH_UNKNOWN. */
static void add_filling(struct cached *cached, struct exchange *exchange,
                        struct cache_body *body, uint64_t first,
                        uint64_t length)
{
    struct response *response = &exchange->response;
    bool is_known = length != CACHE_LENGTH_UNKNOWN;
    struct source *source =
        response->is_head
            ? NULL
            : cached_source_create(cached, exchange, body, first,
                                   is_known ? first + length : UINT64_MAX);

    if (!source && !response->is_head)
        response_break_off(response);
    else
        encode_add_source(response->encode, exchange, source,
                          is_known ? length : ENCODE_UNSIZED);
}

void cached_add_body(struct cached *cached, struct exchange *exchange,
                     struct cache_body *body, uint64_t first, uint64_t length)
{
    bool is_whole = body && cache_body_state_of(body) == CACHE_BODY_WHOLE;

    /* The body may have been completed since its length was asked for. */
    if (is_whole && length == CACHE_LENGTH_UNKNOWN)
        length = cache_body_length(body) - first;
    if (!body)
        response_add_head(&exchange->response);
    else if (length == 0 || (is_whole && cache_body_has_from(body, first)))
        add_whole(cached, exchange, body, first, length);
    else /* the source reports an error if bytes are gone */
        add_filling(cached, exchange, body, first, length);
}
