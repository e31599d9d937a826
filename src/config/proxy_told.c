#include "config/proxy_told.h"

#include <stdio.h>

#include "config/option_table.h"

/* --- Iterating ----------------------------------------------------------- */

/* Whether any site uses the top level's list, as sites without a list of their
 * own do. */
static bool is_top_used(const struct options *options)
{
    for (size_t i = 0; i < options->site_count; i++)
        if (options->sites[i].options.proxy.items ==
            options->location.proxy.items)
            return true;
    return options->site_count == 0;
}

/* Returns the own list of the place that is being visited: the top level, a
 * site or a location. An inherited list counts as empty. */
static const struct texts *find_list(const struct proxy_told *told)
{
    static const struct texts none;
    const struct options *options = told->options;
    const struct texts *list = &options->location.proxy;
    const struct texts *above = list;

    if (told->site_number == 0)
        return is_top_used(options) ? list : &none;
    list = &options->sites[told->site_number - 1].options.proxy;
    if (told->location) {
        above = list;
        list = &told->location->options.proxy;
    }
    return list->items == above->items ? &none : list;
}

/* Moves to the next place that may have a list. Returns false if there are no
 * more. */
static bool go_on(struct proxy_told *told)
{
    const struct options *options = told->options;

    told->item_number = 0;
    if (told->site && told->location_number < told->site->location_count) {
        told->location = &told->site->locations[told->location_number++];
        return true;
    }
    if (told->site_number == options->site_count)
        return false;
    told->site = &options->sites[told->site_number++];
    told->location = NULL;
    told->location_number = 0;
    return true;
}

bool proxy_told_next(struct proxy_told *told)
{
    do {
        told->list = find_list(told);
        if (told->item_number < told->list->count) {
            told->text = told->list->items[told->item_number++];
            return true;
        }
    } while (go_on(told));
    return false;
}

/* --- Reading a proxy's text ----------------------------------------------- */

/* Whether a path is clean, and can be part of a request line unchanged. */
static bool is_harmless(struct bytes path)
{
    static const char marks[] = "-._~/";

    for (size_t i = 0; i < path.len; i++) {
        char lower = byte_lower(path.data[i]);

        if ((lower < 'a' || lower > 'z') && !byte_is_digit(lower) &&
            !memchr(marks, lower, sizeof(marks) - 1))
            return false;
    }
    return true;
}

const char *proxy_told_read(const struct proxy_told *told,
                            struct proxy_rule *rule)
{
    const char *fault = proxy_rule_read(rule, bytes_of(told->text));

    if (fault)
        return fault;
    if (told->site && strlen(told->site->name) > PROXY_TOLD_SITE_MAX)
        return "is in a site whose name has more than 40 bytes: reports call "
               "it by that";
    if (!told->location)
        return NULL;
    if (rule->has_prefix)
        return "has a PREFIX, which its location's path is: leave it out";
    if (told->list->count > 1)
        return "is not alone: a location asks one proxy, whose servers stand "
               "behind commas";
    rule->prefix = told->location->path;
    if (rule->prefix.len > PROXY_TOLD_PATH_MAX)
        return "is in a location whose path has more than 200 bytes";
    if (rule->path.len > 0 && !is_harmless(rule->prefix))
        return "has a path to take the place of a location's that is not of "
               "letters, digits and \"-._~\"";
    return NULL;
}

void proxy_told_name(const struct proxy_told *told,
                     const struct proxy_rule *rule,
                     char name_out[PROXY_TOLD_LABEL_MAX + 1])
{
    const char *site = told->site ? told->site->name : "";
    bool is_exact = told->location && told->location->is_exact;
    struct bytes path = rule->prefix.len > 0 ? rule->prefix : BYTES("/");

    snprintf(name_out, PROXY_TOLD_LABEL_MAX + 1, "%s%s%s%.*s", site,
             *site ? ":" : "", is_exact ? "= " : "", (int)path.len, path.data);
}

int proxy_told_origin(const struct proxy_told *told)
{
    const struct option_origins *origins = &told->options->origins;

    if (told->site)
        origins = &told->options->site_origins[told->site_number - 1];
    if (told->location)
        origins = &origins->locations[told->location_number - 1];
    return origins->rows[option_number(option_find(BYTES("proxy")))];
}
