#include <stdlib.h>

#include "files/file_cache_priv.h"

enum {
    /* A file is compressed once more, with more effort, when its variant was
     * sent so often that the bytes sent are this many times the file's length.
     * By then a smaller variant would have saved as many bytes as a line of 1
     * Gbit/s, 125 bytes a microsecond, sends while the compressing takes place.
     *
     *   brotli 11   0.75 us for a byte of text, saves 14 %   125 * 0.75 / 0.14
     *   zstd 19     0.22                              5 %    125 * 0.22 / 0.05
     *   gzip 12     0.13                              4 %    125 * 0.13 / 0.04
     *
     * By Zipf's law there is always another file that has just been sent so
     * often: with 10 instead of 700, half of the processor time of replies was
     * spent on compressing, for ever. */
    SLOW_WORTH = 700,
    SLOW_ASK_USES = 8, /* uses between two questions to the compressor */
    /* A variant may take at most a quarter of the cache. */
    CACHE_PART = 4
};

/* --- Orders -------------------------------------------------------------- */

enum compressor_answer file_cache_order(struct file_cache *cache,
                                        const struct file_entry *entry,
                                        struct compress_order *order,
                                        struct coded_body **body_out)
{
    order->stamp = entry->stamp;
    order->fd = entry->fd;
    if (entry->is_snapshot && entry->stamp.bytes <= COMPRESSOR_TEXT_BYTES_MAX)
        order->text = file_entry_body(entry);
    else if (entry->fd < 0) /* a snapshot that is too long to be copied */
        return COMPRESSOR_HOPELESS;
    return compressor_ask(cache->options.compressor, order, cache->now->mono_ms,
                          body_out);
}

static enum compressor_answer ask(struct file_cache *cache,
                                  const struct file_entry *entry,
                                  enum coding coding, enum codec_effort effort,
                                  struct coded_body **body_out)
{
    struct compress_order order = {.coding = coding, .effort = effort};

    return file_cache_order(cache, entry, &order, body_out);
}

/* --- Variants ------------------------------------------------------------ */

/* Lays out a variant's body. A short body is copied behind its head, so that
 * both leave in one piece; a long body is shared by all workers. */
static bool lay_body(struct file_cache *cache, struct file_entry *variant)
{
    struct coded_body *coded = variant->coded;
    bool is_short = coded->len <= cache->options.snapshot_bytes;

    if (!file_entry_write_block(variant, &cache->options,
                                is_short ? coded->len : 0))
        return false;
    if (!is_short)
        return true;
    memcpy(variant->block + variant->head_len + 2, coded->bytes, coded->len);
    variant->is_snapshot = true;
    variant->coded = NULL;
    coded_body_release(coded);
    return true;
}

/* Makes a variant of `body`, which is taken over. The caller gets one
 * reference, or NULL when there is no memory. */
static struct file_entry *make_variant(struct file_cache *cache,
                                       const struct file_entry *entry,
                                       enum coding coding,
                                       struct coded_body *body)
{
    struct file_entry *variant =
        file_entry_create(entry->space,
                          (struct bytes){entry->path, entry->path_len}, coding,
                          cache->now->mono_ms);

    if (!variant) {
        coded_body_release(body);
        return NULL;
    }
    variant->kind = FILE_REGULAR;
    variant->type = entry->type;
    variant->stamp = entry->stamp;
    variant->stamp.bytes = body->len;
    variant->plain_bytes = entry->stamp.bytes;
    variant->dictionary_made = entry->dictionary_made;
    variant->dictionary_used = entry->dictionary_used;
    variant->coded = body;
    if (lay_body(cache, variant))
        return variant;
    file_entry_release(variant);
    return NULL;
}

struct file_entry *file_cache_put_variant(struct file_cache *cache,
                                          struct file_entry *entry,
                                          struct file_variant *place,
                                          enum coding coding,
                                          struct coded_body *body,
                                          bool *fits_out)
{
    struct file_entry *before = place->entry;
    struct file_entry *variant;

    *fits_out = body->len <= cache->options.bytes_max / CACHE_PART;
    if (!*fits_out) {
        coded_body_release(body);
        return NULL;
    }
    variant = make_variant(cache, entry, coding, body);
    if (!variant)
        return NULL;
    if (before)
        file_cache_forget(cache, before);
    *fits_out = file_cache_keep_variant(cache, entry, place, variant);
    return variant;
}

/* Makes a variant of `body`, and puts it into the cache. If the cache has no
 * room for it, the variant is not asked for again. */
