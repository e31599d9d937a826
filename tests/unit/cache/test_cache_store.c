/* link: -Wl,--wrap=openat */
#include "cache/cache_store.h"

#include <dirent.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "cache/cache_vary.h"
#include "suite.h"
#include "tree.h"
#include "wrap.h"

enum { KEYS = 40, VARIANTS = 3, STEPS = 20000, BYTES_MAX = 40000 };

static struct cache_store *store;
static struct ev_loop *loop;
static struct mailbox *mailbox;
static struct cache_port port;

static int set_up(void **state)
{
    const struct cache_store_options options = {.policy = EVICT_SIEVE,
                                                .bytes_max = BYTES_MAX,
                                                .object_max = 10000,
                                                .files_max = 10};

    (void)state;
    loop = ev_loop_new(0);
    mailbox = mailbox_create(loop, 2,
                             (struct mailbox_receiver){.context = NULL});
    cache_port_init(&port, mailbox);
    return cache_store_create(&store, &options);
}

static int tear_down(void **state)
{
    (void)state;
    cache_store_destroy(store);
    cache_port_fini(&port);
    mailbox_destroy(mailbox);
    ev_loop_destroy(loop);
    return 0;
}

SUITE(.each_begin = set_up, .each_end = tear_down);

/* A request whose field Foo has that value. */
static struct request request_of(struct field *field, const char *foo)
{
    *field = (struct field){.name = {"Foo", 3}, .value = bytes_of(foo)};
    return (struct request){.fields = field, .field_count = 1};
}

static struct cache_entry *make_entry(const char *key, const char *foo,
                                      const char *text)
{
    const struct cache_circumstances now = {.came_s = 1000};
    struct field field;
    struct request request = request_of(&field, foo);
    struct cache_body *body = cache_store_make_body(store, strlen(text));
    struct cache_entry_parts parts = {
        .key = bytes_of(key),
        .names = BYTES("foo"),
        .status = 200,
        .lines = BYTES("Cache-Control: max-age=60\r\nCache-Tag: t\r\n"),
        .body = body};
    struct cache_entry *entry;
    char storage[100];
    struct buf variant;

    buf_init(&variant, storage, sizeof(storage), sizeof(storage));
    assert_true(cache_vary_put(parts.names, &request, &variant));
    parts.variant = buf_bytes(&variant);
    assert_true(cache_body_put(body, bytes_of(text)));
    cache_body_end(body, true);
    entry = cache_entry_create(&parts, &now);
    cache_body_release(&body);
    return entry;
}

static void put(const char *key, const char *foo, const char *text)
{
    struct cache_entry *entry = make_entry(key, foo, text);

    assert_true(cache_store_put(store, entry, NULL,
                                cache_store_epoch(store, entry->key)));
    cache_store_settle(store, entry);
    cache_entry_release(&entry);
}

static struct cache_found find(const char *key, const char *foo)
{
    struct cache_found found;
    struct field field;
    struct request request = request_of(&field, foo);

    cache_store_find(store, bytes_of(key), &request, &found);
    return found;
}

/* Whether that is kept, and is text. */
static bool has(const char *key, const char *foo, const char *text)
{
    struct cache_found found = find(key, foo);
    bool is_there = found.entry;
    struct part part;

    if (is_there) {
        part = cache_body_part(found.body, 0, cache_body_filled(found.body));
        if (part.len != strlen(text) ||
            memcmp(part.at.memory, text, part.len) != 0)
            fail_msg("%s %s is '%.*s', not '%s'", key, foo, (int)part.len,
                     part.at.memory, text);
    }
    cache_found_release(&found);
    return is_there;
}

/* What was put last of each, or empty: a cache that keeps all. */
static char kept[KEYS][VARIANTS][12];

static uint64_t seed = 42;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static void step(unsigned number)
{
    unsigned key_at = draw(KEYS), variant = draw(VARIANTS);
    char key[40], foo[4];

    snprintf(key, sizeof(key), "p\nhttp://a/%u", key_at);
    snprintf(foo, sizeof(foo), "%u", variant);
    switch (draw(20)) {
    case 0:
        (void)cache_store_invalidate(store, bytes_of(key));
        memset(kept[key_at], 0, sizeof(kept[key_at]));
        break;
    case 1:
    case 2:
    case 3:
        snprintf(kept[key_at][variant], sizeof(kept[0][0]), "%u", number);
        put(key, foo, kept[key_at][variant]);
        break;
    default:
        if (has(key, foo, kept[key_at][variant]))
            assert_true(kept[key_at][variant][0]);
    }
}

