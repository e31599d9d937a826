#include "cache/cache_ranges.h"

#include <stdlib.h>

enum { BODY_BYTES = 256 /* what a body takes besides its bytes, roughly */ };

/* --- Content-Range ------------------------------------------------------- */

/* Takes a number of digits only. Returns false when it is too large. */
static bool take_number(struct bytes *text, uint64_t *number_out)
{
    const char *begin = text->data;
    uint64_t number = 0;

    for (; text->len > 0 && byte_is_digit(*text->data);
         text->data++, text->len--)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (unsigned)(*text->data - '0'),
                                   &number))
            return false;
    *number_out = number;
    return text->data > begin;
}

bool cache_ranges_read(struct bytes value, struct range *range_out,
                       uint64_t *length_out)
{
    const struct bytes unit = BYTES("bytes ");

    if (value.len < unit.len ||
        !bytes_ieq((struct bytes){value.data, unit.len}, unit))
        return false;
    value.data += unit.len;
    value.len -= unit.len;
    return take_number(&value, &range_out->first) &&
           bytes_take(&value, BYTES("-")) &&
           take_number(&value, &range_out->last) &&
           bytes_take(&value, BYTES("/")) && take_number(&value, length_out) &&
           value.len == 0 && range_out->first <= range_out->last &&
           range_out->last < *length_out;
}

/* --- Making -------------------------------------------------------------- */

/* Adds the bytes `first` to `last` of a range. Returns false when there are too
 * many ranges. */
static bool put(struct cache_ranges *ranges, const struct cache_range *from,
                uint64_t first, uint64_t last)
{
    if (ranges->count == CACHE_RANGES_MAX)
        return false;
    ranges->ranges[ranges->count++] = (struct cache_range){
        .at = {first, last},
        .skip = from->skip + (first - from->at.first),
        .body = cache_body_acquire(from->body)};
    return true;
}

struct cache_ranges *cache_ranges_create(uint64_t length,
                                         const struct range *range,
                                         struct cache_body *body)
{
    struct cache_ranges *ranges = calloc(1, sizeof(*ranges));
    struct cache_range only = {.at = *range, .body = body};

    if (!ranges)
        return NULL;
    ranges->length = length;
    (void)put(ranges, &only, range->first, range->last);
    return ranges;
}

/* put_before() puts the bytes of a range that lie before the offset `end`, and
 * put_behind() those that lie behind the offset `at`. Both put nothing if there
 * are no such bytes, and return false when there are too many ranges. */
static bool put_before(struct cache_ranges *ranges,
                       const struct cache_range *from, uint64_t end)
{
    uint64_t last = from->at.last < end ? from->at.last : end - 1;

    return from->at.first >= end || put(ranges, from, from->at.first, last);
}

static bool put_behind(struct cache_ranges *ranges,
                       const struct cache_range *from, uint64_t at)
{
    uint64_t first = from->at.first > at ? from->at.first : at + 1;

    return from->at.last <= at || put(ranges, from, first, from->at.last);
}

static bool is_broken(const struct cache_range *range)
{
    return cache_body_state_of(range->body) == CACHE_BODY_BROKEN;
}

/* Puts the range `fresh` among the ranges of `earlier`, in order. Bytes of
 * `earlier` that `fresh` has, too, are left out. */
static bool put_around(struct cache_ranges *to,
                       const struct cache_ranges *earlier,
                       const struct cache_range *fresh)
{
    bool fits = true;

    for (unsigned i = 0; i < earlier->count && fits; i++)
        if (!is_broken(&earlier->ranges[i]))
            fits = put_before(to, &earlier->ranges[i], fresh->at.first);
    fits = fits && put(to, fresh, fresh->at.first, fresh->at.last);
    for (unsigned i = 0; i < earlier->count && fits; i++)
        if (!is_broken(&earlier->ranges[i]))
            fits = put_behind(to, &earlier->ranges[i], fresh->at.last);
    return fits;
}