static struct file_entry *keep(struct file_cache *cache,
                               struct file_entry *entry, enum coding coding,
                               struct coded_body *body)
{
    bool fits;
    struct file_entry *variant =
        file_cache_put_variant(cache, entry, &entry->variants->codings[coding],
                               coding, body, &fits);

    if (!fits)
        entry->codable &= ~(1u << coding);
    if (variant)
        variant->is_final = coding != CODING_BR &&
                            variant->plain_bytes <= CODEC_SHORT_BYTES;
    return variant;
}

static struct file_entry *fetch(struct file_cache *cache,
                                struct file_entry *entry, enum coding coding)
{
    struct coded_body *body;

    switch (ask(cache, entry, coding, CODEC_QUICK, &body)) {
    case COMPRESSOR_READY:
        return keep(cache, entry, coding, body);
    case COMPRESSOR_HOPELESS:
        entry->codable &= ~(1u << coding);
        break;
    case COMPRESSOR_LATER:
    case COMPRESSOR_REFUSED:
        break;
    }
    return NULL;
}

/* --- With more effort ---------------------------------------------------- */

static bool is_worth_effort(const struct file_entry *variant)
{
    return !variant->is_final && variant->uses % SLOW_ASK_USES == 0 &&
           variant->uses * variant->stamp.bytes >=
               SLOW_WORTH * variant->plain_bytes;
}

/* Asks for a variant that is smaller than `variant`. Returns the smaller one
 * when it exists, and otherwise `variant`. Takes over the reference to
 * `variant`. */
static struct file_entry *improve(struct file_cache *cache,
                                  struct file_entry *entry,
                                  struct file_entry *variant)
{
    struct file_entry *smaller = NULL;
    struct coded_body *body;

    switch (ask(cache, entry, variant->coding, CODEC_SLOW, &body)) {
    case COMPRESSOR_READY:
        if (body->len < variant->stamp.bytes)
            smaller = keep(cache, entry, variant->coding, body);
        else
            coded_body_release(body);
        variant->is_final = true;
        break;
    case COMPRESSOR_HOPELESS:
        variant->is_final = true;
        break;
    case COMPRESSOR_LATER:
    case COMPRESSOR_REFUSED:
        break;
    }
    if (!smaller)
        return variant;
    smaller->is_final = true;
    file_entry_release(variant);
    return smaller;
}

/* --- For handlers -------------------------------------------------------- */

struct file_variants *file_cache_variants(struct file_entry *entry)
{
    size_t deltas = entry->dictionary_used ? FILE_DELTAS_MAX : 0;

    if (!entry->is_cached || entry->is_young)
        return NULL;
    if (!entry->variants) {
        entry->variants = calloc(1, sizeof(*entry->variants) +
                                        deltas * sizeof(struct file_delta));
        if (entry->variants)
            entry->variants->delta_count = deltas;
    }
    return entry->variants;
}

struct file_entry *file_cache_variant(struct file_cache *cache,
                                      struct file_entry *entry,
                                      enum coding coding)
{
    uint64_t now_ms = cache->now->mono_ms;
    struct file_entry *variant = entry->variants
                                     ? entry->variants->codings[coding].entry
                                     : NULL;

    if (variant) {
        file_cache_hit(cache, variant);
        variant->uses++;
        return is_worth_effort(variant) ? improve(cache, entry, variant)
                                        : variant;
    }
    if (!file_cache_variants(entry) ||
        now_ms - entry->variants->codings[coding].asked_ms <
            FILE_VARIANT_ASK_MS)
        return NULL;
    entry->variants->codings[coding].asked_ms = now_ms;
    return fetch(cache, entry, coding);
}

unsigned file_entry_variants(const struct file_entry *entry)
{
    unsigned there = 0;

    for (int i = CODING_IDENTITY + 1; entry->variants && i < CODING_COUNT; i++)
        if (entry->variants->codings[i].entry)
            there |= 1u << i;
    return there;
}

enum coding file_entry_smallest(const struct file_entry *entry, unsigned among)
{
    enum coding smallest = CODING_IDENTITY;
    uint64_t bytes = UINT64_MAX;

    for (int i = CODING_IDENTITY + 1; i < CODING_COUNT; i++) {
        const struct file_entry *variant;

        if (!(among & 1u << i))
            continue;
        variant = entry->variants->codings[i].entry;
        if (variant->stamp.bytes < bytes) {
            bytes = variant->stamp.bytes;
            smallest = (enum coding)i;
        }
    }
    return smallest;
}

void file_cache_note_saved(struct file_cache *cache,
                           const struct file_entry *variant)
{
    cache->coded++;
    cache->saved_bytes += variant->plain_bytes - variant->stamp.bytes;
}
