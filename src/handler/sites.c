#include "handler/sites_priv.h"

#include <stdio.h>

#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/rate_limit.h"
#include "handler/redirect.h"

/* --- Answering ------------------------------------------------------------ */

static void release(void *object)
{
    struct sites *sites = object;

    sites_release(&sites);
}

/* OPTIONS * asks what the server can do, not any of its places (RFC 9110
 * 9.3.7). */
static void answer_all(const struct sites *sites, struct exchange *exchange)
{
    struct response *response = &exchange->response;

    if (exchange->request.method != METHOD_OPTIONS) {
        response_make_error(response, 400, BYTES(""), sites_style(sites));
        return;
    }
    response->status = 204;
    head_begin(&response->head, 204, sites_style(sites));
    head_field(&response->head, BYTES("Allow"), BYTES("GET, HEAD, OPTIONS"));
    response_add_head(response);
}

static struct place *find_place(struct sites *sites, struct exchange *exchange,
                                struct bytes *rest_out)
{
    struct site *site = hosts_find(&sites->hosts, exchange->request.host);
    const struct route *route;

    if (!site)
        site = sites->first;
    route = router_find(&site->router, exchange->path.clean, rest_out);
    return route ? route->place : &site->place;
}

/* Anybody may hide behind an unknown address: those who are denied, too. */
static bool is_welcome(const struct location_options *options,
                       const struct address *peer)
{
    if (peer->family == ADDRESS_UNKNOWN)
        return options->deny.count == 0 && options->allow.count == 0;
    return !cidrs_contain(&options->deny, peer) &&
           (options->allow.count == 0 || cidrs_contain(&options->allow, peer));
}

static void refuse_often(const struct sites *sites, struct response *response,
                         uint32_t wait_s)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "Retry-After: %u\r\n", wait_s);

    response_make_error(response, 429, (struct bytes){line, (size_t)len},
                        sites_style(sites));
}

/* Whether an exchange has been asked for a password already. */
enum admission { ADMISSION_OPEN, ADMISSION_GRANTED, ADMISSION_REFUSED };

/* Whether its address may come in now; else it has been answered. */
static bool may_enter(const struct sites *sites,
                      const struct location_options *options,
                      struct exchange *exchange)
{
    uint32_t wait_s = 0;

    if (!is_welcome(options, exchange->peer)) {
        response_make_error(&exchange->response, 403, BYTES(""),
                            sites_style(sites));
        return false;
    }
    if (options->limiter)
        wait_s = rate_limit_take(options->limiter, exchange->peer,
                                 sites_style(sites)->now->mono_ms);
    if (wait_s == 0)
        return true;
    refuse_often(sites, &exchange->response, wait_s);
    return false;
}

/* Whether it is let in; else it has been answered, or will be resumed. */
static bool admits(const struct sites *sites,
                   const struct location_options *options,
                   struct exchange *exchange)
{
    if (!exchange->has_begun && !may_enter(sites, options, exchange))
        return false;
    return !options->htpasswd ||
           guard_admits(&sites->guard, exchange, options->htpasswd,
                        bytes_of(options->auth_realm));
}

/* Whether its body is, as far as is known, too large; then it is answered. */
static bool has_too_much(const struct sites *sites,
                         const struct location_options *options,
                         struct exchange *exchange)
{
    if (options->body_max == 0 ||
        (exchange->request.content_length <= options->body_max &&
         exchange->body_bytes <= options->body_max))
        return false;
    response_make_error(&exchange->response, 413, BYTES(""),
                        sites_style(sites));
    return true;
}

/* Whether it is let in, if that has not been settled while it waited. */
static bool enters(const struct sites *sites,
                   const struct location_options *options,
                   struct exchange *exchange, enum admission admission)
{
    if (admission == ADMISSION_OPEN)
        return admits(sites, options, exchange);
    if (admission == ADMISSION_REFUSED)
        guard_refuse(&sites->guard, exchange, bytes_of(options->auth_realm));
    return admission == ADMISSION_GRANTED;
}

/* Whether it has been answered by a rule of the place. */
static bool answer_by_rule(const struct sites *sites,
                           const struct location_options *options,
                           struct exchange *exchange)
{
    if (has_too_much(sites, options, exchange))
        return true;
    return options->redirects &&
           redirect_answer(options->redirects, exchange, exchange->path.clean,
                           sites_style(sites));
}

