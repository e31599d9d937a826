#include <stdlib.h>

#include "kv/kv_page.h"
#include "kv/redis/kv_redis_priv.h"

enum {
    ROUNDS_MAX = 4, /* then the page is short */
    DROPS_MAX = 16  /* entries without a value that a page has dropped */
};

/* What one partition has next. */
struct run {
    struct kv_redis_call call;
    struct bytes *keys; /* in the round's arena */
    size_t count;
    size_t at;
    bool is_full; /* there may be more behind them */
};

/* The value of an entry is looked at. */
struct look {
    struct kv_redis_call call;
    struct kv_redis_list *list;
    struct bytes key; /* of an entry; or the first of a common prefix */
    bool is_missing;
};

/*
 * round: all partitions are asked for their next few keys, which are merged
 *        as far as they surely are the next of all;  up to ROUNDS_MAX times
 * looks: each key is asked for its size, type, ...; what has none is dropped
 */
struct kv_redis_list {
    struct kv_redis_question question;
    struct kv_redis_client *client;
    struct kv_page *page;
    size_t waits; /* for so many calls */
    bool is_starting;
    enum kv_outcome outcome;
    unsigned rounds;
    bool is_end;
    size_t step; /* keys of each partition */
    struct arena round;
    struct arena looks_arena;
    struct look *looks; /* of each entry of the page, when all are there */
    struct bytes *firsts;
    size_t first_count;
    char min[KV_KEY_BYTES_MAX + 1]; /* as ZRANGEBYLEX has them */
    size_t min_len;
    char max[KV_KEY_BYTES_MAX + 1];
    size_t max_len;
    char last[KV_KEY_BYTES_MAX]; /* told; where the next round begins */
    size_t last_len;
    bool is_last_prefix;
    struct run runs[KV_REDIS_PARTITIONS];
};

static void go_on(struct kv_redis_list *list);

static void destroy(struct kv_redis_question *question)
{
    struct kv_redis_list *list = OWNER_OF(question, struct kv_redis_list,
                                          question);

    list_drop(&question->list_node);
    arena_fini(&list->round);
    arena_fini(&list->looks_arena);
    free(list);
}

/* One of the calls is over. */
static void settle(struct kv_redis_list *list, enum kv_outcome outcome)
{
    if (outcome != KV_FOUND && list->outcome == KV_FOUND)
        list->outcome = outcome;
    if (--list->waits == 0 && !list->is_starting)
        go_on(list);
}

static void start(struct kv_redis_list *list, struct kv_redis_call *call,
                  struct bytes key)
{
    call->partition = kv_redis_partition(key);
    call->may_repeat = true;
    list->waits++;
    if (list->outcome != KV_FOUND || kv_redis_call_start(list->client, call))
        settle(list, list->outcome != KV_FOUND ? list->outcome : call->outcome);
}

/* --- A round -------------------------------------------------------------- */

static void put_run(struct kv_redis_call *call, struct buf *out)
{
    const struct run *run = OWNER_OF(call, struct run, call);
    const struct kv_redis_list *list = OWNER_OF(run - call->partition,
                                                struct kv_redis_list, runs[0]);

    kv_command_begin(out, 7);
    kv_command_put(out, BYTES("ZRANGEBYLEX"));
    kv_command_put_joined(out, kv_redis_base(call->client, call->partition),
                          BYTES("i"), BYTES(""));
    kv_command_put(out, (struct bytes){list->min, list->min_len});
    kv_command_put(out, (struct bytes){list->max, list->max_len});
    kv_command_put(out, BYTES("LIMIT"));
    kv_command_put_number(out, 0);
    kv_command_put_number(out, list->step);
}

static bool copy_keys(struct kv_redis_list *list, struct run *run,
                      const struct kv_reply *reply)
{
    size_t count = kv_reply_count(reply);

    run->is_full = count >= list->step;
    run->keys = arena_take(&list->round, (count + 1) * sizeof(*run->keys));
    if (!run->keys)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct bytes key = kv_reply_text(kv_reply_at(reply, i));

        if (key.len == 0 || key.len > KV_KEY_BYTES_MAX)
            continue; /* none of ours */
        key.data = arena_text(&list->round, key);
        if (!key.data)
            return false;
        run->keys[run->count++] = key;
    }
    return true;
}

