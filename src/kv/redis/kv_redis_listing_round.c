#include "kv/redis/kv_redis_listing_priv.h"

void kv_redis_listing_settle(struct kv_redis_listing *listing,
                             enum kv_outcome outcome)
{
    if (outcome != KV_FOUND && listing->outcome == KV_FOUND)
        listing->outcome = outcome;
    if (--listing->waits == 0 && !listing->is_starting)
        listing->on_settled(listing);
}

void kv_redis_listing_start(struct kv_redis_listing *listing,
                            struct kv_redis_call *call)
{
    call->may_repeat = true;
    listing->waits++;
    if (listing->outcome != KV_FOUND ||
        kv_redis_call_start(listing->client, call))
        kv_redis_listing_settle(listing, listing->outcome != KV_FOUND
                                             ? listing->outcome
                                             : call->outcome);
}

/* --- A round -------------------------------------------------------------- */

static void put_run(struct kv_redis_call *call, struct buf *out)
{
    const struct kv_redis_run *run = OWNER_OF(call, struct kv_redis_run, call);
    const struct kv_redis_listing *listing =
        OWNER_OF(run - call->partition, struct kv_redis_listing, runs[0]);

    kv_command_begin(out, 7);
    kv_command_put(out, BYTES("ZRANGEBYLEX"));
    kv_command_put_joined(out, kv_redis_base(call->client, call->partition),
                          BYTES("i"), BYTES(""));
    kv_command_put(out, (struct bytes){listing->min, listing->min_len});
    kv_command_put(out, (struct bytes){listing->max, listing->max_len});
    kv_command_put(out, BYTES("LIMIT"));
    kv_command_put_number(out, 0);
    kv_command_put_number(out, listing->step);
}

/* Whether the key belongs to the listing. If other programs have written keys
 * to the index with a score other than 0, the engine may return keys outside of
 * the range. */
static bool is_asked_for(const struct kv_redis_listing *listing,
                         struct bytes key)
{
    return key.len > 0 && key.len <= KV_KEY_BYTES_MAX &&
           kv_key_begins_with(key, listing->page->prefix);
}

static bool copy_keys(struct kv_redis_listing *listing,
                      struct kv_redis_run *run, const struct kv_reply *reply)
{
    size_t count = kv_reply_count(reply);

    run->is_full = count >= listing->step;
    run->keys = arena_take(&listing->round, (count + 1) * sizeof(*run->keys));
    if (!run->keys)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct bytes key = kv_reply_text(kv_reply_at(reply, i));

        if (!is_asked_for(listing, key))
            continue;
        key.data = arena_text(&listing->round, key);
        if (!key.data)
            return false;
        run->keys[run->count++] = key;
    }
    return true;
}

static void on_run(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_run *run = OWNER_OF(call, struct kv_redis_run, call);
    struct kv_redis_listing *listing =
        OWNER_OF(run - call->partition, struct kv_redis_listing, runs[0]);
    enum kv_outcome outcome = call->outcome;

    if (outcome == KV_FOUND && !copy_keys(listing, run, reply))
        outcome = KV_ERROR;
    kv_redis_listing_settle(listing, outcome);
}

void kv_redis_listing_begin_round(struct kv_redis_listing *listing)
{
    arena_fini(&listing->round);
    listing->rounds++;
    listing->is_starting = true;
    for (unsigned i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct kv_redis_run *run = &listing->runs[i];

        *run = (struct kv_redis_run){
            .call = {.partition = i, .put = put_run, .on_end = on_run}};
        kv_redis_listing_start(listing, &run->call);
    }
    listing->is_starting = false;
}

bool kv_redis_listing_set_range(struct kv_redis_listing *listing,
                                struct bytes after, bool is_prefix)
{
    struct bytes prefix = listing->page->prefix;
    size_t len = after.len;

    listing->min[0] = '(';
    if (len > 0)
        memcpy(listing->min + 1, after.data, len);
    if (kv_key_compare(after, prefix) < 0) {
        listing->min[0] = '[';
        len = prefix.len;
        memcpy(listing->min + 1, prefix.data, len);
    } else if (len == 0) {
        listing->min[0] = '-';
    } else if (is_prefix) {
        listing->min[0] = '[';
        len = kv_key_after_prefix(listing->min + 1, len);
        if (len == 0)
            return false;
    }
    listing->min_len = 1 + len;
    listing->max[0] = '(';
    if (prefix.len > 0)
        memcpy(listing->max + 1, prefix.data, prefix.len);
    listing->max_len = 1 + kv_key_after_prefix(listing->max + 1, prefix.len);
    if (listing->max_len == 1)
        listing->max[0] = '+';
    return true;
}

/* --- Merging -------------------------------------------------------------- */

static struct kv_redis_run *find_least(struct kv_redis_listing *listing)
{
    struct kv_redis_run *least = NULL;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct kv_redis_run *run = &listing->runs[i];

        if (run->at < run->count &&
            (!least ||
             kv_key_compare(run->keys[run->at], least->keys[least->at]) < 0))
            least = run;
    }
    return least;
}

/* Returns true if all keys read from some partition are used up, although the
 * partition may have more keys. The next key of the listing is then unknown. */
static bool is_beyond(const struct kv_redis_listing *listing)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (listing->runs[i].at == listing->runs[i].count &&
            listing->runs[i].is_full)
            return true;
    return false;
}

static void skip_prefix(struct kv_redis_listing *listing, struct bytes prefix)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct kv_redis_run *run = &listing->runs[i];

        while (run->at < run->count &&
               kv_key_begins_with(run->keys[run->at], prefix))
            run->at++;
    }
}

/* Adds `key`, or the common prefix that stands for the key, to the page,
 * without metadata. Returns false if there is no memory. */
static bool tell(struct kv_redis_listing *listing, struct bytes key)
{
    struct kv_page *page = listing->page;
    struct kv_entry entry = {.key = key, .type = {"", 0}};
    struct bytes *firsts = arena_grow(&listing->looks_arena, listing->firsts,
                                      listing->first_count, sizeof(*firsts));

    entry.is_prefix = kv_page_find_common(page, key, &entry.key);
    if (!firsts || !kv_page_add(page, &entry))
        return false;
    listing->firsts = firsts;
    firsts[listing->first_count] = (struct bytes){
        arena_text(&listing->looks_arena, key), key.len};
    if (!firsts[listing->first_count++].data)
        return false;
    listing->last_len = entry.key.len;
    memcpy(listing->last, entry.key.data, entry.key.len);
    listing->is_last_prefix = entry.is_prefix;
    return true;
}

bool kv_redis_listing_merge(struct kv_redis_listing *listing)
{
    struct kv_page *page = listing->page;
    struct kv_redis_run *run;

    while (page->count < page->limit && !is_beyond(listing) &&
           (run = find_least(listing))) {
        if (!tell(listing, run->keys[run->at]))
            return false;
        run->at++;
        if (listing->is_last_prefix)
            skip_prefix(listing,
                        (struct bytes){listing->last, listing->last_len});
    }
    listing->is_end = !is_beyond(listing) && !find_least(listing);
    return true;
}
