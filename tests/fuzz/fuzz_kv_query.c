/*
 * fuzz_kv_query - what strangers ask of a store behind the '?': lists, values
 * with a time to live, keys to be named.
 *
 * The first byte of the input says which request it is, the rest is its query.
 * It is answered with 400 and the store hears nothing of it, or what the store
 * is asked is within its limits; a list's cursor leads to where the list ended.
 * Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handler/kv/kv.h"
#include "handler/kv/kv_batch.h"
#include "handler/kv/kv_key.h"
#include "http/exchange.h"
#include "http/http1/http1_frame.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANSWER_MAX = 1 << 20, ENTRIES = 3 };

static const struct now now = {.wall_s = 784111777};
static const struct server_defaults defaults = {.now = &now};

/* --- A store ------------------------------------------------------------- */

/* Its lists have ENTRIES keys, and more behind them. */
static struct store {
    struct kv_client client; /* first: the same address */
    unsigned asked;
    bool has_after; /* of the first page of a list */
    size_t after_len, next_len;
    char after[KV_CURSOR_BYTES_MAX];
    char next[KV_CURSOR_BYTES_MAX];
} store;

static bool on_get(struct kv_client *client, struct kv_get *get)
{
    (void)client;
    store.asked++;
    get->outcome = KV_MISSING;
    return true;
}

static struct bytes keep(struct kv_page *page, const char *text, size_t len)
{
    char *copy = arena_take(&page->arena, len + 1);

    CHECK(copy);
    if (len > 0)
        memcpy(copy, text, len);
    return (struct bytes){copy, len};
}

static void note_after(const struct kv_page *page)
{
    if (store.asked++ > 0)
        return;
    store.has_after = page->after.len > 0;
    store.after_len = page->after.len;
    if (page->after.len > 0)
        memcpy(store.after, page->after.data, page->after.len);
}

/* Keys are the prefix, as far as there is room, and a digit. */
static bool on_list(struct kv_client *client, struct kv_page *page)
{
    char key[KV_KEY_BYTES_MAX];
    size_t len = page->prefix.len;

    (void)client;
    CHECK(page->limit >= 1 && page->limit <= KV_PAGE_ENTRIES_MAX);
    CHECK(page->prefix.len <= KV_KEY_BYTES_MAX);
    CHECK(page->delimiter.len <= KV_KEY_BYTES_MAX);
    CHECK(page->after.len <= KV_CURSOR_BYTES_MAX);
    note_after(page);
    page->outcome = KV_FOUND;
    page->entries = arena_take(&page->arena, ENTRIES * sizeof(*page->entries));
    CHECK(page->entries);
    len -= len == KV_KEY_BYTES_MAX;
    if (len > 0)
        memcpy(key, page->prefix.data, len);
    while (page->count < ENTRIES && page->count < page->limit) {
        key[len] = (char)('0' + page->count);
        page->entries[page->count] = (struct kv_entry){
            .key = keep(page, key, len + 1),
            .is_prefix = page->delimiter.len > 0 && page->count == 1,
            .meta = {.revision = 1, .stored_ms = 784111777000},
            .type = BYTES("text/plain")};
        if (page->with_values && !page->entries[page->count].is_prefix)
            page->entries[page->count].value = keep(page, key, len + 1);
        page->count++;
    }
    page->next = page->entries[page->count - 1].key;
    store.next_len = page->next.len;
    memcpy(store.next, page->next.data, page->next.len);
    return true;
}

static bool on_write(struct kv_client *client, struct kv_write *write)
{
    struct kv_op *op = write->ops;

    (void)client;
    store.asked++;
    CHECK(write->count == 1);
    CHECK(op->ttl_ms <= KV_TTL_MAX_S * 1000 && op->ttl_ms % 1000 == 0);
    CHECK(op->kind == KV_PUT_NAMED || op->key.len > 0);
    CHECK(op->key.len <=
          KV_KEY_BYTES_MAX - (op->kind == KV_PUT_NAMED ? KV_NAME_BYTES : 0));
    CHECK(!memchr(op->key.data, '\0', op->key.len));
    CHECK(op->kind == KV_ADD || op->by == 0);
    op->outcome = KV_BUSY;
    write->is_done = false;
    return true;
}

static bool on_watch(struct kv_client *client, struct kv_watch *watch)
{
    (void)client;
    store.asked++;
    CHECK(watch->prefix.len <= KV_KEY_BYTES_MAX);
    watch->outcome = KV_UNSUPPORTED;
    return true;
}

static void on_unwatch(struct kv_client *client, struct kv_watch *watch)
{
    (void)client;
    CHECK(watch->outcome == KV_UNSUPPORTED);
}

static const struct kv_client_ops ops = {.get = on_get,
                                         .list = on_list,
                                         .write = on_write,
                                         .watch = on_watch,
                                         .unwatch = on_unwatch};

/* --- A request ----------------------------------------------------------- */

