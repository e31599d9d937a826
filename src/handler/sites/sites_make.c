#include "handler/sites/sites_priv.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/tls/tls_context.h"
#include "io/transport.h"

/* --- Making --------------------------------------------------------------- */

/* Answers 404 for a place that has no files. */
static void answer_nothing(void *self, struct exchange *exchange,
                           struct bytes rest)
{
    (void)rest;
    response_make_error(&exchange->response, 404, BYTES(""),
                        sites_defaults(self));
}

static struct bytes text_of(const char *text)
{
    return text ? bytes_of(text) : BYTES("");
}

static struct static_files *make_files(struct place *place)
{
    const struct sites *sites = place->sites;
    const struct location_options *options = place->options;
    struct static_files_options files = {
        .cache = sites->cache,
        .defaults = sites_defaults(sites),
        .space = {.root = docroots_find(sites->options.roots, options->root,
                                        options->follow_symlinks),
                  .index = options->index,
                  .cache_control = text_of(options->cache_control),
                  .cache_rules = options->cache_rules,
                  .type_rules = options->type_rules,
                  .edits = options->edits,
                  .compress = options->compress_rules,
                  .dictionaries = options->dictionary_rules,
                  .prefix = options->strip_prefix ? place->prefix : BYTES(""),
                  .site = place->site->number},
        .trust = &sites->options.trust,
        .encode = {.encoder = sites->options.encoder,
                   .rules = options->compress_rules,
                   .codes_private = options->compress_private},
        .send_method = sites->options.cache.send_method,
        .try_files = options->try_files,
        .strips_prefix = options->strip_prefix,
        .autoindex = options->autoindex,
        .show_hidden = options->show_hidden};

    assert(files.space.root);
    if (place->site->has_locations)
        files.judge = place_judge(place);
    if (files.send_method == SEND_MMAP)
        transport_expect_mappings();
    return static_files_create(&files);
}

static struct respond *make_respond(const struct sites *sites,
                                    const struct location_options *options)
{
    struct respond_options respond = {
        .status = (unsigned)options->respond_status,
        .type = text_of(options->respond_type),
        .text = text_of(options->respond),
        .defaults = *sites_defaults(sites)};

    return respond_create(&respond);
}

/* Initializes a place. If `proxied` is not NULL, that proxy answers in the
 * place; otherwise its files, a fixed text or the statistics do. Returns false
 * when there is no memory. */
