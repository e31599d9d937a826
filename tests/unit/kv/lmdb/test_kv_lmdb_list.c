#include "unit/kv/store_fixture.h"

#include "unit/draw.h"

#include "base/buf.h"

/* --- Pages as text: keys, prefixes in <>, and + when there is more -------- */

struct query {
    const char *prefix;
    const char *delimiter;
    size_t limit;
};

static char cursor_data[KV_CURSOR_BYTES_MAX];
static struct bytes cursor;

/* Puts the entries of one page, from cursor on, which moves. */
static void put_page(struct buf *out, const struct query *query)
{
    struct kv_page page = {.prefix = bytes_of(query->prefix),
                           .delimiter = bytes_of(query->delimiter),
                           .limit = query->limit,
                           .after = cursor};

    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.outcome, KV_FOUND);
    assert_true(page.count <= query->limit);
    for (size_t i = 0; i < page.count; i++) {
        const struct kv_entry *entry = &page.entries[i];

        buf_put(out, entry->is_prefix ? BYTES(" <") : BYTES(" "));
        buf_put(out, entry->key);
        if (entry->is_prefix)
            buf_put_literal(out, ">");
        else
            assert_true(entry->meta.revision > 0);
    }
    assert_true(page.next.len <= sizeof(cursor_data));
    if (page.next.len > 0)
        memcpy(cursor_data, page.next.data, page.next.len);
    cursor = (struct bytes){cursor_data, page.next.len};
    arena_fini(&page.arena);
}

static void assert_all_pages(struct query query, const char *expected)
{
    char text[1024];

    for (query.limit = 1; query.limit < 12; query.limit++) {
        struct buf out;

        buf_init(&out, text, sizeof(text), sizeof(text));
        cursor.len = 0;
        do
            put_page(&out, &query);
        while (cursor.len > 0);
        buf_put(&out, (struct bytes){"", 1});
        assert_string_equal(text, expected);
        buf_fini(&out);
    }
}

static void put_all(const char *const *keys)
{
    for (; *keys; keys++)
        put(*keys, "value");
}

TEST(keys_come_in_order_whatever_the_size_of_pages)
{
    static const char *const keys[] = {"b", "a", "ab", "\xFF", "B", "aa", NULL};

    assert_all_pages((struct query){"", "", 0}, "");
    put_all(keys);
    assert_all_pages((struct query){"", "", 0}, " B a aa ab b \xFF");
}

TEST(a_prefix_narrows_the_listing)
{
    static const char *const keys[] = {"a",        "b/1",          "b/2", "b",
                                       "\xFF\xFF", "\xFF\xFF\xFF", "c",   NULL};

    put_all(keys);
    assert_all_pages((struct query){"b/", "", 0}, " b/1 b/2");
    assert_all_pages((struct query){"b", "", 0}, " b b/1 b/2");
    assert_all_pages((struct query){"\xFF\xFF", "", 0},
                     " \xFF\xFF \xFF\xFF\xFF");
    assert_all_pages((struct query){"x", "", 0}, "");
}

TEST(a_delimiter_tells_common_prefixes_once)
{
    static const char *const keys[] = {"a",
                                       "b/",
                                       "b/1",
                                       "b/2/3",
                                       "b/2/4",
                                       "b/2/5",
                                       "b0",
                                       "c/1",
                                       "c/2",
                                       "d\xFF",
                                       "d\xFF"
                                       "1",
                                       "d\xFF"
                                       "2",
                                       "e",
                                       NULL};

    put_all(keys);
    assert_all_pages((struct query){"", "/", 0}, " a <b/> b0 <c/> d\xFF d\xFF"
                                                 "1 d\xFF"
                                                 "2 e");
    assert_all_pages((struct query){"b/", "/", 0}, " b/ b/1 <b/2/>");
    assert_all_pages((struct query){"", "\xFF", 0},
                     " a b/ b/1 b/2/3 b/2/4 b/2/5 b0 c/1 c/2 <d\xFF> e");
    assert_all_pages((struct query){"", "/2", 0},
                     " a b/ b/1 <b/2> b0 c/1 <c/2> d\xFF d\xFF"
                     "1 d\xFF"
                     "2 e");
}

TEST(the_expired_are_not_told_nor_what_only_they_have_in_common)
{
    put("a", "value");
    put_for("b/", "value", 1000);
    put_for("b/1", "value", 1000);
    put("b/2", "value");
    put_for("c/1", "value", 1000);
    put_for("d", "value", 1000);
    put("e", "value");
    set_clock(KV_START_MS + 1000);
    assert_all_pages((struct query){"", "/", 0}, " a <b/> e");
    assert_all_pages((struct query){"", "", 0}, " a b/2 e");
}

