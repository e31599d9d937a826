#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "files/file_cache_priv.h"

/* Returns the key of a rule in one site. A site does not use the dictionaries
 * of other sites, even if the rules are the same: a delta would tell clients
 * something about a dictionary that they may not see. */
static uint64_t key_of(const struct file_entry *entry,
                       const struct dictionary_rule *rule)
{
    return XXH3_64bits_withSeed(rule->text, rule->text_len, entry->space->site);
}

/* --- Keeping ------------------------------------------------------------- */

void file_cache_note_dictionary(struct file_cache *cache,
                                struct file_entry *entry)
{
    struct dictionary_note note = {.stamp = entry->stamp, .fd = entry->fd};

    if (entry->is_noted || !entry->is_cached || entry->is_young ||
        !cache->options.dictionaries)
        return;
    if (entry->is_snapshot)
        note.text = file_entry_body(entry);
    note.rule = key_of(entry, entry->dictionary_made);
    entry->is_noted = dictionary_store_note(cache->options.dictionaries, &note);
}

/* --- Deltas -------------------------------------------------------------- */

static struct file_delta *find_delta(struct file_variants *variants,
                                     const uint8_t hash[DICTIONARY_HASH_BYTES])
{
    for (size_t i = 0; i < variants->delta_count; i++) {
        struct file_delta *delta = &variants->deltas[i];

        if (delta->is_used &&
            memcmp(delta->hash, hash, sizeof(delta->hash)) == 0)
            return delta;
    }
    return NULL;
}

/* Returns a place for another delta: an unused place or, if there is none, the
 * place of the delta that was asked for longest ago. That delta is dropped. */
static struct file_delta *take_place(struct file_cache *cache,
                                     struct file_variants *variants)
{
    struct file_delta *taken = &variants->deltas[0];

    for (size_t i = 0; i < variants->delta_count; i++) {
        struct file_delta *delta = &variants->deltas[i];

        if (!delta->is_used)
            return delta;
        if (delta->variant.asked_ms < taken->variant.asked_ms)
            taken = delta;
    }
    if (taken->variant.entry)
        file_cache_forget(cache, taken->variant.entry);
    memset(taken, 0, sizeof(*taken));
    return taken;
}

/* Returns the place of the delta from the dictionary with the hash `hash`, and
 * sets *dictionary_out to a reference for the caller. Returns NULL, without a
 * reference, if the delta is hopeless, if it was asked for a moment ago, or if
 * the dictionary is not found. */
static struct file_delta *prepare(struct file_cache *cache,
                                  struct file_entry *entry,
                                  const uint8_t hash[DICTIONARY_HASH_BYTES],
                                  struct dictionary **dictionary_out)
{
    struct file_delta *delta = find_delta(entry->variants, hash);
    uint64_t now_ms = cache->now->mono_ms;

    if (delta && (delta->is_hopeless ||
                  now_ms - delta->variant.asked_ms < FILE_VARIANT_ASK_MS))
        return NULL;
    *dictionary_out =
        dictionary_store_find(cache->options.dictionaries,
                              key_of(entry, entry->dictionary_used), hash);
    if (!*dictionary_out)
        return NULL;
    if (!delta) {
        delta = take_place(cache, entry->variants);
        delta->is_used = true;
        memcpy(delta->hash, hash, sizeof(delta->hash));
    }
    delta->variant.asked_ms = now_ms;
    return delta;
}

static struct file_entry *fetch(struct file_cache *cache,
                                struct file_entry *entry,
                                struct file_delta *delta,
                                struct dictionary *dictionary)
{
    struct compress_order order = {
        .coding = CODING_DCZ, .effort = CODEC_QUICK, .dictionary = dictionary};
    struct file_entry *variant = NULL;
    struct coded_body *body;
    bool fits = true;

    switch (file_cache_order(cache, entry, &order, &body)) {
    case COMPRESSOR_READY:
        variant = file_cache_put_variant(cache, entry, &delta->variant,
                                         CODING_DCZ, body, &fits);
        delta->is_hopeless = !fits;
        break;
    case COMPRESSOR_HOPELESS:
        delta->is_hopeless = true;
        break;
    case COMPRESSOR_LATER:
    case COMPRESSOR_REFUSED:
        break;
    }
    if (variant)
        variant->is_final = true;
    return variant;
}

struct file_entry *file_cache_delta(struct file_cache *cache,
                                    struct file_entry *entry,
                                    const uint8_t hash[DICTIONARY_HASH_BYTES])
{
    struct dictionary *dictionary;
    struct file_entry *variant;
    struct file_delta *delta;

    if (!file_cache_variants(entry))
        return NULL;
    delta = find_delta(entry->variants, hash);
    if (delta && delta->variant.entry) {
        file_cache_hit(cache, delta->variant.entry);
        return delta->variant.entry;
    }
    delta = prepare(cache, entry, hash, &dictionary);
    if (!delta)
        return NULL;
    variant = fetch(cache, entry, delta, dictionary);
    dictionary_release(dictionary);
    return variant;
}
