#include "config/option_compare.h"

static bool are_texts_equal(const struct texts *texts,
                            const struct texts *others)
{
    size_t i = 0;

    while (i < texts->count && i < others->count &&
           strcmp(texts->items[i], others->items[i]) == 0)
        i++;
    return i == texts->count && i == others->count;
}

static bool are_cidrs_equal(const struct cidrs *cidrs,
                            const struct cidrs *others)
{
    return cidrs->count == others->count &&
           (cidrs->count == 0 ||
            memcmp(cidrs->items, others->items,
                   cidrs->count * sizeof(cidrs->items[0])) == 0);
}

bool option_is_equal(const void *base, const void *other,
                     const struct option_row *row)
{
    const void *at = (const char *)base + row->offset;
    const void *there = (const char *)other + row->offset;
    const char *text, *other_text;

    switch (row->kind) {
    case OPTION_SWITCH:
        return *(const bool *)at == *(const bool *)there;
    case OPTION_NUMBER:
    case OPTION_BYTES:
    case OPTION_TIME:
    case OPTION_CHOICE:
    case OPTION_RATE:
        return memcmp(at, there, sizeof(uint64_t)) == 0;
    case OPTION_TEXT:
    case OPTION_PROSE:
    case OPTION_PATH:
    case OPTION_FORMAT:
        memcpy(&text, at, sizeof(text));
        memcpy(&other_text, there, sizeof(other_text));
        return text && other_text ? strcmp(text, other_text) == 0
                                  : text == other_text;
    case OPTION_PREFIX:
        return bytes_eq(*(const struct bytes *)at,
                        *(const struct bytes *)there);
    case OPTION_TEXTS:
    case OPTION_PATHS:
        return are_texts_equal(at, there);
    case OPTION_CIDRS:
        return are_cidrs_equal(at, there);
    }
    return false;
}
