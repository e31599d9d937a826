#include "handler/sites.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/guard.h"
#include "handler/hosts.h"
#include "handler/rate_limit.h"
#include "handler/redirect.h"
#include "handler/respond.h"
#include "handler/router.h"
#include "handler/static_files.h"
#include "http/http1.h"

/* A location, or what a site does elsewhere. */
struct place {
    struct handler handler;
    const struct location_options *options;
    struct static_files *files; /* what it serves, or its error pages */
    struct respond *respond;    /* or says; NULL: it does not */
    bool is_plain;              /* there is nothing but the handler */
};

struct site {
    struct place place; /* where no route leads */
    struct router router;
};

struct sites {
    struct sites_options options;
    unsigned refs;
    struct arena arena;
    struct file_cache *cache;
    struct guard guard;
    struct hosts hosts;
    struct site_options all; /* when there are no sites */
    struct site *first;      /* for hosts that nobody has */
    struct site *only;       /* the only one, if it has no routes; else NULL */
    struct place **places;   /* all of them */
    size_t place_count;
    char path[HTTP1_LINE_BYTES_MAX]; /* the clean form of what is asked for */
};

static const struct response_style *style_of(const struct sites *sites)
{
    return &sites->options.cache.style;
}

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
        response_make_error(response, 400, BYTES(""), style_of(sites));
        return;
    }
    response->status = 204;
    head_begin(&response->head, 204, style_of(sites));
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

static bool is_welcome(const struct location_options *options,
                       const struct address *peer)
{
    return !cidrs_contain(&options->deny, peer) &&
           (options->allow.count == 0 || cidrs_contain(&options->allow, peer));
}

static void refuse_often(const struct sites *sites, struct response *response,
                         uint32_t wait_s)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "Retry-After: %u\r\n", wait_s);

    response_make_error(response, 429, (struct bytes){line, (size_t)len},
                        style_of(sites));
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
                            style_of(sites));
        return false;
    }
    if (options->limiter)
        wait_s = rate_limit_take(options->limiter, exchange->peer,
                                 style_of(sites)->now->mono_ms);
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
    response_make_error(&exchange->response, 413, BYTES(""), style_of(sites));
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
                           style_of(sites));
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
        if (cors_answer_preflight(options->cors, exchange, style_of(sites)))
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

/* The place that its host and path lead to; NULL: that is no path. */
static struct place *route(struct sites *sites, struct exchange *exchange,
                           struct bytes *rest_out)
{
    struct bytes raw = exchange->request.path;

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
                            style_of(sites));
    else if (place->is_plain)
        place->handler.answer(place->handler.self, exchange, rest);
    else
        answer_place(sites, place, exchange, rest, admission);
}