TEST(whatever_is_found_is_what_was_put_last_and_not_made_invalid)
{
    memset(kept, 0, sizeof(kept));
    for (unsigned i = 0; i < STEPS; i++) {
        step(i);
        assert_true(cache_store_count(store).bytes <= BYTES_MAX);
    }
    assert_true(cache_store_count(store).evictions > 0);
}

TEST(variants_of_a_key_are_bounded)
{
    char foo[12];

    for (unsigned i = 0; i < 3 * CACHE_VARIANTS_MAX; i++) {
        snprintf(foo, sizeof(foo), "%u", i);
        put("p\nhttp://a/", foo, "x");
    }
    assert_true(cache_store_count(store).entries <= CACHE_VARIANTS_MAX);
    assert_true(has("p\nhttp://a/", foo, "x"));
}

static const struct purge_case {
    struct cache_purge purge;
    size_t count;
} purges[] = {
    {{.place = {"q", 1}, .address = {"a/", 2}, .is_prefix = true}, 0},
    {{.place = {"p", 1}, .address = {"b/", 2}, .is_prefix = true}, 0},
    {{.place = {"p", 1}, .address = {"a/", 2}}, 0},
    {{.place = {"p", 1},
      .address = {"a/", 2},
      .tags = {"u", 1},
      .is_prefix = true},
     0},
    {{.place = {"p", 1}, .address = {"a/x", 3}, .is_soft = true}, 1},
    {{.place = {"p", 1}, .address = {"a/x", 3}}, 1},
    {{.place = {"p", 1},
      .address = {"a/", 2},
      .tags = {"u t", 3},
      .is_prefix = true},
     2},
};

TEST(what_is_purged_is_of_the_place_address_and_tag_that_were_meant)
{
    put("p\nhttp://a/x", "1", "x");
    put("p\nhttp://a/xy", "1", "x");
    put("p\nhttps://a/z\nx-forwarded-host:c", "1", "x");
    for (size_t i = 0; i < sizeof(purges) / sizeof(*purges); i++)
        if (cache_store_purge(store, &purges[i].purge) != purges[i].count)
            fail_msg("purge %zu", i);
    assert_int_equal(cache_store_count(store).entries, 0);
    assert_int_equal(cache_store_count(store).bytes, 0);
}

static unsigned told;

static void on_ready(struct cache_wait *wait)
{
    (void)wait;
    told++;
}

TEST(one_leads_the_others_wait_and_look_again)
{
    struct bytes key = BYTES("p\nhttp://a/");
    struct cache_found found = find(key.data, "1");
    struct cache_flight *lead, *follow, *none;
    struct cache_wait wait;

    told = 0;
    cache_wait_init(&wait, &port, on_ready);
    assert_int_equal(cache_store_join(store, key, &found, 0, NULL, &lead),
                     CACHE_LEAD);
    assert_false(cache_flight_has_waits(store, lead));
    assert_int_equal(cache_store_join(store, key, &found, 0, NULL, &none),
                     CACHE_WAIT);
    assert_int_equal(cache_store_join(store, key, &found, 0, &wait, &follow),
                     CACHE_WAIT);
    assert_true(cache_flight_has_waits(store, lead));
    put(key.data, "1", "x");
    cache_flight_end(store, &lead, CACHE_OUTCOME_STORED, 0);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(told, 1);
    assert_int_equal(cache_flight_leave(store, &follow, &wait),
                     CACHE_OUTCOME_STORED);
    /* Who has looked before does not lead without looking again. */
    assert_int_equal(cache_store_join(store, key, &found, 0, NULL, &lead),
                     CACHE_LOOK);
}

