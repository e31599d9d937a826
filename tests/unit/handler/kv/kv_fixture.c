#include "unit/handler/kv/kv_fixture.h"

struct fake_store fake;
struct kv *kv;
struct kv_options kv_options;
static struct host known_hosts[] = {{{"h", 1}, known_hosts}};
static const struct hosts known = {known_hosts, 1};
struct kv_memory kv_bodies;
struct kv_memory kv_values;
struct address kv_peer;
unsigned wakes;

/* --- The store ----------------------------------------------------------- */

static int fake_compare(struct bytes a, struct bytes b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static struct bytes fake_key(size_t at)
{
    return (struct bytes){fake.records[at].key, fake.records[at].key_len};
}

/* Where it is, or would be. */
static size_t fake_find(struct bytes key, bool *is_there)
{
    size_t at = 0;

    while (at < fake.count && fake_compare(fake_key(at), key) < 0)
        at++;
    *is_there = at < fake.count && fake_compare(fake_key(at), key) == 0;
    return at;
}

/* A value without its data. */
static struct kv_value *fake_spare(const struct kv_value *value)
{
    struct kv_value *bare = kv_value_create(value->type.len, 0);

    assert_non_null(bare);
    if (value->type.len > 0)
        memcpy(kv_value_room(bare), value->type.data, value->type.len);
    bare->meta = value->meta;
    bare->bytes = value->bytes;
    fake.spared++;
    return bare;
}

static void fake_answer_get(struct kv_get *get)
{
    bool is_there;
    size_t at = fake_find(get->key, &is_there);

    get->outcome = fake.is_failing ? fake.outcome
                   : is_there      ? KV_FOUND
                                   : KV_MISSING;
    if (get->outcome != KV_FOUND)
        return;
    if (!fake.is_slow && get->wants_data &&
        !get->wants_data(get, &fake.records[at].value->meta))
        get->value = fake_spare(fake.records[at].value);
    else
        get->value = kv_value_acquire(fake.records[at].value);
}

static void fake_drop(size_t at)
{
    kv_value_release(&fake.records[at].value);
    fake.count--;
    memmove(&fake.records[at], &fake.records[at + 1],
            (fake.count - at) * sizeof(*fake.records));
}

static void fake_put(size_t at, bool is_there, struct kv_op *op)
{
    struct kv_value *value = kv_value_create(op->type.len, op->value.len);
    struct fake_record *record = &fake.records[at];

    assert_non_null(value);
    if (op->type.len > 0)
        memcpy(kv_value_room(value), op->type.data, op->type.len);
    if (op->value.len > 0)
        memcpy(kv_value_room(value) + op->type.len, op->value.data,
               op->value.len);
    value->meta = (struct kv_meta){
        .revision = ++fake.revision,
        .stored_ms = now.wall_s * 1000 - 5000,
        .expires_ms = op->ttl_ms > 0 ? now.wall_s * 1000 + (int64_t)op->ttl_ms
                                     : 0};
    op->meta = value->meta;
    if (is_there) {
        kv_value_release(&record->value);
    } else {
        assert_true(fake.count < FAKE_KEYS_MAX);
        memmove(record + 1, record, (fake.count++ - at) * sizeof(*record));
        memcpy(record->key, op->key.data, op->key.len);
        record->key_len = op->key.len;
    }
    record->value = value;
    op->outcome = is_there ? KV_REPLACED : KV_CREATED;
}

static void fake_do(struct kv_op *op)
{
    char key[KV_KEY_BYTES_MAX];
    struct kv_op named = *op;
    bool is_there, holds;
    size_t at;

    if (op->kind == KV_PUT_NAMED) {
        memcpy(key, op->key.data, op->key.len);
        snprintf(op->name, sizeof(op->name), "%015u",
                 (unsigned)fake.revision + 1);
        op->name[KV_NAME_BYTES - 1] = 'x';
        memcpy(key + op->key.len, op->name, KV_NAME_BYTES);
        named.key = (struct bytes){key, op->key.len + KV_NAME_BYTES};
        at = fake_find(named.key, &is_there);
        fake_put(at, is_there, &named);
        op->outcome = named.outcome;
        op->meta = named.meta;
        return;
    }
    at = fake_find(op->key, &is_there);
    op->meta = is_there ? fake.records[at].value->meta : (struct kv_meta){0};
    holds = op->condition == KV_IF_ANY ||
            (op->condition == KV_IF_MISSING && !is_there) ||
            (op->condition == KV_IF_PRESENT && is_there) ||
            (op->condition == KV_IF_REVISION && is_there &&
             op->meta.revision == op->if_revision);
    if (!holds) {
        op->outcome = KV_PRECONDITION;
    } else if (op->kind == KV_PUT) {
        fake_put(at, is_there, op);
    } else if (op->kind == KV_CHECK) {
        op->outcome = KV_HELD;
    } else {
        op->outcome = is_there ? KV_DELETED : KV_MISSING;
        if (is_there)
            fake_drop(at);
    }
}

/* Undoes nothing: what fails must be the first operation. */
static void fake_answer_write(struct kv_write *write)
{
    write->is_done = !fake.is_failing;
    for (size_t i = 0; i < write->count; i++) {
        struct kv_op *op = &write->ops[i];

        if (fake.is_failing) {
            op->outcome = fake.outcome;
        } else if (!write->is_done) {
            op->outcome = KV_UNDONE;
        } else {
            fake_do(op);
            write->is_done = op->outcome != KV_PRECONDITION;
            assert_true(write->is_done || i == 0);
        }
    }
}

static struct bytes fake_keep(struct kv_page *page, struct bytes text)
{
    const char *copy = arena_text(&page->arena, text);

    assert_non_null(copy);
    return (struct bytes){copy, text.len};
}

static bool fake_begins(struct bytes text, struct bytes with)
{
    return text.len >= with.len &&
           (with.len == 0 || memcmp(text.data, with.data, with.len) == 0);
}

/* What an entry of a page shows of a key: itself, or its common prefix. */
static struct bytes fake_shown(const struct kv_page *page, struct bytes key,
                               bool *is_prefix)
{
    struct bytes rest = {key.data + page->prefix.len,
                         key.len - page->prefix.len};
    const char *at = page->delimiter.len > 0
                         ? memmem(rest.data, rest.len, page->delimiter.data,
                                  page->delimiter.len)
                         : NULL;

    *is_prefix = at != NULL;
    return at ? bytes_between(key.data, at + page->delimiter.len) : key;
}

static void fake_answer_page(struct kv_page *page)
{
    struct bytes last = page->after;

    fake.pages++;
    if (page->limit > fake.page_most)
        fake.page_most = page->limit;
    page->outcome = fake.is_failing ? fake.outcome : KV_FOUND;
    if (page->after.len > 0 && *page->after.data == '\0') { /* no cursor */
        page->outcome = KV_MISSING;
        return;
    }
    page->entries = arena_take(&page->arena,
                               page->limit * sizeof(*page->entries));
    assert_non_null(page->entries);
    for (size_t i = 0; i < fake.count && !fake.is_failing; i++) {
        const struct kv_value *value = fake.records[i].value;
        struct bytes key = fake_key(i);
        bool is_prefix;
        struct bytes shown;

        if (!fake_begins(key, page->prefix))
            continue;
        shown = fake_shown(page, key, &is_prefix);
        if (last.len > 0 && fake_compare(shown, last) <= 0)
            continue;
        if (page->count == page->limit) {
            page->next = fake_keep(page, last);
            return;
        }
        shown = fake_keep(page, shown);
        last = shown;
        page->entries[page->count++] = (struct kv_entry){
            .key = shown, .is_prefix = is_prefix};
        if (!is_prefix) {
            page->entries[page->count - 1].value_bytes = value->bytes;
            page->entries[page->count - 1].meta = value->meta;
            if (page->with_values && value->bytes <= KV_PAGE_VALUE_BYTES_MAX)
                page->entries[page->count - 1].value = fake_keep(page,
                                                                 value->data);
            page->value_bytes += page->entries[page->count - 1].value.len;
            page->entries[page->count - 1].type = fake_keep(page, value->type);
        }
    }
}

static bool fake_wait(struct fake_waiting waiting)
{
    assert_true(fake.waiting_count < FAKE_WAITING_MAX);
    fake.waiting[fake.waiting_count++] = waiting;
    return false;
}

static bool fake_get(struct kv_client *client, struct kv_get *get)
{
    assert_ptr_equal(client, &fake.client);
    if (fake.is_slow)
        return fake_wait((struct fake_waiting){.get = get});
    fake_answer_get(get);
    return true;
}

static bool fake_list(struct kv_client *client, struct kv_page *page)
{
    assert_ptr_equal(client, &fake.client);
    assert_in_range(page->limit, 1, KV_PAGE_ENTRIES_MAX);
    if (fake.is_slow)
        return fake_wait((struct fake_waiting){.page = page});
    fake_answer_page(page);
    return true;
}

/* Like LMDB's, it takes a write for later, but for what it refuses. */
static bool fake_write(struct kv_client *client, struct kv_write *write)
{
    assert_ptr_equal(client, &fake.client);
    if (!fake.is_failing || fake.outcome != KV_BUSY)
        return fake_wait((struct fake_waiting){.write = write});
    fake_answer_write(write);
    return true;
}

/* Of events that a test makes; when is_slow, answered by kv_answer(). */
static bool fake_watch(struct kv_client *client, struct kv_watch *watch)
{
    assert_ptr_equal(client, &fake.client);
    assert_null(fake.watch);
    fake.watch = watch;
    list_init(&watch->list_node);
    watch->outcome = fake.is_failing ? fake.outcome : KV_FOUND;
    if (watch->outcome == KV_FOUND)
        kv_events_begin(fake.events, watch, 0);
    return !fake.is_slow;
}

static void fake_unwatch(struct kv_client *client, struct kv_watch *watch)
{
    assert_ptr_equal(client, &fake.client);
    assert_ptr_equal(fake.watch, watch);
    fake.watch = NULL;
}

static const struct kv_client_ops fake_ops = {.get = fake_get,
                                              .list = fake_list,
                                              .write = fake_write,
                                              .watch = fake_watch,
                                              .unwatch = fake_unwatch};

void kv_answer(void)
{
    size_t count = fake.waiting_count;

    for (size_t i = 0; i < count; i++) {
        struct fake_waiting waiting = fake.waiting[i];

        if (waiting.get) {
            fake_answer_get(waiting.get);
            waiting.get->on_done(waiting.get);
        } else if (waiting.page) {
            fake_answer_page(waiting.page);
            waiting.page->on_done(waiting.page);
        } else {
            fake_answer_write(waiting.write);
            waiting.write->on_done(waiting.write);
        }
    }
    memmove(fake.waiting, fake.waiting + count,
            (fake.waiting_count - count) * sizeof(*fake.waiting));
    fake.waiting_count -= count;
}

/* --- Exchanges ----------------------------------------------------------- */

static void on_wake(struct exchange *woken)
{
    assert_ptr_equal(woken, &exchange);
    wakes++;
}

void kv_begin(const char *line, const char *fields, struct bytes body,
              size_t step)
{
    struct handler handler = kv_handler(kv);
    char all[8192];

    if (body.data && !strstr(fields, "Transfer-Encoding"))
        snprintf(all, sizeof(all), "%sContent-Length: %zu\r\n", fields,
                 body.len);
    else
        snprintf(all, sizeof(all), "%s", fields);
    ask(line, all);
    exchange.peer = exchange.neighbour = &kv_peer;
    if (body.data && body.len > 0) {
        handler.begin(handler.self, &exchange, BYTES(""));
        while (exchange.sink && exchange.response.status == 0 && body.len > 0) {
            size_t len = body.len < step ? body.len : step;

            if (!exchange.sink->take(exchange.sink,
                                     (struct bytes){body.data, len}))
                assert_int_not_equal(exchange.response.status, 0);
            body = (struct bytes){body.data + len, body.len - len};
        }
    }
    if (exchange.response.status == 0)
        handler.answer(handler.self, &exchange, BYTES(""));
}

const char *kv_finish(void)
{
    static char text[1 << 20];
    struct response *response = &exchange.response;
    size_t len = 0;

    sent_look(&exchange, &now);
    for (;;) {
        assert_true(sent_is_memory(response));
        len += sent_take(response, text + len, sizeof(text) - len);
        if (exchange_is_done(&exchange))
            break;
        kv_answer();
        assert_int_not_equal(sent_step(&exchange, &now), SENT_FAILED);
    }
    return text;
}

const char *kv_ask(const char *line, const char *fields, const char *body)
{
    kv_begin(line, fields, body ? bytes_of(body) : (struct bytes){NULL, 0},
             SIZE_MAX);
    return kv_finish();
}

const char *kv_unchunk(const char *text)
{
    static char out[1 << 20];
    const char *at = strstr(text, "\r\n\r\n");

    assert_non_null(at);
    sent_unchunk(at + 4, out);
    return out;
}

/* --- Before and after each test ------------------------------------------ */

void kv_renew(void)
{
    leave(); /* no exchange outlives its kv */
    kv_destroy(kv);
    kv = kv_create(&kv_options);
    assert_non_null(kv);
}

int kv_set_up(void **state)
{
    (void)state;
    fake.client.ops = &fake_ops;
    wakes = 0;
    kv_peer = (struct address){.family = ADDRESS_IPV4,
                               .octets = {127, 0, 0, 1}};
    kv_bodies = (struct kv_memory){.max = 10000};
    kv_values = (struct kv_memory){.max = 40000};
    kv_options = (struct kv_options){.client = &fake.client,
                                     .prefix = BYTES("/kv"),
                                     .access = {.names = &known},
                                     .value_bytes_max = 1000,
                                     .batch_bytes_max = 4000,
                                     .bodies = &kv_bodies,
                                     .values = &kv_values,
                                     .watchers_max = 2,
                                     .defaults = &defaults};
    kv = kv_create(&kv_options);
    exchange.on_wake = on_wake;
    response_init(&exchange.response, &exchange.room.response);
    return kv ? 0 : -1;
}

int kv_tear_down(void **state)
{
    (void)state;
    leave();
    kv_destroy(kv);
    kv = NULL;
    assert_int_equal(kv_bodies.taken, 0);
    assert_int_equal(kv_values.taken, 0);
    while (fake.count > 0)
        fake_drop(fake.count - 1);
    kv_events_destroy(fake.events);
    memset(&fake, 0, sizeof(fake));
    return 0;
}