/* What a place says of whatever it answers. A preflight asks before there are
 * credentials, and so comes before all else (Fetch standard 3.2.2). */
static void answer_place(struct sites *sites, struct place *place,
                         struct exchange *exchange, struct bytes rest,
                         enum admission admission)
{
    const struct location_options *options = place->options;
    struct response *response = &exchange->response;

    response->edits = options->edits;
    response->extra_count = 0;
    if (options->cors) {
        if (cors_answer_preflight(options->cors, exchange, sites_style(sites)))
            return;
        cors_describe(options->cors, &exchange->request, response);
    }
    if (enters(sites, options, exchange, admission) &&
        !answer_by_rule(sites, options, exchange))
        place->handler.answer(place->handler.self, exchange, rest);
    if (response->is_error && options->error_pages && place->files)
        error_pages_apply(options->error_pages, sites->cache,
                          static_files_space(place->files), response);
}

/* NULL: none, and the path is one to be cleaned. */
static struct place *find_raw(struct sites *sites, struct bytes raw)
{
    for (size_t i = 0; i < sites->options.mount_count; i++) {
        const struct mount *mount = &sites->options.mounts[i];

        if (mount->is_raw && path_leads(mount->prefix, raw))
            return &sites->mounts[i];
    }
    return NULL;
}

/* The place that its host and path lead to; NULL: that is no path. */
static struct place *route(struct sites *sites, struct exchange *exchange,
                           struct bytes *rest_out)
{
    struct bytes raw = exchange->request.path;
    struct place *place = find_raw(sites, raw);

    if (place) {
        exchange->path = (struct path){.clean = raw};
        *rest_out = raw;
        return place;
    }
    if (raw.len > sizeof(sites->path) ||
        !path_clean(raw, sites->path, &exchange->path))
        return NULL;
    *rest_out = exchange->path.clean;
    return sites->only ? &sites->only->place
                       : find_place(sites, exchange, rest_out);
}

static void answer_path(struct sites *sites, struct exchange *exchange,
                        enum admission admission)
{
    struct bytes rest;
    struct place *place = route(sites, exchange, &rest);

    if (!place)
        response_make_error(&exchange->response, 400, BYTES(""),
                            sites_style(sites));
    else if (place->is_plain)
        place->handler.answer(place->handler.self, exchange, rest);
    else
        answer_place(sites, place, exchange, rest, admission);
}

/* It was not answered when it came. */
void sites_resume(void *sites, struct exchange *exchange, bool is_admitted)
{
    answer_path(sites, exchange,
                is_admitted ? ADMISSION_GRANTED : ADMISSION_REFUSED);
}

/* Once for each exchange. */
static void meet(struct sites *sites, struct exchange *exchange)
{
    sites->refs++;
    exchange->keeper = (struct keeper){.release = release, .object = sites};
    if (sites->options.trust.field != FORWARDED_NONE) {
        exchange->client = forwarded_client(&exchange->request, exchange->peer,
                                            &sites->options.trust);
        exchange->peer = &exchange->client;
    }
}

/* Another configuration may be in force by the time the body is there: that by
 * which it has begun answers it. Passwords are asked for in the end, since that
 * may take a while. */
static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct sites *sites = self;
    struct place *place;

    meet(sites, exchange);
    if (bytes_eq(exchange->request.path, BYTES("*")))
        return;
    place = route(sites, exchange, &rest);
    if (!place || !place->handler.begin)
        return;
    exchange->response.edits = place->options->edits;
    if (!may_enter(sites, place->options, exchange) ||
        answer_by_rule(sites, place->options, exchange))
        return;
    exchange->has_begun = true;
    exchange->body_max = place->options->body_max;
    place->handler.begin(place->handler.self, exchange, rest);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct sites *sites = self;

    (void)rest;
    if (exchange->keeper.object)
        sites = exchange->keeper.object;
    else
        meet(sites, exchange);
    if (bytes_eq(exchange->request.path, BYTES("*")))
        answer_all(sites, exchange);
    else
        answer_path(sites, exchange, ADMISSION_OPEN);
}

struct handler sites_handler(struct sites *sites)
{
    return (struct handler){.answer = answer, .begin = begin, .self = sites};
}

struct file_cache_counts sites_count_files(const struct sites *sites)
{
    return file_cache_count(sites->cache);
}
