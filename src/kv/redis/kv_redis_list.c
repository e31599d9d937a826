#include <stdlib.h>

#include "kv/redis/kv_redis_listing_priv.h"

enum { ROUNDS_MAX = 4 }; /* a page ends after this many, even if it is short */

static void destroy(struct kv_redis_question *question)
{
    struct kv_redis_listing *listing =
        OWNER_OF(question, struct kv_redis_listing, question);

    list_drop(&question->list_node);
    arena_fini(&listing->round);
    arena_fini(&listing->looks_arena);
    free(listing);
}

/* Continues the page until it waits for calls. Returns true if the page is
 * complete. */
static bool run_list(struct kv_redis_listing *listing)
{
    while (listing->waits == 0) {
        struct kv_page *page = listing->page;

        if (listing->outcome == KV_FOUND && listing->looks) {
            if (!kv_redis_listing_sift(listing))
                listing->outcome = KV_ERROR;
            page->outcome = listing->outcome;
            return true;
        }
        if (listing->outcome == KV_FOUND && listing->rounds > 0 &&
            !kv_redis_listing_merge(listing))
            listing->outcome = KV_ERROR;
        if (listing->outcome != KV_FOUND) {
            page->outcome = listing->outcome;
            page->count = 0;
            return true;
        }
        if (listing->rounds > 0 &&
            (listing->is_end || page->count == page->limit ||
             listing->rounds == ROUNDS_MAX ||
             !kv_redis_listing_set_range(listing,
                                         (struct bytes){listing->last,
                                                        listing->last_len},
                                         listing->is_last_prefix)))
            kv_redis_listing_begin_looks(listing);
        else
            kv_redis_listing_begin_round(listing);
    }
    return false;
}

static void go_on(struct kv_redis_listing *listing)
{
    struct kv_page *page = listing->page;

    if (!run_list(listing))
        return;
    destroy(&listing->question);
    page->on_done(page);
}

bool kv_redis_list(struct kv_client *base, struct kv_page *page)
{
    struct kv_redis_client *client = OWNER_OF(base, struct kv_redis_client,
                                              client);
    struct kv_redis_listing *listing;
    struct bytes after;
    bool is_prefix;

    if (!kv_page_begin(page))
        return true;
    listing = calloc(1, sizeof(*listing));
    if (!listing) {
        page->outcome = KV_BUSY;
        return true;
    }
    listing->question.destroy = destroy;
    listing->client = client;
    listing->page = page;
    listing->on_settled = go_on;
    listing->outcome = KV_FOUND;
    listing->step = page->limit / 16 + 1;
    list_put_last(&client->questions, &listing->question.list_node);
    after = kv_page_after(page, &is_prefix);
    if (!kv_redis_listing_set_range(listing, after, is_prefix) ||
        run_list(listing)) {
        destroy(&listing->question);
        return true;
    }
    return false;
}