TEST(who_waits_too_long_for_the_first_leads_another)
{
    struct bytes key = BYTES("p\nhttp://a/");
    struct cache_found found = find(key.data, "1");
    struct cache_flight *lead, *follow[2], *second;
    struct cache_wait waits[2];

    told = 0;
    assert_int_equal(cache_store_join(store, key, &found, 5, NULL, &lead),
                     CACHE_LEAD);
    cache_store_end_late(store, 5 + CACHE_LATE_S); /* for nobody's sake */
    for (size_t i = 0; i < 2; i++) {
        cache_wait_init(&waits[i], &port, on_ready);
        assert_int_equal(cache_store_join(store, key, &found, 6, &waits[i],
                                          &follow[i]),
                         CACHE_WAIT);
    }
    cache_store_end_late(store, 4 + CACHE_LATE_S);
    assert_int_equal(cache_flight_peek(store, follow[0]), CACHE_OUTCOME_NONE);
    cache_store_end_late(store, 5 + CACHE_LATE_S);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(told, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(cache_flight_leave(store, &follow[i], &waits[i]),
                         CACHE_OUTCOME_AGAIN);
    assert_int_equal(cache_store_join(store, key, &found, 5 + CACHE_LATE_S,
                                      &waits[0], &second),
                     CACHE_LEAD);
    assert_int_equal(cache_store_join(store, key, &found, 5 + CACHE_LATE_S,
                                      &waits[1], &follow[1]),
                     CACHE_WAIT);
    /* The first comes after all, and nobody has to wait for the second. */
    cache_flight_end(store, &lead, CACHE_OUTCOME_STORED, 5 + CACHE_LATE_S);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(told, 3);
    assert_int_equal(cache_flight_leave(store, &follow[1], &waits[1]),
                     CACHE_OUTCOME_STORED);
    cache_flight_end(store, &second, CACHE_OUTCOME_STORED, 5 + CACHE_LATE_S);
}

TEST(what_was_for_one_alone_is_waited_for_by_nobody_for_a_while)
{
    struct bytes key = BYTES("p\nhttp://a/");
    struct cache_found found = find(key.data, "1");
    struct cache_flight *lead;

    assert_int_equal(cache_store_join(store, key, &found, 0, NULL, &lead),
                     CACHE_LEAD);
    cache_flight_end(store, &lead, CACHE_OUTCOME_ALONE, 0);
    assert_int_equal(cache_store_join(store, key, &found, CACHE_ALONE_S - 1,
                                      NULL, &lead),
                     CACHE_ALONE);
    assert_int_equal(cache_store_join(store, key, &found, CACHE_ALONE_S, NULL,
                                      &lead),
                     CACHE_LEAD);
    cache_flight_end(store, &lead, CACHE_OUTCOME_AGAIN, CACHE_ALONE_S);
}

TEST(what_was_too_long_is_remembered_for_a_while)
{
    struct bytes key = BYTES("p\nhttp://a/"), other = BYTES("p\nhttp://b/");
    struct bytes none = BYTES(""), variant = BYTES("=1\n");
    struct cache_found found = find(key.data, "1");
    struct cache_flight *lead;

    cache_store_note_long(store, key, none, 0);
    assert_int_equal(cache_store_join(store, key, &found, 0, NULL, &lead),
                     CACHE_LEAD);
    cache_flight_end(store, &lead, CACHE_OUTCOME_ALONE, 0);
    assert_true(cache_store_was_long(store, key, none, CACHE_LONG_S - 1));
    assert_false(cache_store_was_long(store, key, none, CACHE_LONG_S));
    assert_false(cache_store_was_long(store, other, none, 0));
    assert_false(cache_store_was_long(store, key, variant, 0));
    cache_store_note_long(store, other, variant, 0);
    assert_true(cache_store_was_long(store, other, variant, 0));
}

TEST(what_was_made_invalid_while_it_was_fetched_stays_out)
{
    static const char key[] = "p\nhttp://a/";
    struct cache_entry *entry = make_entry(key, "1", "old");
    struct cache_epoch epoch = cache_store_epoch(store, bytes_of(key));

    assert_int_equal(cache_store_invalidate(store, bytes_of(key)), 0);
    assert_false(cache_store_put(store, entry, NULL, epoch));
    assert_false(has(key, "1", "old"));
    epoch = cache_store_epoch(store, bytes_of(key));
    assert_true(cache_store_put(store, entry, NULL, epoch));
    cache_store_settle(store, entry);
    assert_true(has(key, "1", "old"));
    cache_entry_release(&entry);
}

TEST(what_others_were_made_invalid_does_not_keep_it_out)
{
    static const char key[] = "p\nhttp://a/";
    struct cache_entry *entry = make_entry(key, "1", "new");
    struct cache_epoch epoch = cache_store_epoch(store, bytes_of(key));
    char other[40];

    /* Some of them hash to the same epoch. */
    for (int i = 0; i < 5000; i++) {
        snprintf(other, sizeof(other), "p\nhttp://b/%d", i);
        (void)cache_store_invalidate(store, bytes_of(other));
    }
    assert_true(cache_store_put(store, entry, NULL, epoch));
    cache_store_settle(store, entry);
    assert_true(has(key, "1", "new"));
    cache_entry_release(&entry);
}

/* A 304 about it may come later than another answer. */
TEST(what_another_has_replaced_is_not_brought_up_to_date)
{
    static const char key[] = "p\nhttp://a/";
    struct cache_epoch epoch = cache_store_epoch(store, bytes_of(key));
    struct cache_entry *same = make_entry(key, "1", "old");
    struct cache_found earlier;

    put(key, "1", "old");
    earlier = find(key, "1");
    put(key, "1", "new");
    assert_false(cache_store_put(store, same, earlier.entry, epoch));
    assert_true(has(key, "1", "new"));
    cache_entry_release(&same);
    cache_found_release(&earlier);
}

static void put_late(struct cache_epoch epoch, bool is_in)
{
    struct cache_entry *entry = make_entry("p\nhttp://a/b", "1", "old");

    assert_int_equal(cache_store_put(store, entry, NULL, epoch), is_in);
    cache_entry_release(&entry);
}

TEST(what_was_purged_while_it_was_fetched_stays_out)
{
    static const char key[] = "p\nhttp://a/b";
    const struct {
        struct cache_purge purge;
        bool is_in;
    } cases[] = {
        {{.place = BYTES("p"), .address = BYTES("a/b")}, false},
        {{.address = BYTES("a/"), .is_prefix = true}, false},
        {{.is_prefix = true, .tags = BYTES("none")}, true},
        {{.place = BYTES("p"), .address = BYTES("a/c")}, true},
        {{.place = BYTES("q"), .address = BYTES("a/b")}, true},
        {{.address = BYTES("a/b"), .is_soft = true}, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cache_epoch epoch = cache_store_epoch(store, bytes_of(key));

        assert_int_equal(cache_store_purge(store, &cases[i].purge), 0);
        put_late(epoch, cases[i].is_in);
        put_late(cache_store_epoch(store, bytes_of(key)), true);
        cache_store_invalidate(store, bytes_of(key));
    }
}

/* Then nobody knows any more what the first were. */
TEST(after_many_purges_what_was_asked_for_before_stays_out)
{
    static const char key[] = "p\nhttp://a/b";
    struct cache_purge purge = {.address = BYTES("a/c")};
    struct cache_epoch epoch = cache_store_epoch(store, bytes_of(key));

    for (int i = 0; i < 64; i++)
        assert_int_equal(cache_store_purge(store, &purge), 0);
    put_late(epoch, true);
    cache_store_invalidate(store, bytes_of(key));
    epoch = cache_store_epoch(store, bytes_of(key));
    for (int i = 0; i < 65; i++)
        assert_int_equal(cache_store_purge(store, &purge), 0);
    put_late(epoch, false);
}

TEST(there_is_room_for_no_longer_body_than_was_told)
{
    assert_true(cache_store_has_room(store, 10000));
    assert_false(cache_store_has_room(store, 10001));
}

/* --- With a folder ------------------------------------------------------- */

static struct cache_store *open_in(const char *path, bool is_awaited)
{
    const struct cache_store_options options = {
        .policy = EVICT_SIEVE,
        .bytes_max = BYTES_MAX,
        .object_max = 10000,
        .files_max = 10,
        .disk = {.folder = path, .is_awaited = is_awaited}};
    struct cache_store *opened = NULL;

    assert_int_equal(cache_store_create(&opened, &options), 0);
    return opened;
}

static void reopen(const char *path, bool is_awaited)
{
    cache_store_destroy(store);
    store = open_in(path, is_awaited);
}

/* Until the thread has looked at all files: then it has written, or come to,
 * what was put. */
static void await_entries(uint64_t count)
{
    for (int tries = 0; cache_store_count(store).entries != count; tries++) {
        assert_true(tries < 60000);
        usleep(1000);
    }
}

static atomic_uint openat_failures; /* of the next calls */

WRAP(int, openat, int folder, const char *name, int flags, ...)
{
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (openat_failures == 0)
        return __real_openat(folder, name, flags, mode);
    openat_failures--;
    errno = EMFILE;
    return -1;
}

/* Whatever cannot be opened: the folder, or one of its files. */
TEST(what_cannot_be_read_for_want_of_descriptors_is_found_later)
{
    char path[] = "/tmp/sprintd-cache-store-XXXXXX";

    assert_non_null(mkdtemp(path));
    reopen(path, false);
    put("p\nhttp://a/x", "1", "x");
    put("p\nhttp://a/y", "1", "y");
    put("p\nhttp://a/z", "1", "z");
    cache_store_stop(store);
    for (unsigned failures = 1; failures < 6; failures++) {
        cache_store_destroy(store);
        store = NULL;
        openat_failures = failures;
        store = open_in(path, false);
        await_entries(3);
        assert_int_equal(openat_failures, 0);
        assert_true(has("p\nhttp://a/x", "1", "x"));
    }
    tree_remove(path);
}

/* The process before has the folder still, so it is looked through later. */
TEST(what_is_purged_before_it_is_found_in_the_folder_is_not_let_in)
{
    const struct cache_purge hard = {.address = BYTES("a/x")};
    const struct cache_purge soft = {.address = BYTES("a/y"), .is_soft = true};
    char path[] = "/tmp/sprintd-cache-store-XXXXXX";
    struct cache_found found;
    int folder;

    assert_non_null(mkdtemp(path));
    reopen(path, false);
    put("p\nhttp://a/x", "1", "x");
    put("p\nhttp://a/y", "1", "y");
    put("p\nhttp://a/z", "1", "z");
    cache_store_stop(store); /* all is written then */
    cache_store_destroy(store);
    store = NULL;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(folder, LOCK_EX | LOCK_NB), 0);
    store = open_in(path, true);
    assert_int_equal(cache_store_purge(store, &hard), 0);
    assert_int_equal(cache_store_purge(store, &soft), 0);
    close(folder);
    await_entries(2);
    assert_false(has("p\nhttp://a/x", "1", "x"));
    assert_true(has("p\nhttp://a/z", "1", "z"));
    found = find("p\nhttp://a/y", "1");
    assert_true(atomic_load(&found.entry->is_purged));
    cache_found_release(&found);
    /* Nor by the next. */
    reopen(path, false);
    await_entries(2);
    assert_false(has("p\nhttp://a/x", "1", "x"));
    found = find("p\nhttp://a/y", "1");
    assert_true(atomic_load(&found.entry->is_purged));
    cache_found_release(&found);
    tree_remove(path);
}

/* Puts what varies by nothing, and is of that date. */
static void put_plain(const char *key, const char *text, int64_t date_s)
{
    const struct cache_circumstances then = {.came_s = date_s};
    struct cache_body *body = cache_store_make_body(store, strlen(text));
    struct cache_entry_parts parts = {
        .key = bytes_of(key),
        .status = 200,
        .lines = BYTES("Cache-Control: max-age=60\r\n"),
        .body = body};
    struct cache_entry *entry;

    assert_true(cache_body_put(body, bytes_of(text)));
    cache_body_end(body, true);
    entry = cache_entry_create(&parts, &then);
    cache_body_release(&body);
    assert_true(cache_store_put(store, entry, NULL,
                                cache_store_epoch(store, entry->key)));
    cache_store_settle(store, entry);
    cache_entry_release(&entry);
}

/* In whatever order a folder lists its files. */
TEST(of_what_is_found_in_the_folder_the_most_recent_counts)
{
    static const char key[] = "p\nhttp://a/x";

    for (int i = 0; i < 2; i++) {
        char path[] = "/tmp/sprintd-cache-store-XXXXXX";

        assert_non_null(mkdtemp(path));
        reopen(path, false);
        if (i == 0)
            put(key, "1", "new");
        put_plain(key, "old", 999);
        if (i == 1)
            put(key, "1", "new");
        cache_store_stop(store);
        reopen(path, false);
        await_entries(2);
        assert_true(has(key, "1", "new"));
        assert_true(has(key, "2", "old"));
        tree_remove(path);
    }
}

static unsigned count_files(const char *path)
{
    DIR *names = opendir(path);
    struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(names)))
        count += entry->d_name[0] != '.';
    closedir(names);
    return count;
}

/* A process that is killed then would leave it to the next. */
TEST(what_was_purged_while_it_came_is_never_written)
{
    const struct cache_purge purge = {.address = BYTES("a/x")};
    char path[] = "/tmp/sprintd-cache-store-XXXXXX";
    struct cache_entry *entry;

    assert_non_null(mkdtemp(path));
    reopen(path, false);
    entry = make_entry("p\nhttp://a/x", "1", "x");
    assert_true(cache_store_put(store, entry, NULL,
                                cache_store_epoch(store, entry->key)));
    assert_int_equal(cache_store_purge(store, &purge), 1);
    cache_store_settle(store, entry);
    cache_entry_release(&entry);
    cache_store_stop(store);
    assert_int_equal(cache_store_count(store).disk.written, 0);
    assert_int_equal(count_files(path), 0);
    tree_remove(path);
}
