#include "unit/kv/store_fixture.h"

#include "unit/draw.h"

enum {
    KEYS = 300,
    ROUNDS = 1700,
    GROUP_MAX = 120, /* operations under way at once: 10^5 in all */
    VALUE_BYTES_MAX = 6000
};

/* --- A naive map ---------------------------------------------------------- */

/* Every operation of a round is modelled in the order of asking, which is the
 * order of writing. */
struct model {
    bool is_there;
    struct kv_meta meta;
    size_t bytes;
    unsigned char fill;
};

static struct model models[KEYS];
static uint64_t last_revision;
static char keys[KEYS][KV_KEY_BYTES_MAX];
static size_t key_bytes[KEYS];

/* Some are long, so that pages split in all ways. */
static void make_keys(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        key_bytes[i] = draw(4) ? 4 + draw(20)
                               : 4 + draw(KV_KEY_BYTES_MAX - 4 + 1);
        memset(keys[i], 'a' + (int)draw(3), sizeof(keys[i]));
        keys[i][key_bytes[i] - 3] = (char)('0' + i / 100);
        keys[i][key_bytes[i] - 2] = (char)('0' + i / 10 % 10);
        keys[i][key_bytes[i] - 1] = (char)('0' + i % 10);
    }
}

static struct bytes key_of(unsigned i)
{
    return (struct bytes){keys[i], key_bytes[i]};
}

static bool is_alive(const struct model *model)
{
    return model->is_there &&
           (model->meta.expires_ms == 0 || model->meta.expires_ms > clock_ms);
}

struct trial {
    struct asked asked;
    unsigned key;
    unsigned char fill;
    char value[VALUE_BYTES_MAX];
};

static struct trial trials[GROUP_MAX];

static void draw_op(struct trial *trial)
{
    struct kv_op op = {.kind = draw(3) ? KV_PUT : KV_DELETE};
    const struct model *model;

    trial->key = draw(KEYS);
    model = &models[trial->key];
    op.key = key_of(trial->key);
    if (draw(10) == 0)
        op.kind = KV_CHECK;
    op.condition = draw(2) ? KV_IF_ANY : (enum kv_condition)draw(4);
    op.if_revision = draw(2) ? model->meta.revision : draw(1000);
    if (op.kind == KV_PUT) {
        trial->fill = (unsigned char)draw(256);
        op.value = (struct bytes){trial->value,
                                  draw(8) ? draw(200) : draw(VALUE_BYTES_MAX)};
        memset(trial->value, trial->fill, op.value.len);
        op.ttl_ms = draw(3) ? 0 : 1 + draw(100);
    }
    ask(&trial->asked, op);
}

static bool expected_to_hold(const struct kv_op *op, const struct model *model)
{
    switch (op->condition) {
    case KV_IF_ANY:
        return true;
    case KV_IF_MISSING:
        return !is_alive(model);
    case KV_IF_PRESENT:
        return is_alive(model);
    case KV_IF_REVISION:
        return is_alive(model) && model->meta.revision == op->if_revision;
    }
    return false;
}

static void check_answer(struct trial *trial)
{
    const struct kv_op *op = &trial->asked.op;
    struct model *model = &models[trial->key];
    bool was_alive = is_alive(model);

    wait_for(&trial->asked);
    if (!expected_to_hold(op, model)) {
        assert_int_equal(op->outcome, KV_PRECONDITION);
        assert_int_equal(op->meta.revision,
                         was_alive ? model->meta.revision : 0);
        return;
    }
    if (op->kind == KV_CHECK) {
        assert_int_equal(op->outcome, KV_HELD);
        return;
    }
    if (op->kind == KV_DELETE) {
        assert_int_equal(op->outcome, was_alive ? KV_DELETED : KV_MISSING);
        model->is_there = false;
        if (!was_alive)
            return;
    } else {
        assert_int_equal(op->outcome, was_alive ? KV_REPLACED : KV_CREATED);
        *model = (struct model){.is_there = true,
                                .meta = op->meta,
                                .bytes = op->value.len,
                                .fill = trial->fill};
        assert_int_equal(op->meta.expires_ms,
                         op->ttl_ms ? clock_ms + (int64_t)op->ttl_ms : 0);
    }
    assert_true(op->meta.revision > last_revision);
    last_revision = op->meta.revision;
}

static void check_key(unsigned i)
{
    const struct model *model = &models[i];
    struct kv_value *value = get_bytes(key_of(i));

    assert_int_equal(value != NULL, is_alive(model));
    if (!value)
        return;
    assert_memory_equal(&value->meta, &model->meta, sizeof(value->meta));
    assert_int_equal(value->bytes, model->bytes);
    for (size_t at = 0; at < value->bytes; at++)
        assert_int_equal((unsigned char)value->data.data[at], model->fill);
    kv_value_release(&value);
}

static void check_all(void)
{
    struct kv_page page = {.limit = KV_PAGE_ENTRIES_MAX};
    size_t alive = 0;

    for (unsigned i = 0; i < KEYS; i++) {
        check_key(i);
        alive += is_alive(&models[i]);
    }
    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.count, alive);
    arena_fini(&page.arena);
}

static void run_randomly(void)
{
    unsigned asked = 0;

    draw_seed = 7;
    last_revision = 0;
    memset(models, 0, sizeof(models));
    options.sweep_ms = 1;
    reopen_store();
    make_keys();
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned count_now = 1 + draw(GROUP_MAX);

        for (unsigned i = 0; i < count_now; i++)
            draw_op(&trials[i]);
        for (unsigned i = 0; i < count_now; i++)
            check_answer(&trials[i]);
        asked += count_now;
        check_key(draw(KEYS));
        set_clock(clock_ms + draw(20));
        if (round % 50 == 0)
            check_all();
        if (draw(100) == 0) {
            reopen_store();
            check_all();
        }
    }
    assert_true(asked > 100000);
    check_all();
    /* What the sweep takes away has revisions, too. */
    assert_true(count().revision >= last_revision);
}

TEST(random_operations_agree_with_a_naive_map)
{
    run_randomly();
}

TEST(they_do_so_with_a_cache_between)
{
    options.cache = (struct kv_cache_options){EVICT_SIEVE, 1 << 16, 2};
    run_randomly();
    assert_true(count().cache.evictions > 0);
    assert_true(count().cache.hits > 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