static void on_run(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct run *run = OWNER_OF(call, struct run, call);
    struct kv_redis_list *list = OWNER_OF(run - call->partition,
                                          struct kv_redis_list, runs[0]);
    enum kv_outcome outcome = call->outcome;

    if (outcome == KV_FOUND && !copy_keys(list, run, reply))
        outcome = KV_ERROR;
    settle(list, outcome);
}

static void begin_round(struct kv_redis_list *list)
{
    arena_fini(&list->round);
    list->rounds++;
    list->is_starting = true;
    for (unsigned i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct run *run = &list->runs[i];

        *run = (struct run){.call = {.partition = i,
                                     .may_repeat = true,
                                     .put = put_run,
                                     .on_end = on_run}};
        list->waits++;
        if (list->outcome != KV_FOUND ||
            kv_redis_call_start(list->client, &run->call))
            settle(list, list->outcome != KV_FOUND ? list->outcome
                                                   : run->call.outcome);
    }
    list->is_starting = false;
}

/* Where the next keys are, as it is told; false: there are none. */
static bool set_range(struct kv_redis_list *list, struct bytes after,
                      bool is_prefix)
{
    struct bytes prefix = list->page->prefix;
    size_t len = after.len;

    list->min[0] = '(';
    if (len > 0)
        memcpy(list->min + 1, after.data, len);
    if (kv_key_compare(after, prefix) < 0) {
        list->min[0] = '[';
        len = prefix.len;
        memcpy(list->min + 1, prefix.data, len);
    } else if (len == 0) {
        list->min[0] = '-';
    } else if (is_prefix) {
        list->min[0] = '[';
        len = kv_key_after_prefix(list->min + 1, len);
        if (len == 0)
            return false;
    }
    list->min_len = 1 + len;
    list->max[0] = '(';
    if (prefix.len > 0)
        memcpy(list->max + 1, prefix.data, prefix.len);
    list->max_len = 1 + kv_key_after_prefix(list->max + 1, prefix.len);
    if (list->max_len == 1)
        list->max[0] = '+';
    return true;
}

/* --- Merging -------------------------------------------------------------- */

static struct run *find_least(struct kv_redis_list *list)
{
    struct run *least = NULL;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct run *run = &list->runs[i];

        if (run->at < run->count &&
            (!least ||
             kv_key_compare(run->keys[run->at], least->keys[least->at]) < 0))
            least = run;
    }
    return least;
}

/* Whether what comes next may be in a run that has been read to its end. */
static bool is_beyond(const struct kv_redis_list *list)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (list->runs[i].at == list->runs[i].count && list->runs[i].is_full)
            return true;
    return false;
}

static void skip_prefix(struct kv_redis_list *list, struct bytes prefix)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct run *run = &list->runs[i];

        while (run->at < run->count &&
               kv_key_begins_with(run->keys[run->at], prefix))
            run->at++;
    }
}

/* Adds key to the page; its meta comes later. False: no memory. */
static bool tell(struct kv_redis_list *list, struct bytes key)
{
    struct kv_page *page = list->page;
    struct kv_entry entry = {.key = key, .type = {"", 0}};
    struct bytes *firsts = arena_grow(&list->looks_arena, list->firsts,
                                      list->first_count, sizeof(*firsts));

    entry.is_prefix = kv_page_find_common(page, key, &entry.key);
    if (!firsts || !kv_page_add(page, &entry))
        return false;
    list->firsts = firsts;
    firsts[list->first_count] = (struct bytes){
        arena_text(&list->looks_arena, key), key.len};
    if (!firsts[list->first_count++].data)
        return false;
    list->last_len = entry.key.len;
    memcpy(list->last, entry.key.data, entry.key.len);
    list->is_last_prefix = entry.is_prefix;
    return true;
}

/* What of the round surely comes next. */
static bool merge(struct kv_redis_list *list)
{
    struct kv_page *page = list->page;
    struct run *run;

    while (page->count < page->limit && !is_beyond(list) &&
           (run = find_least(list))) {
        if (!tell(list, run->keys[run->at]))
            return false;
        run->at++;
        if (list->is_last_prefix)
            skip_prefix(list, (struct bytes){list->last, list->last_len});
    }
    list->is_end = !is_beyond(list) && !find_least(list);
    return true;
}

/* --- Looks ---------------------------------------------------------------- */

