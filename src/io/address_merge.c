#include "io/address_merge.h"

#include <assert.h>

static bool is_same(const struct address *a, const struct address *b)
{
    return a->family == b->family &&
           memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

static bool is_unspecified(const struct address *address)
{
    static const uint8_t zeros[sizeof(address->octets)];

    return memcmp(address->octets, zeros, sizeof(zeros)) == 0;
}

/* Puts `address` into a row of ADDRESS_MERGE_MAX, unless the row has it already
 * or is full. */
static void put_once(struct address *row, size_t *count,
                     const struct address *address)
{
    if (*count == ADDRESS_MERGE_MAX)
        return;
    for (size_t i = 0; i < *count; i++)
        if (is_same(&row[i], address))
            return;
    row[(*count)++] = *address;
}

void address_merge_init(struct address_merge *merge, const struct address *old,
                        size_t old_count)
{
    assert(old_count <= ADDRESS_MERGE_MAX);
    *merge = (struct address_merge){.old = old, .old_count = old_count};
}

void address_merge_put(struct address_merge *merge,
                       const struct address *address)
{
    if (is_unspecified(address))
        return;
    for (size_t i = 0; i < merge->old_count; i++) {
        if (is_same(&merge->old[i], address)) {
            merge->is_found[i] = true;
            return;
        }
    }
    if (address->family == ADDRESS_IPV6)
        put_once(merge->ipv6, &merge->ipv6_count, address);
    else
        put_once(merge->ipv4, &merge->ipv4_count, address);
}

/* Lines up the addresses of one family, the old ones before the new ones. */
static size_t line_up(const struct address_merge *merge,
                      enum address_family family,
                      const struct address *row[ADDRESS_MERGE_MAX])
{
    bool is_ipv6 = family == ADDRESS_IPV6;
    const struct address *found = is_ipv6 ? merge->ipv6 : merge->ipv4;
    size_t found_count = is_ipv6 ? merge->ipv6_count : merge->ipv4_count;
    size_t count = 0;

    for (size_t i = 0; i < merge->old_count; i++)
        if (merge->is_found[i] && merge->old[i].family == family)
            row[count++] = &merge->old[i];
    for (size_t i = 0; i < found_count && count < ADDRESS_MERGE_MAX; i++)
        row[count++] = &found[i];
    return count;
}

size_t address_merge_finish(const struct address_merge *merge,
                            struct address out[ADDRESS_MERGE_MAX],
                            bool *is_other_out)
{
    const struct address *ipv6[ADDRESS_MERGE_MAX];
    const struct address *ipv4[ADDRESS_MERGE_MAX];
    size_t ipv6_count = line_up(merge, ADDRESS_IPV6, ipv6);
    size_t ipv4_count = line_up(merge, ADDRESS_IPV4, ipv4);
    size_t count = 0;

    for (size_t i = 0; i < ADDRESS_MERGE_MAX; i++) {
        if (i < ipv6_count && count < ADDRESS_MERGE_MAX)
            out[count++] = *ipv6[i];
        if (i < ipv4_count && count < ADDRESS_MERGE_MAX)
            out[count++] = *ipv4[i];
    }
    *is_other_out = count != merge->old_count;
    for (size_t i = 0; i < count && !*is_other_out; i++)
        *is_other_out = !is_same(&out[i], &merge->old[i]);
    return count;
}