static bool init_place(struct site *site, struct place *place,
                       const struct location_options *options,
                       const struct proxied *proxied)
{
    struct sites *sites = site->place.sites;
    struct place **places = arena_grow(&sites->arena, sites->places,
                                       sites->place_count, sizeof(*places));

    if (!places)
        return false;
    sites->places = places;
    places[sites->place_count++] = place;
    place->sites = sites;
    place->site = site;
    place->options = options;
    place->is_proxied = proxied;
    if (proxied && options->compress_proxied && options->compress_rules)
        place->encode = (struct encode){
            .encoder = sites->options.encoder,
            .rules = options->compress_rules,
            .codes_private = options->compress_private};
    place->is_plain = !place->encode.encoder && !options->edits &&
                      !options->error_pages && !options->redirects &&
                      !options->cors && !options->priority_rules &&
                      options->allow.count == 0 && options->deny.count == 0 &&
                      !options->htpasswd && !options->limiter &&
                      options->body_max == 0 && !options->https_redirect &&
                      !options->hsts_line;
    place->handler = (struct handler){.answer = answer_nothing, .self = sites};
    if (options->root) {
        place->files = make_files(place);
        if (!place->files)
            return false;
        place->handler = static_files_handler(place->files);
    }
    if (options->error_pages && place->files)
        place->errors = place_error_source();
    if (proxied) {
        place->handler = options->cache || !proxied->uncached.answer
                             ? proxied->handler
                             : proxied->uncached;
        return true;
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

/* The options of mounts, whose handlers decide who has access. */
static const struct location_options mount_place;

static void make_mounts(struct sites *sites)
{
    for (size_t i = 0; i < sites->options.mount_count; i++)
        sites->mounts[i] = (struct place){
            .handler = sites->options.mounts[i].handler,
            .options = &mount_place,
            .sites = sites,
            .is_plain = true};
}

/* --- Proxies ------------------------------------------------------------- */

/* Adds the site's own proxies. Those of its locations were added before. */
static bool add_proxied(struct sites *sites, struct site *site,
                        const struct site_options *options)
{
    for (size_t i = 0; i < sites->options.proxied_count; i++) {
        const struct proxied *proxied = &sites->options.proxied[i];
        const struct site_location *around;
        struct place *place;

        if (!sites_names_proxied(proxied, &options->options.proxy))
            continue;
        around = sites_find_around(options, proxied->prefix, false);
        place = arena_take(&sites->arena, sizeof(*place));
        if (!place)
            return false;
        place->prefix = proxied->prefix;
        if (!init_place(site, place,
                        around ? &around->options : &options->options, proxied))
            return false;
        router_add(&site->router,
                   &(struct route){.path = proxied->prefix, .place = place});
    }
    return true;
}

/* --- Sites --------------------------------------------------------------- */

/* Adds the mounts to the site's router, except raw mounts, which are looked for
 * before the path is cleaned. */
static void add_mounts(struct sites *sites, struct site *site)
{
    for (size_t i = 0; i < sites->options.mount_count; i++) {
        const struct mount *mount = &sites->options.mounts[i];

        if (!mount->is_raw)
            router_add(&site->router,
                       &(struct route){.path = mount->prefix,
                                       .place = &sites->mounts[i]});
    }
}

static bool add_locations(struct sites *sites, struct site *site,
                          const struct site_options *options)
{
    for (size_t i = 0; i < options->location_count; i++) {
        const struct site_location *location = &options->locations[i];
        struct place *place = arena_take(&sites->arena, sizeof(*place));

        if (!place)
            return false;
        place->prefix = location->path;
        if (!init_place(site, place, &location->options,
                        sites_proxied_of(sites, options, location)))
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

/* Returns a number that identifies a site. The number stays the same after a
 * reload, even if the order of sites changes. */
static uint64_t number_site(const struct site_options *options)
{
    uint64_t number = 0;

    for (size_t i = 0; i < options->hosts.count; i++)
        number = XXH3_64bits_withSeed(options->hosts.items[i],
                                      strlen(options->hosts.items[i]), number);
    return number;
}

static struct site *add_site(struct sites *sites,
                             const struct site_options *options)
{
    struct site *site = arena_take(&sites->arena, sizeof(*site));
    size_t routes = options->location_count + sites->options.mount_count +
                    sites_count_proxied(sites, options);

    if (!site)
        return NULL;
    site->place.sites = sites;
    site->has_locations = options->location_count > 0;
    site->number = number_site(options);
    site->router.routes = arena_take(&sites->arena,
                                     routes * sizeof(struct route));
    if (!site->router.routes)
        return NULL;
    add_mounts(sites, site);
    return add_locations(sites, site, options) &&
                   add_proxied(sites, site, options) &&
                   init_place(site, &site->place, &options->options, NULL) &&
                   add_hosts(sites, site, options)
               ? site
               : NULL;
}

static bool add_sites(struct sites *sites)
{
    const struct site_options *options = sites->options.sites;
    size_t count = sites->options.site_count;
    bool has_default = false;

    make_mounts(sites);
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
        sites->asks_clients |= options[i].options.client_ca != NULL;
    }
    if (count == 1 && sites->first->router.count == 0)
        sites->only = sites->first;
    return true;
}

/* --- Destroying ----------------------------------------------------------- */

static void destroy(struct sites *sites)
{
    for (size_t i = 0; i < sites->place_count; i++) {
        respond_destroy(sites->places[i]->respond);
        static_files_destroy(sites->places[i]->files);
    }
    file_cache_destroy(sites->cache);
    tls_table_release(&sites->options.tls);
    arena_fini(&sites->arena);
    free(sites);
}

struct sites *sites_make(const struct sites_options *options, guard_fn resume)
{
    struct sites *sites = calloc(1, sizeof(*sites));

    if (!sites)
        return NULL;
    sites->options = *options;
    if (options->tls)
        tls_table_acquire(options->tls);
    sites->guard = (struct guard){.client = options->client,
                                  .defaults = sites_defaults(sites),
                                  .resume = resume,
                                  .context = sites};
    sites->refs = 1;
    sites->cache = file_cache_create(&options->cache);
    if (sites->cache && trace_init(&sites->trace) == 0 && add_sites(sites))
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
