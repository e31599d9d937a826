#include "config/mounts.h"
#include "config/proxies.h"
#include "config/proxy_rule.h"

/* Whether requests to one site may reach both proxies. A list at the top level
 * is inherited by all sites without a list of their own. */
static bool are_neighbours(const struct proxy_told *one,
                           const struct proxy_told *other)
{
    const struct texts *list = one->site ? &one->site->options.proxy
                                         : &one->options->location.proxy;

    return one->site == other->site || list->items == other->list->items;
}

static bool is_exact(const struct proxy_told *told)
{
    return told->location && told->location->is_exact;
}

/* Whether keys or statistics are mounted at `prefix` or above it. */
static bool is_mount(const struct options *options, struct bytes prefix)
{
    struct mount_told mount;

    return mounts_find(options, prefix, &mount);
}

static bool is_taken(const struct proxy_told *told, struct bytes prefix)
{
    struct proxy_told other = {.options = told->options};
    struct proxy_rule rule;

    while (proxy_told_next(&other) && other.text != told->text)
        if (are_neighbours(told, &other) &&
            is_exact(told) == is_exact(&other) &&
            !proxy_told_read(&other, &rule) && bytes_eq(rule.prefix, prefix))
            return true;
    return !is_exact(told) && is_mount(told->options, prefix);
}

const char *proxies_check(const struct options *options,
                          struct proxy_told *told_out)
{
    struct proxy_rule rule;
    size_t servers = 0;

    *told_out = (struct proxy_told){.options = options};
    while (proxy_told_next(told_out)) {
        const char *fault = proxy_told_read(told_out, &rule);

        if (fault)
            return fault;
        if (is_taken(told_out, rule.prefix))
            return "has a prefix that is taken already";
        servers += rule.count;
        if (servers > PROXIES_SERVERS_MAX)
            return "is beyond 256 servers of all proxies";
    }
    return NULL;
}

bool proxies_need_trust(const struct options *options)
{
    struct proxy_told told = {.options = options};
    struct proxy_rule rule;

    while (proxy_told_next(&told))
        for (size_t i = 0; !proxy_told_read(&told, &rule) && i < rule.count;
             i++)
            if (rule.servers[i].is_tls)
                return true;
    return false;
}
