#include "files/dictionary_shelf.h"

#include <assert.h>

struct dictionary_place *dictionary_shelf_find(
    struct dictionary_shelf *shelf, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES])
{
    for (size_t i = 0; i < shelf->count; i++) {
        struct dictionary_place *place = &shelf->places[i];

        if (place->item->rule == rule &&
            memcmp(place->item->hash, hash, DICTIONARY_HASH_BYTES) == 0)
            return place;
    }
    return NULL;
}

/* Returns the index of the oldest dictionary of a rule, or of all rules if
 * `rule` is NULL. Returns shelf->count when there is none. */
static size_t find_oldest(const struct dictionary_shelf *shelf,
                          const uint64_t *rule)
{
    size_t oldest = shelf->count;

    for (size_t i = 0; i < shelf->count; i++) {
        const struct dictionary *item = shelf->places[i].item;

        if ((!rule || item->rule == *rule) &&
            (oldest == shelf->count ||
             item->modified_ns < shelf->places[oldest].item->modified_ns))
            oldest = i;
    }
    return oldest;
}

static size_t count_of(const struct dictionary_shelf *shelf, uint64_t rule)
{
    size_t count = 0;

    for (size_t i = 0; i < shelf->count; i++)
        count += shelf->places[i].item->rule == rule;
    return count;
}

static uint64_t count_bytes(const struct dictionary_shelf *shelf)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < shelf->count; i++)
        bytes += shelf->places[i].item->bytes;
    return bytes;
}

static void let_go(struct dictionary_shelf *shelf, size_t at)
{
    shelf->gone[shelf->gone_count++] = shelf->places[at].item;
    shelf->count--;
    memmove(&shelf->places[at], &shelf->places[at + 1],
            (shelf->count - at) * sizeof(shelf->places[0]));
}

bool dictionary_shelf_wants(struct dictionary_shelf *shelf,
                            const struct dictionary *item)
{
    size_t oldest;

    if (dictionary_shelf_find(shelf, item->rule, item->hash))
        return false;
    if (count_of(shelf, item->rule) <= shelf->versions)
        return true;
    oldest = find_oldest(shelf, &item->rule);
    return item->modified_ns >= shelf->places[oldest].item->modified_ns;
}

void dictionary_shelf_add(struct dictionary_shelf *shelf,
                          struct dictionary *item, bool is_checked)
{
    uint64_t rule = item->rule;

    assert(shelf->gone_count == 0);
    shelf->places[shelf->count++] = (struct dictionary_place){item, is_checked};
    while (count_of(shelf, rule) > shelf->versions + 1)
        let_go(shelf, find_oldest(shelf, &rule));
    while (shelf->count > DICTIONARY_SHELF_MAX ||
           count_bytes(shelf) > DICTIONARY_SHELF_BYTES_MAX)
        let_go(shelf, find_oldest(shelf, NULL));
}

void dictionary_shelf_sort_out(struct dictionary_shelf *shelf)
{
    for (size_t i = shelf->count; i-- > 0;)
        if (dictionary_is_damaged(shelf->places[i].item))
            let_go(shelf, i);
}

struct dictionary *dictionary_shelf_take_gone(struct dictionary_shelf *shelf)
{
    return shelf->gone_count > 0 ? shelf->gone[--shelf->gone_count] : NULL;
}

void dictionary_shelf_fini(struct dictionary_shelf *shelf)
{
    while (shelf->gone_count > 0)
        dictionary_release(dictionary_shelf_take_gone(shelf));
    while (shelf->count > 0)
        dictionary_release(shelf->places[--shelf->count].item);
}
