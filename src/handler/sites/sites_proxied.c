#include "handler/sites/sites_priv.h"

/* Whether a location has its own list of proxies, perhaps an empty one. */
static bool says_proxy(const struct location_options *location,
                       const struct location_options *site)
{
    return location->proxy.items != site->proxy.items;
}

/* Returns true if a location sets itself what answers its requests, and does
 * not inherit this from the site. */
static bool says_what(const struct location_options *location,
                      const struct location_options *site)
{
    return says_proxy(location, site) || location->root != site->root ||
           location->respond != site->respond ||
           location->status_page != site->status_page ||
           location->try_list.items != site->try_list.items;
}

bool sites_names_proxied(const struct proxied *proxied,
                         const struct texts *list)
{
    /* All empty lists have the same items: NULL. */
    return list->count > 0 && proxied->said_in == list->items;
}

/* Returns the proxy in `list` that has the longest prefix of `path`. Returns
 * NULL if no proxy in the list has a prefix of `path`. */
static const struct proxied *find_proxied(const struct sites *sites,
                                          const struct texts *list,
                                          struct bytes path)
{
    const struct proxied *found = NULL;

    for (size_t i = 0; i < sites->options.proxied_count; i++) {
        const struct proxied *proxied = &sites->options.proxied[i];

        if (sites_names_proxied(proxied, list) &&
            path_leads(proxied->prefix, path) &&
            (!found || proxied->prefix.len > found->prefix.len))
            found = proxied;
    }
    return found;
}

const struct site_location *sites_find_around(const struct site_options *site,
                                              struct bytes path, bool has_proxy)
{
    const struct site_location *around = NULL;

    for (size_t i = 0; i < site->location_count; i++) {
        const struct site_location *location = &site->locations[i];

        if (!location->is_exact && path_leads(location->path, path) &&
            (!around || location->path.len > around->path.len) &&
            (!has_proxy || (location->options.proxy.count > 0 &&
                            says_proxy(&location->options, &site->options))))
            around = location;
    }
    return around;
}

/* Returns the proxy of a location that inherits what answers its requests. Of
 * the proxies whose prefixes contain the location's path, this is the one with
 * the longest prefix. */
static const struct proxied *proxied_around(const struct sites *sites,
                                            const struct site_options *site,
                                            struct bytes path)
{
    const struct site_location *around = sites_find_around(site, path, true);
    const struct proxied *proxied = find_proxied(sites, &site->options.proxy,
                                                 path);

    if (!around || (proxied && proxied->prefix.len > around->path.len))
        return proxied;
    return find_proxied(sites, &around->options.proxy, path);
}

const struct proxied *sites_proxied_of(const struct sites *sites,
                                       const struct site_options *site,
                                       const struct site_location *location)
{
    if (says_proxy(&location->options, &site->options))
        return find_proxied(sites, &location->options.proxy, location->path);
    return says_what(&location->options, &site->options)
               ? NULL
               : proxied_around(sites, site, location->path);
}

size_t sites_count_proxied(const struct sites *sites,
                           const struct site_options *site)
{
    size_t count = 0;

    for (size_t i = 0; i < sites->options.proxied_count; i++)
        count += sites_names_proxied(&sites->options.proxied[i],
                                     &site->options.proxy);
    return count;
}
