#include "kv/redis/kv_redis_listing_priv.h"

/* One page drops at most this many index entries without a value. */
enum { DROPS_MAX = 16 };

/* The look at one entry's value. */
struct kv_redis_look {
    struct kv_redis_call call;
    struct kv_redis_listing *listing;
    struct bytes key; /* the entry's key, or the first key of its prefix */
    bool is_missing;
};

static void put_look(struct kv_redis_call *call, struct buf *out)
{
    const struct kv_redis_look *look = OWNER_OF(call, struct kv_redis_look,
                                                call);
    struct bytes base = kv_redis_base(call->client, call->partition);

    if (look->listing->page->with_values) {
        kv_redis_put_script(call, out, KV_SCRIPT_LOOK, 1, 1);
        kv_command_put_joined(out, base, BYTES("k:"), look->key);
        kv_command_put_number(out, KV_PAGE_VALUE_BYTES_MAX);
        return;
    }
    kv_command_begin(out, 7);
    kv_command_put(out, BYTES("HMGET"));
    kv_command_put_joined(out, base, BYTES("k:"), look->key);
    kv_command_put(out, BYTES("r"));
    kv_command_put(out, BYTES("m"));
    kv_command_put(out, BYTES("e"));
    kv_command_put(out, BYTES("t"));
    kv_command_put(out, BYTES("n"));
}

static enum kv_outcome take_look(struct kv_redis_look *look,
                                 const struct kv_reply *reply)
{
    struct kv_page *page = look->listing->page;
    struct kv_entry *entry = &page->entries[look - look->listing->looks];
    struct bytes type, value;

    look->is_missing = kv_reply_count(reply) > 0 &&
                       kv_reply_kind(kv_reply_at(reply, 0)) == KV_REPLY_NIL;
    if (look->is_missing || entry->is_prefix)
        return KV_FOUND;
    if (!kv_redis_read_meta(reply, &entry->meta, &type, &entry->value_bytes)) {
        kv_redis_log_corrupt(look->call.client, look->key);
        look->is_missing =
            true; /* the script of kv_redis_drop() checks that again */
        return KV_FOUND;
    }
    entry->type = (struct bytes){arena_text(&page->arena, type), type.len};
    value = kv_reply_text(kv_reply_at(reply, 5));
    if (value.data && kv_page_takes_value(page, value.len))
        entry->value = (struct bytes){arena_text(&page->arena, value),
                                      value.len};
    return entry->type.data && (!value.data || entry->value.data) ? KV_FOUND
                                                                  : KV_ERROR;
}

static void on_look(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_look *look = OWNER_OF(call, struct kv_redis_look, call);

    kv_redis_listing_settle(look->listing, call->outcome == KV_FOUND
                                               ? take_look(look, reply)
                                               : call->outcome);
}

void kv_redis_listing_begin_looks(struct kv_redis_listing *listing)
{
    size_t count = listing->page->count;

    listing->looks = arena_take(&listing->looks_arena,
                                (count + 1) * sizeof(*listing->looks));
    if (!listing->looks) {
        listing->outcome = KV_ERROR;
        return;
    }
    listing->is_starting = true;
    for (size_t i = 0; i < count; i++) {
        struct kv_redis_look *look = &listing->looks[i];

        *look = (struct kv_redis_look){.call = {.put = put_look,
                                                .on_end = on_look},
                                       .listing = listing,
                                       .key = listing->firsts[i]};
        look->call.partition = kv_redis_partition(look->key);
        kv_redis_listing_start(listing, &look->call);
    }
    listing->is_starting = false;
}

bool kv_redis_listing_sift(struct kv_redis_listing *listing)
{
    struct kv_page *page = listing->page;
    size_t count = page->count;
    const struct kv_entry *last;
    unsigned drops = 0;

    page->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct kv_redis_look *look = &listing->looks[i];
        bool is_prefix = page->entries[i].is_prefix;

        if (!look->is_missing && kv_page_is_full(page)) {
            last = &page->entries[page->count - 1];
            return kv_page_set_next(page, last->key, last->is_prefix);
        }
        if (!look->is_missing) {
            page->value_bytes += page->entries[i].value.len;
            page->entries[page->count++] = page->entries[i];
            continue;
        }
        if (drops++ < DROPS_MAX)
            kv_redis_drop(listing->client, look->key);
        if (is_prefix)
            return kv_page_set_next(page, look->key, false);
    }
    if (listing->is_end || listing->last_len == 0)
        return true;
    return kv_page_set_next(page,
                            (struct bytes){listing->last, listing->last_len},
                            listing->is_last_prefix);
}
