#include "io/tls/tls_names.h"

static bool has(const struct tls_names *names, struct bytes name)
{
    for (size_t i = 0; i < names->count; i++)
        if (bytes_eq(bytes_of(names->items[i]), name))
            return true;
    return false;
}

static void put(struct tls_names *names, struct bytes name)
{
    char *item;

    if (names->count == TLS_NAMES_MAX || has(names, name))
        return;
    item = names->items[names->count++];
    memcpy(item, name.data, name.len);
    item[name.len] = '\0';
}

void tls_names_add_address(struct tls_names *names,
                           const struct address *address)
{
    char text[ADDRESS_TEXT_MAX];

    put(names, (struct bytes){text, address_format(address, text)});
}

void tls_names_add(struct tls_names *names, struct bytes name)
{
    char lower[HOST_NAME_MAX_BYTES];
    struct address address;

    if (address_parse(&address, name)) {
        tls_names_add_address(names, &address);
        return;
    }
    if (!host_name_is_valid(name))
        return;
    if (name.data[name.len - 1] == '.')
        name.len--;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = byte_lower(name.data[i]);
    put(names, (struct bytes){lower, name.len});
}
