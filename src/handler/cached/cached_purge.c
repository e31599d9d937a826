#include <stdio.h>

#include "cache/cached_head.h"
#include "handler/cached/cached_priv.h"
#include "handler/local.h"

enum { ADDRESS_BYTES_MAX = CACHE_KEY_BYTES_MAX };

/* Puts the tags of all fields that name tags, separated by commas. */
static void put_tags(const struct request *request, struct buf *out)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        if (!cached_head_is_tags(request->fields[i].name))
            continue;
        buf_put(out, request->fields[i].value);
        buf_put_literal(out, ",");
    }
}

static bool is_soft(const struct request *request)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        struct bytes name = request->fields[i].name;

        if (bytes_ieq(name, BYTES("Soft-Purge")) ||
            bytes_ieq(name, BYTES("Fastly-Soft-Purge")))
            return bytes_eq(request->fields[i].value, BYTES("1"));
    }
    return false;
}

static void put_address(const struct cached *cached,
                        const struct request *request, bool is_prefix,
                        struct buf *out)
{
    struct bytes path = request->path;

    for (size_t i = 0; i < request->host.len; i++) {
        char lower = byte_lower(request->host.data[i]);

        buf_put(out, (struct bytes){&lower, 1});
    }
    path.len -= is_prefix;
    buf_put(out, path);
    cache_parts_put_query(&cached->options.key.parts, request->query, out);
}

/* Reads what a request wants to purge, and puts its texts into `tags` and
 * `address`. Returns false if they are too long. */
static bool read_purge(const struct cached *cached,
                       const struct request *request, struct buf *tags,
                       struct buf *address, struct cache_purge *meant)
{
    struct bytes path = request->path;

    *meant = (struct cache_purge){.place = cached->options.key.place,
                                  .is_soft = is_soft(request),
                                  .is_prefix = path.len > 0 &&
                                               path.data[path.len - 1] == '*'};
    put_tags(request, tags);
    put_address(cached, request, meant->is_prefix, address);
    meant->tags = buf_bytes(tags);
    meant->address = buf_bytes(address);
    meant->is_prefix |= tags->len > 0;
    return !tags->failed && !address->failed;
}

/* Returns 0 if the request may purge, or else the status of the refusal. */
static unsigned judge(const struct cached *cached,
                      const struct exchange *exchange,
                      const struct cache_purge *meant)
{
    struct kv_pass pass;

    /* Programs send no Origin. A browser on this machine sends the Origin of
     * its page, which may be anybody's page. */
    if (local_is_sender(exchange, cached->options.trust) &&
        !request_find(&exchange->request, FIELD_ORIGIN))
        return 0;
    if (!cached->options.purgers)
        return 403;
    if (!kv_tokens_find(cached->options.purgers, &exchange->request, &pass))
        return 401;
    return kv_pass_has(&pass, meant->address) ? 0 : 403;
}

static void refuse(const struct cached *cached, struct exchange *exchange,
                   unsigned status)
{
    response_make_error(&exchange->response, status,
                        status == 401 ? BYTES("WWW-Authenticate: Bearer "
                                              "realm=\"cache\"\r\n")
                                      : BYTES(""),
                        cached->options.defaults);
}

static void purge(struct cached *cached, struct exchange *exchange,
                  const struct cache_purge *meant)
{
    char text[48];
    int len = snprintf(text, sizeof(text), "{\"purged\":%zu}\n",
                       cache_store_purge(cached->options.store, meant));

    response_make_short(&exchange->response, 200,
                        BYTES("Cache-Control: no-store\r\n"),
                        BYTES("application/json"),
                        (struct bytes){text, (size_t)len},
                        cached->options.defaults);
}

bool cached_is_purge(const struct request *request)
{
    return request->method == METHOD_OTHER &&
           bytes_eq(request->method_name, BYTES("PURGE"));
}

bool cached_answer_purge(struct cached *cached, struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct cache_purge meant;
    struct buf tags, address;
    unsigned status;

    if (!cached_is_purge(request))
        return false;
    buf_init(&tags, NULL, 0, CACHE_KEY_BYTES_MAX);
    buf_init(&address, NULL, 0, ADDRESS_BYTES_MAX);
    if (!read_purge(cached, request, &tags, &address, &meant))
        status = 431;
    else
        status = judge(cached, exchange, &meant);
    if (status == 0)
        purge(cached, exchange, &meant);
    else
        refuse(cached, exchange, status);
    buf_fini(&tags);
    buf_fini(&address);
    return true;
}