TEST(an_entry_tells_all_but_the_value)
{
    struct kv_op op = put_op("key", "value");
    struct kv_page page = {.limit = 1};

    op.type = BYTES("text/plain");
    op.ttl_ms = 5000;
    op = do_op(op);
    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.count, 1);
    assert_true(bytes_eq(page.entries->type, BYTES("text/plain")));
    assert_int_equal(page.entries->value_bytes, 5);
    assert_memory_equal(&page.entries->meta, &op.meta, sizeof(op.meta));
    assert_int_equal(op.meta.expires_ms, KV_START_MS + 5000);
    assert_int_equal(page.next.len, 0);
    arena_fini(&page.arena);
}

TEST(what_is_no_cursor_is_refused_and_a_strange_one_harmless)
{
    static const char *const wrong[] = {"k", "p", "x", "xkey"};
    static const char *const strange[] = {"ka", "kz", "p\xFF", "pa", "pb/1/2"};
    struct kv_page page = {.limit = 9, .prefix = BYTES("b")};
    char large[KV_CURSOR_BYTES_MAX + 1];

    put("a", "value");
    put("b", "value");
    put("c", "value");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        page.after = bytes_of(wrong[i]);
        assert_true(kv_client_list(client, &page));
        assert_int_equal(page.outcome, KV_MISSING);
    }
    memset(large, 'k', sizeof(large));
    page.after = (struct bytes){large, sizeof(large)};
    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.outcome, KV_MISSING);
    page.after.len--;
    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.outcome, KV_FOUND);
    for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
        page.after = bytes_of(strange[i]);
        assert_true(kv_client_list(client, &page));
        assert_int_equal(page.outcome, KV_FOUND);
        assert_true(page.count <= 1);
        arena_fini(&page.arena);
    }
    page.after = (struct bytes){NULL, 0};
    page.prefix = (struct bytes){large, KV_KEY_BYTES_MAX + 1};
    assert_true(kv_client_list(client, &page));
    assert_int_equal(page.count, 0);
    arena_fini(&page.arena);
}

TEST(a_page_ends_after_bounded_work)
{
    enum { DEAD = 9000 };
    static struct kv_op ops[DEAD];
    static char keys[DEAD][16];
    struct kv_page page = {.limit = 10};
    unsigned pages = 0;

    for (size_t i = 0; i < DEAD; i++) {
        snprintf(keys[i], sizeof(keys[i]), "dead-%05zu", i);
        ops[i] = put_op(keys[i], "");
        ops[i].ttl_ms = 1000;
    }
    assert_true(do_ops(ops, DEAD));
    put("live", "value");
    now.wall_ns += INT64_C(1000000000); /* for the client, not for the sweep */
    do {
        assert_true(kv_client_list(client, &page));
        pages++;
        if (page.next.len == 0)
            break;
        assert_int_equal(page.count, 0);
        memcpy(cursor_data, page.next.data, page.next.len);
        page.after = (struct bytes){cursor_data, page.next.len};
        arena_fini(&page.arena);
    } while (true);
    assert_true(pages > 1 && pages < 5);
    assert_int_equal(page.count, 1);
    assert_true(bytes_eq(page.entries->key, BYTES("live")));
    arena_fini(&page.arena);
}

TEST(a_listing_is_stable_while_others_write)
{
    enum { KEYS = 1000 };
    bool seen[KEYS] = {false};
    struct query query = {"key-", "", 37};
    char key[16];

    draw_seed = 3;
    for (unsigned i = 0; i < KEYS; i++) { /* even ones stay */
        snprintf(key, sizeof(key), "key-%04u", i);
        put(key, "value");
    }
    cursor.len = 0;
    do {
        char text[1024];
        struct buf out;

        buf_init(&out, text, sizeof(text), sizeof(text));
        put_page(&out, &query);
        for (size_t at = 0; at < out.len; at += sizeof(" key-0000") - 1) {
            unsigned long i = strtoul(text + at + 5, NULL, 10);

            assert_false(seen[i]); /* nothing twice */
            seen[i] = true;
        }
        buf_fini(&out);
        for (unsigned i = 0; i < 20; i++) {
            snprintf(key, sizeof(key), "key-%04u", draw(KEYS / 2) * 2 + 1);
            if (draw(2))
                do_op(delete_op(key));
            else
                put(key, "other");
            snprintf(key, sizeof(key), "key-%04u", draw(KEYS / 2) * 2);
            put(key, "replaced");
        }
    } while (cursor.len > 0);
    for (unsigned i = 0; i < KEYS; i += 2)
        assert_true(seen[i]);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
