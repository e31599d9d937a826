#include <stdio.h>

#include "kv/redis/kv_redis_node_priv.h"

enum {
    POLYNOMIAL = 0x1021, /* CRC-16/XMODEM, as the specification says */
    PORT_MAX = 65535,
    SLOTS_EACH = KV_REDIS_SLOTS / KV_REDIS_PARTITIONS
};

/* --- Partitions ----------------------------------------------------------- */

/* Computes bit by bit: a key of 511 bytes takes about 4 us, a usual key 0.1
 * us. */
static unsigned crc16(struct bytes text)
{
    unsigned crc = 0;

    for (size_t i = 0; i < text.len; i++) {
        crc ^= (unsigned)(unsigned char)text.data[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0);
        crc &= 0xFFFF;
    }
    return crc;
}

unsigned kv_redis_slot(struct bytes text)
{
    return crc16(text) % KV_REDIS_SLOTS;
}

unsigned kv_redis_partition(struct bytes key)
{
    const char *end = key.data + key.len;
    const char *open = key.len > 0 ? memchr(key.data, '{', key.len) : NULL;
    const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;

    if (close && close > open + 1)
        key = bytes_between(open + 1, close);
    return crc16(key) % KV_REDIS_PARTITIONS;
}

void kv_partitions_init(struct kv_partitions *partitions)
{
    unsigned found = 0;

    *partitions = (struct kv_partitions){0};
    for (unsigned n = 0; found < KV_REDIS_PARTITIONS; n++) {
        char tag[KV_REDIS_TAG_BYTES];
        int len = snprintf(tag, sizeof(tag), "%u", n);
        unsigned slot = kv_redis_slot((struct bytes){tag, (size_t)len});
        unsigned partition = slot / SLOTS_EACH;

        if (partitions->tags[partition][0] != '\0')
            continue;
        memcpy(partitions->tags[partition], tag, sizeof(tag));
        partitions->slots[partition] = (uint16_t)slot;
        found++;
    }
}

/* --- Where they are ------------------------------------------------------- */

static bool read_node(struct bytes host, uint64_t port,
                      const struct address *asked, struct address *node_out)
{
    /* an empty host means the node that answered */
    struct address node = *asked;

    if (host.len > 0 && !address_parse(&node, host))
        return false;
    if (port == 0 || port > PORT_MAX)
        return false;
    node.port = (uint16_t)port;
    *node_out = node;
    return true;
}

/* Returns the node's IP address from its [pairs]; the address is there if the
 * node is given by its name. */
static struct bytes find_ip(const struct kv_reply *node)
{
    const struct kv_reply *pairs = kv_reply_at(node, 3);

    for (size_t i = 0; i + 1 < kv_reply_count(pairs); i += 2)
        if (bytes_eq(kv_reply_text(kv_reply_at(pairs, i)), BYTES("ip")))
            return kv_reply_text(kv_reply_at(pairs, i + 1));
    return (struct bytes){NULL, 0};
}

/* Reads a range of slots: first, last, then [host, port, id, [pairs]] of the
 * master and of each replica. */
static void read_range(struct kv_slot_map *map,
                       const struct kv_partitions *partitions,
                       const struct kv_reply *range,
                       const struct address *asked)
{
    const struct kv_reply *master = kv_reply_at(range, 2);
    struct bytes host = kv_reply_text(kv_reply_at(master, 0));
    struct address node;
    uint64_t first, last, port;

    if (!kv_reply_number(kv_reply_at(range, 0), &first) ||
        !kv_reply_number(kv_reply_at(range, 1), &last) ||
        !kv_reply_number(kv_reply_at(master, 1), &port))
        return;
    if (!read_node(host, port, asked, &node) &&
        (find_ip(master).len == 0 ||
         !read_node(find_ip(master), port, asked, &node)))
        return;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        if (partitions->slots[i] < first || partitions->slots[i] > last)
            continue;
        map->has[i] = true;
        map->nodes[i] = node;
    }
}

bool kv_slot_map_read(struct kv_slot_map *map,
                      const struct kv_partitions *partitions,
                      const struct kv_reply *reply, const struct address *asked)
{
    *map = (struct kv_slot_map){0};
    if (kv_reply_kind(reply) != KV_REPLY_LIST)
        return false;
    for (size_t i = 0; i < kv_reply_count(reply); i++)
        read_range(map, partitions, kv_reply_at(reply, i), asked);
    return true;
}

bool kv_redis_read_redirect(struct bytes text, const struct address *asked,
                            struct address *node_out)
{
    const char *space = memrchr(text.data, ' ', text.len);
    const char *colon = memrchr(text.data, ':', text.len);
    const char *end = text.data + text.len;
    uint64_t port;

    if (!space || !colon || colon < space ||
        !kv_redis_read_number(bytes_between(colon + 1, end), &port))
        return false;
    return read_node(bytes_between(space + 1, colon), port, asked, node_out);
}