static void put_look(struct kv_redis_call *call, struct buf *out)
{
    const struct look *look = OWNER_OF(call, struct look, call);
    struct bytes base = kv_redis_base(call->client, call->partition);

    if (look->list->page->with_values) {
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

static enum kv_outcome take_look(struct look *look,
                                 const struct kv_reply *reply)
{
    struct kv_page *page = look->list->page;
    struct kv_entry *entry = &page->entries[look - look->list->looks];
    struct bytes type, value;

    look->is_missing = kv_reply_count(reply) > 0 &&
                       kv_reply_kind(kv_reply_at(reply, 0)) == KV_REPLY_NIL;
    if (look->is_missing || entry->is_prefix)
        return KV_FOUND;
    if (!kv_redis_read_meta(reply, &entry->meta, &type, &entry->value_bytes)) {
        kv_redis_log_corrupt(look->call.client, look->key);
        look->is_missing =
            true; /* as good as that; the script sees it is not */
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
    struct look *look = OWNER_OF(call, struct look, call);

    settle(look->list,
           call->outcome == KV_FOUND ? take_look(look, reply) : call->outcome);
}

static void begin_looks(struct kv_redis_list *list)
{
    size_t count = list->page->count;

    list->looks = arena_take(&list->looks_arena,
                             (count + 1) * sizeof(*list->looks));
    if (!list->looks) {
        list->outcome = KV_ERROR;
        return;
    }
    list->is_starting = true;
    for (size_t i = 0; i < count; i++) {
        struct look *look = &list->looks[i];

        *look = (struct look){.call = {.put = put_look, .on_end = on_look},
                              .list = list,
                              .key = list->firsts[i]};
        start(list, &look->call, look->key);
    }
    list->is_starting = false;
}

/* Entries without a value go. Where such a one stood for a common prefix, the
 * page ends: others may have it, or not. False: no memory. */
static bool sift(struct kv_redis_list *list)
{
    struct kv_page *page = list->page;
    size_t count = page->count;
    const struct kv_entry *last;
    unsigned drops = 0;

    page->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct look *look = &list->looks[i];
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
            kv_redis_drop(list->client, look->key);
        if (is_prefix)
            return kv_page_set_next(page, look->key, false);
    }
    if (list->is_end || list->last_len == 0)
        return true;
    return kv_page_set_next(page, (struct bytes){list->last, list->last_len},
                            list->is_last_prefix);
}

/* --- The way of a page ---------------------------------------------------- */

/* What is next, until it waits for something. True: the page is done. */
static bool run_list(struct kv_redis_list *list)
{
    while (list->waits == 0) {
        struct kv_page *page = list->page;

        if (list->outcome == KV_FOUND && list->looks) {
            if (!sift(list))
                list->outcome = KV_ERROR;
            page->outcome = list->outcome;
            return true;
        }
        if (list->outcome == KV_FOUND && list->rounds > 0 && !merge(list))
            list->outcome = KV_ERROR;
        if (list->outcome != KV_FOUND) {
            page->outcome = list->outcome;
            page->count = 0;
            return true;
        }
        if (list->rounds > 0 &&
            (list->is_end || page->count == page->limit ||
             list->rounds == ROUNDS_MAX ||
             !set_range(list, (struct bytes){list->last, list->last_len},
                        list->is_last_prefix)))
            begin_looks(list);
        else
            begin_round(list);
    }
    return false;
}

static void go_on(struct kv_redis_list *list)
{
    struct kv_page *page = list->page;

    if (!run_list(list))
        return;
    destroy(&list->question);
    page->on_done(page);
}

bool kv_redis_list(struct kv_client *base, struct kv_page *page)
{
    struct kv_redis_client *client = OWNER_OF(base, struct kv_redis_client,
                                              client);
    struct kv_redis_list *list;
    struct bytes after;
    bool is_prefix;

    if (!kv_page_begin(page))
        return true;
    list = calloc(1, sizeof(*list));
    if (!list) {
        page->outcome = KV_BUSY;
        return true;
    }
    list->question.destroy = destroy;
    list->client = client;
    list->page = page;
    list->outcome = KV_FOUND;
    list->step = page->limit / 16 + 1;
    list_put_last(&client->questions, &list->question.list_node);
    after = kv_page_after(page, &is_prefix);
    if (!set_range(list, after, is_prefix) || run_list(list)) {
        destroy(&list->question);
        return true;
    }
    return false;
}
