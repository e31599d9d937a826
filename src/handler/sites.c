#include "handler/sites.h"

#include <assert.h>
#include <stdlib.h>

#include "handler/hosts.h"
#include "handler/router.h"
#include "handler/static_files.h"
#include "http/http1.h"

/* A location, or what a site does elsewhere. */
struct place {
    struct handler handler;
    struct static_files *files; /* NULL: it serves none */
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
    struct hosts hosts;
    struct site *first;    /* for hosts that nobody has */
    struct site *only;     /* the only one, if it has no routes; else NULL */
    struct place **places; /* all of them */
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

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct sites *sites = self;
    struct bytes raw = exchange->request.path;
    struct place *place;

    sites->refs++;
    exchange->keeper = (struct keeper){.release = release, .object = sites};
    if (raw.len == 1 && *raw.data == '*') {
        answer_all(sites, exchange);
        return;
    }
    if (raw.len > sizeof(sites->path) ||
        !path_clean(raw, sites->path, &exchange->path)) {
        response_make_error(&exchange->response, 400, BYTES(""),
                            style_of(sites));
        return;
    }
    rest = exchange->path.clean;
    place = sites->only ? &sites->only->place
                        : find_place(sites, exchange, &rest);
    place->handler.answer(place->handler.self, exchange, rest);
}

struct handler sites_handler(struct sites *sites)
{
    return (struct handler){.answer = answer, .self = sites};
}

struct file_cache_counts sites_count_files(const struct sites *sites)
{
    return file_cache_count(sites->cache);
}

/* --- Coming --------------------------------------------------------------- */

static bool furnish(struct sites *sites, struct place *place,
                    const struct location_options *options)
{
    struct static_files_options files = {
        .cache = sites->cache,
        .style = style_of(sites),
        .space = {.root = docroots_find(sites->options.roots,
                                        options->alias ? options->alias
                                                       : options->root,
                                        options->follow_symlinks),
                  .cache_control = bytes_of(options->cache_control
                                                ? options->cache_control
                                                : "")},
        .send_method = sites->options.cache.send_method,
        .is_alias = options->alias != NULL,
        .autoindex = options->autoindex,
        .show_hidden = options->show_hidden};
    struct place **places = arena_grow(&sites->arena, sites->places,
                                       sites->place_count, sizeof(*places));

    assert(files.space.root);
    if (!places)
        return false;
    sites->places = places;
    places[sites->place_count++] = place;
    place->files = static_files_create(&files);
    if (!place->files)
        return false;
    place->handler = static_files_handler(place->files);
    return true;
}

static bool add_status(struct sites *sites, struct site *site)
{
    struct place *place;

    if (sites->options.status_prefix.len == 0)
        return true;
    place = arena_take(&sites->arena, sizeof(*place));
    if (!place)
        return false;
    place->handler = sites->options.status;
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
    struct site_options all = {.options = *sites->options.location};
    const struct site_options *options = sites->options.sites;
    size_t count = sites->options.site_count;
    bool has_default = false;

    if (count == 0) {
        options = &all;
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
    for (size_t i = 0; i < sites->place_count; i++)
        static_files_destroy(sites->places[i]->files);
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