static const struct {
    enum method method;
    const char *path;
} requests[] = {{METHOD_GET, "/kv/"},   {METHOD_PUT, "/kv/a"},
                {METHOD_POST, "/kv/"},  {METHOD_GET, "/kv/a"},
                {METHOD_HEAD, "/kv/"},  {METHOD_DELETE, "/kv/a"},
                {METHOD_POST, "/kv/a"}, {METHOD_OPTIONS, "/kv/"}};

static void on_wake(struct exchange *exchange)
{
    (void)exchange;
}

/* The store has answered at once, so that nothing is to be waited for. */
static void look(struct exchange *exchange)
{
    while (exchange->pending)
        CHECK(exchange->pending->look(exchange->pending).state == ANSWER_READY);
}

/* All of an answer; its length. */
static size_t finish(struct response *response, char text[ANSWER_MAX])
{
    size_t len = 0;

    for (;;) {
        size_t more = 0;

        for (unsigned i = response->part_at; i < response->part_count; i++) {
            const struct part *part = &response->parts[i];

            CHECK(part->kind == PART_MEMORY);
            CHECK(part->len <= ANSWER_MAX - 1 - len - more);
            memcpy(text + len + more, part->at.memory, part->len);
            more += part->len;
        }
        response_advance(response, more);
        len += more;
        if (!response_has_more(response))
            break;
        CHECK(response_pull(response, BODY_PIECE_BYTES));
    }
    text[len] = '\0';
    return len;
}

/* Leaves the answer in text; its status. */
static unsigned ask(struct kv *kv, unsigned which, struct bytes query,
                    char text[ANSWER_MAX])
{
    static struct exchange exchange;
    struct address peer = {.family = ADDRESS_IPV4, .octets = {127, 0, 0, 1}};
    struct handler handler = kv_handler(kv);
    unsigned status;

    memset(&exchange, 0, sizeof(exchange));
    exchange.peer = exchange.neighbour = &peer;
    exchange.on_wake = on_wake;
    exchange.request = (struct request){.method = requests[which].method,
                                        .minor = 1,
                                        .path = bytes_of(requests[which].path),
                                        .query = query,
                                        .host = BYTES("localhost")};
    response_init(&exchange.response, &exchange.room.response);
    exchange.response.persists = true;
    exchange.response.is_head = requests[which].method == METHOD_HEAD;
    store.asked = 0;
    handler.answer(handler.self, &exchange, BYTES(""));
    look(&exchange);
    http1_frame(&exchange.response, false, &now);
    finish(&exchange.response, text);
    status = exchange.response.status;
    if (exchange.sink)
        exchange.sink->destroy(exchange.sink);
    response_fini(&exchange.response);
    return status;
}

/* --- What must hold ------------------------------------------------------ */

/* The cursor of a list leads behind its last key. */
static void check_cursor(struct kv *kv, char text[ANSWER_MAX])
{
    static const char name[] = "\"cursor\":\"";
    char *at = NULL;
    char *query;
    size_t len;

    /* A key may be of that text: the last one counts. */
    for (char *next = text; (next = strstr(next, name)); next++)
        at = next + sizeof(name) - 1;
    CHECK(at);
    len = strcspn(at, "\"");
    CHECK(len == 2 * store.next_len);
    query = malloc(7 + len);
    CHECK(query);
    memcpy(query, "cursor=", 7);
    memcpy(query + 7, at, len);
    CHECK(ask(kv, 0, (struct bytes){query, 7 + len}, text) == 200);
    CHECK(store.has_after && store.after_len * 2 == len);
    free(query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[ANSWER_MAX];
    struct kv_memory bodies = {.max = 1000}, values = {.max = KV_LIST_BYTES};
    struct kv_options options = {.client = &store.client,
                                 .prefix = BYTES("/kv"),
                                 .value_bytes_max = 1000,
                                 .batch_bytes_max = 1000,
                                 .bodies = &bodies,
                                 .values = &values,
                                 .watchers_max = 1,
                                 .defaults = &defaults};
    unsigned which = size > 0 ? data[0] % (sizeof(requests) / sizeof(*requests))
                              : 0;
    size_t len = size > 0 ? size - 1 : 0;
    char *query = malloc(len > 0 ? len : 1);
    unsigned status;
    struct kv *kv;

    store.client.ops = &ops;
    kv = kv_create(&options);
    CHECK(query && kv);
    if (len > 0)
        memcpy(query, data + 1, len);
    status = ask(kv, which, (struct bytes){query, len}, text);
    CHECK(status == 200 || status == 204 || status == 400 || status == 404 ||
          status == 501 || status == 503);
    CHECK(status != 400 || store.asked == 0);
    CHECK(values.taken == 0 && bodies.taken == 0);
    if (status == 200 && requests[which].method == METHOD_GET)
        check_cursor(kv, text);
    free(query);
    kv_destroy(kv);
    return 0;
}