/* It was not answered when it came. */
static void resume(void *context, struct exchange *exchange, bool is_admitted)
{
    answer_path(context, exchange,
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
        has_too_much(sites, place->options, exchange))
        return;
    exchange->has_begun = true;
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

/* --- Coming --------------------------------------------------------------- */

/* Of a place that has no files. */
static void answer_nothing(void *self, struct exchange *exchange,
                           struct bytes rest)
{
    (void)rest;
    response_make_error(&exchange->response, 404, BYTES(""), style_of(self));
}

static struct bytes text_of(const char *text)
{
    return text ? bytes_of(text) : BYTES("");
}

static struct static_files *make_files(const struct sites *sites,
                                       const struct location_options *options)
{
    struct static_files_options files = {
        .cache = sites->cache,
        .style = style_of(sites),
        .space = {.root = docroots_find(sites->options.roots, options->root,
                                        options->follow_symlinks),
                  .index = options->index,
                  .cache_control = text_of(options->cache_control),
                  .cache_rules = options->cache_rules,
                  .edits = options->edits},
        .send_method = sites->options.cache.send_method,
        .try_files = options->try_files,
        .strips_prefix = options->strip_prefix,
        .autoindex = options->autoindex,
        .show_hidden = options->show_hidden};

    assert(files.space.root);
    return static_files_create(&files);
}

static struct respond *make_respond(const struct sites *sites,
                                    const struct location_options *options)
{
    struct respond_options respond = {
        .status = (unsigned)options->respond_status,
        .type = text_of(options->respond_type),
        .text = text_of(options->respond),
        .style = *style_of(sites)};

    return respond_create(&respond);
}

static bool furnish(struct sites *sites, struct place *place,
                    const struct location_options *options)
{
    struct place **places = arena_grow(&sites->arena, sites->places,
                                       sites->place_count, sizeof(*places));

    if (!places)
        return false;
    sites->places = places;
    places[sites->place_count++] = place;
    place->options = options;
    place->is_plain = !options->edits && !options->error_pages &&
                      !options->redirects && !options->cors &&
                      options->allow.count == 0 && options->deny.count == 0 &&
                      !options->htpasswd && !options->limiter &&
                      options->body_max == 0;
    place->handler = (struct handler){.answer = answer_nothing, .self = sites};
    if (options->root) {
        place->files = make_files(sites, options);
        if (!place->files)
            return false;
        place->handler = static_files_handler(place->files);
    }
    if (options->status_page)
        place->handler = sites->options.status;
    if (options->status_page || !options->respond)
        return true;
    place->respond = make_respond(sites, options);
    if (!place->respond)
        return false;
    place->handler = respond_handler(place->respond);
    return true;
}

/* Who may see it is for the status to say. */
static const struct location_options status_place;

static bool add_status(struct sites *sites, struct site *site)
{
    struct place *place;

    if (sites->options.status_prefix.len == 0)
        return true;
    place = arena_take(&sites->arena, sizeof(*place));
    if (!place)
        return false;
    place->handler = sites->options.status;
    place->options = &status_place;
    place->is_plain = true;
    router_add(&site->router,
               &(struct route){.path = sites->options.status_prefix,
                               .place = place});
    return true;
}

static bool add_locations(struct sites *sites, struct site *site,
                          const struct site_options *options)
{
    for (size_t i = 0; i < options->location_count; i++) {
        const struct site_location *location = &options->locations[i];
        struct place *place = arena_take(&sites->arena, sizeof(*place));

        if (!place || !furnish(sites, place, &location->options))
            return false;
        router_add(&site->router,
                   &(struct route){.path = location->path,
                                   .is_exact = location->is_exact,
                                   .place = place});
    }
    return true;
}

static bool add_hosts(struct sites *sites, struct site *site,
                      const struct site_options *options)
{
    for (size_t i = 0; i < options->hosts.count; i++)
        if (!hosts_add(&sites->hosts, &sites->arena,
                       bytes_of(options->hosts.items[i]), site))
            return false;
    return true;
}

static struct site *add_site(struct sites *sites,
                             const struct site_options *options)
{
    struct site *site = arena_take(&sites->arena, sizeof(*site));
    size_t routes = options->location_count + 1;

    if (!site)
        return NULL;
    site->router.routes = arena_take(&sites->arena,
                                     routes * sizeof(struct route));
    return site->router.routes && add_status(sites, site) &&
                   add_locations(sites, site, options) &&
                   furnish(sites, &site->place, &options->options) &&
                   add_hosts(sites, site, options)
               ? site
               : NULL;
}

static bool add_sites(struct sites *sites)
{
    const struct site_options *options = sites->options.sites;
    size_t count = sites->options.site_count;
    bool has_default = false;

    if (count == 0) {
        sites->all.options = *sites->options.location;
        options = &sites->all;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        struct site *site = add_site(sites, &options[i]);

        if (!site)
            return false;
        if (!sites->first || (options[i].hosts.count == 0 && !has_default))
            sites->first = site;
        has_default |= options[i].hosts.count == 0;
    }
    if (count == 1 && sites->first->router.count == 0)
        sites->only = sites->first;
    return true;
}

/* --- Going ---------------------------------------------------------------- */

static void destroy(struct sites *sites)
{
    for (size_t i = 0; i < sites->place_count; i++) {
        respond_destroy(sites->places[i]->respond);
        static_files_destroy(sites->places[i]->files);
    }
    file_cache_destroy(sites->cache);
    arena_fini(&sites->arena);
    free(sites);
}

struct sites *sites_create(const struct sites_options *options)
{
    struct sites *sites = calloc(1, sizeof(*sites));

    if (!sites)
        return NULL;
    sites->options = *options;
    sites->guard = (struct guard){.desk = options->desk,
                                  .style = style_of(sites),
                                  .resume = resume,
                                  .wake = options->wake,
                                  .context = sites,
                                  .wake_context = options->wake_context};
    sites->refs = 1;
    sites->cache = file_cache_create(&options->cache);
    if (sites->cache && add_sites(sites))
        return sites;
    destroy(sites);
    return NULL;
}

void sites_release(struct sites **sites_ref)
{
    struct sites *sites = *sites_ref;
    void (*on_gone)(void *context);
    void *context;

    *sites_ref = NULL;
    if (!sites || --sites->refs > 0)
        return;
    on_gone = sites->options.on_gone;
    context = sites->options.context;
    destroy(sites);
    if (on_gone)
        on_gone(context);
}