struct cache_ranges *cache_ranges_join(const struct cache_ranges *earlier,
                                       const struct cache_ranges *fresh,
                                       uint64_t bytes_max)
{
    struct cache_ranges *joined = calloc(1, sizeof(*joined));

    if (!joined)
        return NULL;
    joined->length = fresh->length;
    if (put_around(joined, earlier, &fresh->ranges[0]) &&
        cache_ranges_footprint(joined) <= bytes_max)
        return joined;
    cache_ranges_destroy(joined);
    return NULL;
}

void cache_ranges_destroy(struct cache_ranges *ranges)
{
    for (unsigned i = 0; ranges && i < ranges->count; i++)
        cache_body_release(&ranges->ranges[i].body);
    free(ranges);
}

/* --- What is there ------------------------------------------------------- */

const struct cache_range *cache_ranges_find(const struct cache_ranges *ranges,
                                            uint64_t at)
{
    for (unsigned i = 0; i < ranges->count; i++)
        if (ranges->ranges[i].at.first <= at && at <= ranges->ranges[i].at.last)
            return &ranges->ranges[i];
    return NULL;
}

static bool is_whole(const struct cache_range *range)
{
    return cache_body_state_of(range->body) == CACHE_BODY_WHOLE;
}

bool cache_ranges_has(const struct cache_ranges *ranges,
                      const struct range *wanted)
{
    const struct cache_range *range = cache_ranges_find(ranges, wanted->first);

    if (range && range->at.last >= wanted->last)
        return !is_broken(range);
    while (range && is_whole(range) && range->at.last < wanted->last)
        range = cache_ranges_find(ranges, range->at.last + 1);
    return range && is_whole(range);
}

bool cache_ranges_find_gap(const struct cache_ranges *ranges,
                           struct range *gap_out)
{
    unsigned gaps = 0;
    uint64_t at = 0;

    for (unsigned i = 0; i <= ranges->count; i++) {
        uint64_t next = i < ranges->count ? ranges->ranges[i].at.first
                                          : ranges->length;

        if (at < next) {
            *gap_out = (struct range){at, next - 1};
            gaps++;
        }
        if (i < ranges->count && !is_whole(&ranges->ranges[i]))
            return false;
        at = i < ranges->count ? ranges->ranges[i].at.last + 1 : next;
    }
    return gaps == 1;
}

struct part cache_ranges_part(const struct cache_ranges *ranges, uint64_t at,
                              uint64_t len)
{
    const struct cache_range *range = cache_ranges_find(ranges, at);
    uint64_t there = range ? range->at.last - at + 1 : 0;

    if (there == 0)
        return part_of_memory(BYTES(""));
    return cache_body_part(range->body, range->skip + (at - range->at.first),
                           len < there ? len : there);
}

/* --- Room ---------------------------------------------------------------- */

/* Whether the body of range i is counted with an earlier range already. One
 * range that was cut in two gives two ranges with one body. */
static bool is_counted(const struct cache_ranges *ranges, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (ranges->ranges[k].body == ranges->ranges[i].body)
            return true;
    return false;
}

/* Adds up the bytes that the ranges take, with or without spooled bodies. A
 * body counts with its length, even while it is still on its way to a disk. */
static uint64_t sum(const struct cache_ranges *ranges, bool counts_spooled)
{
    uint64_t bytes = sizeof(*ranges);

    for (unsigned i = 0; i < ranges->count; i++) {
        const struct cache_body *body = ranges->ranges[i].body;

        if (is_counted(ranges, i))
            continue;
        bytes += BODY_BYTES;
        if (counts_spooled || !cache_body_is_spooled(body))
            bytes += cache_body_length(body);
    }
    return bytes;
}

uint64_t cache_ranges_footprint(const struct cache_ranges *ranges)
{
    return sum(ranges, true);
}

uint64_t cache_ranges_memory(const struct cache_ranges *ranges)
{
    return sum(ranges, false);
}
