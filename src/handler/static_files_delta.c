#include "handler/static_files_priv.h"

#include "http/scheme.h"

/* --- Clients that may get deltas ----------------------------------------- */

/* Returns the value of a Host field without port and brackets. */
static struct bytes name_of(struct bytes host)
{
    bool is_ipv6 = host.len > 0 && *host.data == '[';
    const char *end = memchr(host.data, is_ipv6 ? ']' : ':', host.len);

    if (is_ipv6 && end)
        return bytes_between(host.data + 1, end);
    return end ? bytes_between(host.data, end) : host;
}

/* Returns true if the host names the browser's own machine. Browsers trust it
 * as they trust hosts with https. */
static bool is_own_machine(struct bytes host)
{
    static const struct bytes below = {".localhost", 10};
    struct bytes name = name_of(host);
    struct address address;

    if (bytes_ieq(name, BYTES("localhost")))
        return true;
    if (name.len > below.len &&
        bytes_ieq((struct bytes){name.data + name.len - below.len, below.len},
                  below))
        return true;
    return name.len > 0 && address_parse(&address, name) &&
           address_is_local(&address);
}

bool static_files_is_trustworthy(const struct static_files *files,
                                 const struct exchange *exchange)
{
    struct bytes scheme = scheme_of(&exchange->request,
                                    exchange_is_secure(exchange),
                                    exchange->neighbour, files->options.trust);

    return bytes_eq(scheme, BYTES("https")) ||
           is_own_machine(exchange->request.host);
}

/* --- Deltas -------------------------------------------------------------- */

void static_files_put_dictionary(struct buf *head,
                                 const struct file_entry *entry)
{
    if (entry->dictionary_made)
        buf_put(head, dictionary_rule_use(entry->dictionary_made));
    if (entry->dictionary_used)
        buf_put(head, dictionary_rule_link(entry->dictionary_used));
}

static bool is_liked(const struct coding_taste *taste)
{
    int weight = taste->weights[CODING_DCZ];

    for (int i = 0; i < CODING_COUNT; i++)
        if (taste->weights[i] > weight)
            return false;
    return weight > 0;
}

struct file_entry *static_files_find_delta(struct static_files *files,
                                           const struct exchange *exchange,
                                           struct file_entry *entry,
                                           const struct coding_taste *taste)
{
    uint8_t hash[DICTIONARY_HASH_BYTES];

    return is_liked(taste) && dictionary_offer_read(&exchange->request, hash) &&
                   dictionary_offer_is_readable(&exchange->request) &&
                   static_files_is_trustworthy(files, exchange)
               ? file_cache_delta(files->options.cache, entry, hash)
               : NULL;
}
