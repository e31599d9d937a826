#include "server/option_rule.h"

#include "backend/upstream_probe.h"
#include "base/host_name.h"
#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/location.h"
#include "handler/rate_limit.h"
#include "handler/redirect.h"
#include "handler/try_files.h"
#include "http/basic_auth.h"
#include "http/cache_rules.h"
#include "http/type_rules.h"
#include "server/proxy_rule.h"
#include "server/stores.h"

/* --- One rule each, tried on an object that is thrown away ----------------- */

static const char *check_set(struct bytes text)
{
    struct head_edits edits = {0};

    return head_edits_add(&edits, HEAD_SET, text);
}

static const char *check_add(struct bytes text)
{
    struct head_edits edits = {0};

    return head_edits_add(&edits, HEAD_ADD, text);
}

static const char *check_remove(struct bytes text)
{
    struct head_edits edits = {0};

    return head_edits_add(&edits, HEAD_REMOVE, text);
}

static const char *check_cache_rule(struct bytes text)
{
    struct cache_rules rules = {0};

    return cache_rules_add(&rules, text);
}

static const char *check_type_rule(struct bytes text)
{
    struct type_rules rules = {0};

    return type_rules_add(&rules, text);
}

static const char *check_try(struct bytes text)
{
    struct try_files tries = {0};

    return try_files_add(&tries, text);
}

static const char *check_error_page(struct bytes text)
{
    struct error_pages pages = {0};

    return error_pages_add(&pages, text);
}

static const char *check_redirect(struct bytes text)
{
    struct redirect_rules rules = {0};

    return location_add_redirect(&rules, text);
}

static const char *check_origin(struct bytes text)
{
    struct cors cors = {0};

    return cors_add_origin(&cors, text);
}

static const char *check_method(struct bytes text)
{
    struct cors cors = {0};

    return cors_add_method(&cors, text);
}

static const char *check_field(struct bytes text)
{
    struct cors cors = {0};

    return cors_add_field(&cors, text);
}

static const char *check_rate(struct bytes text)
{
    struct rate rate;

    return rate_parse(&rate, text)
               ? NULL
               : "is not a rate such as 10/s, 300/m or 1000/h";
}

static const char *check_realm(struct bytes text)
{
    return basic_auth_realm_is_valid(text) ? NULL : "is too long for a realm";
}

static const char *check_type(struct bytes text)
{
    return head_is_value(text) && memchr(text.data, '/', text.len)
               ? NULL
               : "is not a media type such as text/html";
}

static const char *check_index(struct bytes text)
{
    return memchr(text.data, '/', text.len) || text.len > 255
               ? "is not the name of a file"
               : NULL;
}

static const char *check_store(struct bytes text)
{
    struct bytes prefix;
    const char *folder;

    return stores_read(text.data, &prefix, &folder);
}

static const char *check_sync(struct bytes text)
{
    struct kv_lmdb_options options;

    return stores_read_sync(text.data, &options);
}

static const char *check_proxy(struct bytes text)
{
    struct proxy_rule rule;

    return proxy_rule_read(&rule, text);
}

static const char *check_balance(struct bytes text)
{
    struct proxy_options options;

    return proxy_rule_read_balance(&options, text);
}

static const char *check_pseudonym(struct bytes text)
{
    return head_is_token(text) && text.len <= PROXY_RULE_NAME_MAX
               ? NULL
               : "is not one word of at most 64 letters, digits and the like";
}

static const char *check_probe(struct bytes text)
{
    return upstream_probe_takes_path(text)
               ? NULL
               : "is not a path such as /health, of at most 1024 bytes";
}

static const char *check_statuses(struct bytes text)
{
    unsigned min, max;

    return proxy_rule_read_statuses(text, &min, &max);
}

static const char *check_host(struct bytes text)
{
    if (text.len > 2 && memcmp(text.data, "*.", 2) == 0)
        text = bytes_between(text.data + 2, text.data + text.len);
    return text.len > 0 && host_name_is_valid(text)
               ? NULL
               : "is not a host name, or one behind '*.'";
}

static const struct {
    const char *name; /* of the option */
    const char *(*check)(struct bytes text);
} rules[] = {
    {"cache-control", cache_control_check},
    {"cache-control-for", check_cache_rule},
    {"type", check_type_rule},
    {"index", check_index},
    {"try-files", check_try},
    {"error-page", check_error_page},
    {"redirect", check_redirect},
    {"respond-type", check_type},
    {"header-set", check_set},
    {"header-add", check_add},
    {"header-remove", check_remove},
    {"cors-origin", check_origin},
    {"cors-method", check_method},
    {"cors-header", check_field},
    {"cors-expose", check_field},
    {"auth-realm", check_realm},
    {"rate-limit", check_rate},
    {"status-host", check_host},
    {"kv", check_store},
    {"kv-sync", check_sync},
    {"proxy", check_proxy},
    {"proxy-balance", check_balance},
    {"proxy-name", check_pseudonym},
    {"proxy-probe", check_probe},
    {"proxy-probe-status", check_statuses},
};

const char *option_rule_check(const struct option_row *row, struct bytes text)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (strcmp(row->name, rules[i].name) == 0)
            return rules[i].check(text);
    return NULL;
}
