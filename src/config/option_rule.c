#include "config/option_rule.h"

#include "base/address.h"
#include "base/host_name.h"
#include "cache/cache_part.h"
#include "config/proxy_rule.h"
#include "config/store_rule.h"
#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/location.h"
#include "handler/rate_limit.h"
#include "handler/redirect.h"
#include "handler/try_files.h"
#include "http/basic_auth.h"
#include "http/rules/cache_rules.h"
#include "http/rules/compress_rules.h"
#include "http/rules/dictionary_rules.h"
#include "http/rules/priority_rules.h"
#include "http/rules/type_rules.h"
#include "upstream/upstream_probe.h"

/* --- The rules: each check reads text into an object that is discarded --- */

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

static const char *check_priority_rule(struct bytes text)
{
    struct priority_rules rules = {0};

    return priority_rules_add(&rules, text);
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

    return store_rule_read(text.data, &prefix, &folder);
}

static const char *check_sync(struct bytes text)
{
    struct kv_lmdb_options options;

    return store_rule_read_sync(text.data, &options);
}

static const char *check_cache(struct bytes text)
{
    return bytes_eq(text, BYTES("memory")) || memchr(text.data, '/', text.len)
               ? NULL
               : "is not memory, off, or a folder with a '/' in its name";
}

static const char *check_bypass(struct bytes text)
{
    struct cache_part part;
    const char *fault = cache_part_read(&part, text);

    return !fault && part.is_out ? "has a '-' before it" : fault;
}

static const char *check_key(struct bytes text)
{
    struct cache_part part;
    const char *fault = cache_part_read(&part, text);

    return !fault && part.kind == CACHE_PART_QUERY && !part.is_out
               ? "is in already: -query:NAME leaves it out"
               : fault;
}

static const char *check_proxy(struct bytes text)
{
    struct proxy_rule rule;

    return proxy_rule_read(&rule, text);
}

static const char *check_tls_name(struct bytes text)
{
    struct address address;

    return host_name_is_valid(text) || address_parse(&address, text)
               ? NULL
               : "is no name of a host, and no address";
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

/* Returns true if `text` is a word such as "yes", by which people mean to
 * enable something. Such a word is not taken as a host. */
static bool is_yes(struct bytes text)
{
    static const char *const words[] = {"on", "yes", "true", "auto"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (bytes_ieq(text, bytes_of(words[i])))
            return true;
    return false;
}

/* Checks a port, or host names separated by commas. */
static const char *check_https(struct bytes text)
{
    const char *end = text.data + text.len;
    unsigned long port = 0;
    size_t digits = 0;

    while (digits < text.len && byte_is_digit(text.data[digits]) &&
           port <= UINT16_MAX)
        port = port * 10 + (unsigned long)(text.data[digits++] - '0');
    if (text.len > 0 && digits == text.len && port <= UINT16_MAX)
        return NULL;
    while (text.data < end) {
        const char *comma = memchr(text.data, ',', text.len);
        struct bytes name = bytes_between(text.data, comma ? comma : end);

        if (name.len == 0 || *name.data == '-' || is_yes(name) ||
            check_host(name))
            break;
        if (!comma)
            return NULL;
        text = bytes_between(comma + 1, end);
    }
    return "is neither a number from 0 to 65535 nor names with commas, nor "
           "off";
}

static const char *check_directory(struct bytes text)
{
    return text.len > 8 && text.len < 1024 &&
                   memcmp(text.data, "https://", 8) == 0
               ? NULL
               : "is no address that begins with https://";
}

static const char *check_challenge(struct bytes text)
{
    static const char *const types[] = {"http-01", "tls-alpn-01", "dns-01",
                                        "dns-persist-01"};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (bytes_eq(text, bytes_of(types[i])))
            return NULL;
    return "is none of http-01, tls-alpn-01, dns-01 and dns-persist-01";
}

static const char *check_coding(struct bytes text)
{
    struct compress_rules rules = {0};

    return bytes_eq(text, BYTES(COMPRESS_OFF))
               ? NULL
               : compress_rules_add_coding(&rules, text);
}

static const char *check_compress_type(struct bytes text)
{
    struct compress_rules rules = {0};

    return compress_rules_add_type(&rules, text);
}

static const char *check_dictionary(struct bytes text)
{
    struct dictionary_rules rules = {0};

    return dictionary_rules_add(&rules, text);
}

static const struct {
    const char *name; /* name of the option */
    const char *(*check)(struct bytes text);
} rules[] = {
    {"https", check_https},
    {"acme-directory", check_directory},
    {"acme-challenge", check_challenge},
    {"cache-control", cache_control_check},
    {"cache-control-for", check_cache_rule},
    {"type", check_type_rule},
    {"priority", check_priority_rule},
    {"compress", check_coding},
    {"compress-types", check_compress_type},
    {"dictionary", check_dictionary},
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
    {"proxy-cache", check_cache},
    {"cache-bypass", check_bypass},
    {"cache-key", check_key},
    {"proxy-name", check_pseudonym},
    {"proxy-tls-name", check_tls_name},
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
