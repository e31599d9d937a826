/*
 * No room in the map of a store, on its disk, or in a file: what was
 * acknowledged is there and whole, what was not has left no trace, reads go on,
 * and what is deleted makes room.
 */
#include "store.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum {
    FULL_TRIES = 400,
    VALUE_BYTES = 20000,
    FILE_BYTES_MAX = (1 << 20) + 100 /* in the middle of a page */
};
enum {
    WRITERS = 8,
    KEYS = 16, /* of each */
    REFUSALS = 300,
    TURNS_MAX = 20000,
    AGAIN_TURNS = 20,
    LARGE_MAX = 40000,
    SEED = 507
};

/* --- One client ---------------------------------------------------------- */

/* Writes until there is no room; how many writes were done. */
static int write_until_full(struct client *client)
{
    char *value = scratch(VALUE_BYTES + 1);

    memset(value, 'v', VALUE_BYTES);
    value[VALUE_BYTES] = '\0';
    for (int i = 0; i < FULL_TRIES; i++) {
        struct reply *reply = store_ask(client, "PUT", printed("full/%d", i),
                                        NULL, value);

        if (reply->status == 507) {
            expect_problem(reply, 507, "full");
            return i;
        }
        expect_status(reply, 201);
    }
    flunk("it is never full");
}

static void expect_full_but_sound(const struct server *one)
{
    struct client *client = client_open(one);
    int written = write_until_full(client);
    char *value = scratch(VALUE_BYTES + 1);

    assert_true(written > 5);
    memset(value, 'v', VALUE_BYTES);
    value[VALUE_BYTES] = '\0';
    for (int i = 0; i < written; i++)
        store_holds(client, printed("full/%d", i), value);
    expect_status(store_ask(client, "GET", printed("full/%d", written), NULL,
                            NULL),
                  404);
    for (int i = 0; i < written; i++) {
        going_on("deleting %d of %d", i, written);
        expect_status(store_ask(client, "DELETE", printed("full/%d", i), NULL,
                                NULL),
                      204);
    }
    going_on("%s", "");
    store_put(client, "after", value);
}

/* --- Many ---------------------------------------------------------------- */

/* By the number of the write, 0 for none; refused ones are not counted. */
static unsigned held[WRITERS][KEYS];
static unsigned refused, done;

static uint64_t draw(uint64_t below)
{
    static uint64_t count;
    uint64_t word;

    seeded_fill(SEED, 8 * count++, (char *)&word, sizeof(word));
    return word % below;
}

/* "number length " and so many bytes more. */
static const char *value_of(unsigned number, char out[LARGE_MAX + 64])
{
    unsigned len = number * 7919 % LARGE_MAX;
    int head = snprintf(out, 64, "%u %u ", number, len);

    memset(out + head, 'a' + (int)(number % 26), len);
    out[(unsigned)head + len] = '\0';
    return out;
}

static void expect_held(struct client *client, unsigned i, unsigned k)
{
    char value[LARGE_MAX + 64];

    if (held[i][k] != 0)
        store_holds(client, printed("%u/%u", i, k),
                    value_of(held[i][k], value));
    else
        expect_status(store_ask(client, "GET", printed("%u/%u", i, k), NULL,
                                NULL),
                      404);
}

/* One write of each, all under way at once, and a read. */
static void write_turn(struct client *const writers[WRITERS],
                       struct client *reader)
{
    static unsigned number;
    char value[LARGE_MAX + 64];
    unsigned chosen[WRITERS], first = number + 1;

    for (unsigned i = 0; i < WRITERS; i++) {
        chosen[i] = (unsigned)draw(KEYS);
        store_say(writers[i], "PUT", printed("%u/%u", i, chosen[i]), NULL,
                  value_of(++number, value));
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        unsigned *key = &held[i][chosen[i]];
        struct reply *reply = client_reply(writers[i]);

        if (reply->status == 507) {
            refused++;
            continue;
        }
        expect_status(reply, *key == 0 ? 201 : 204);
        done++;
        *key = first + i;
    }
    expect_held(reader, (unsigned)draw(WRITERS), (unsigned)draw(KEYS));
}

static void expect_all_held(struct client *client)
{
    for (unsigned i = 0; i < WRITERS; i++)
        for (unsigned k = 0; k < KEYS; k++)
            expect_held(client, i, k);
}

static void delete_all(struct client *client)
{
    for (unsigned i = 0; i < WRITERS; i++)
        for (unsigned k = 0; k < KEYS; k++) {
            expect_status(store_ask(client, "DELETE", printed("%u/%u", i, k),
                                    NULL, NULL),
                          held[i][k] != 0 ? 204 : 404);
            held[i][k] = 0;
        }
}

/* Leaves what is held. */
static void expect_full_but_sound_under_load(const struct server *one)
{
    struct client *writers[WRITERS], *reader = client_open(one);

    memset(held, 0, sizeof(held));
    refused = done = 0;
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = client_open(one);
    for (unsigned turn = 0; refused < REFUSALS; turn++) {
        if (turn == TURNS_MAX)
            flunk("only %u of %u were refused", refused, refused + done);
        write_turn(writers, reader);
    }
    expect_all_held(reader);
    delete_all(reader);
    refused = done = 0;
    for (unsigned turn = 0; turn < AGAIN_TURNS && refused == 0; turn++)
        write_turn(writers, reader);
    assert_true(done > WRITERS);
    expect_all_held(reader);
}

/* --- What is full -------------------------------------------------------- */

/* A folder on a disk of 2 MB, which other processes do not see. */
static const char *small_disk(void)
{
    const char *place = printed("%s/small", folder());

    assert_int_equal(mkdir(place, 0700), 0);
    if (unshare(CLONE_NEWNS) == -1 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
        mount("tmpfs", place, "tmpfs", 0, "size=2m") == -1) {
        print_message("skipped, no small disk: %s\n", strerror(errno));
        assert_int_equal(rmdir(place), 0);
        skip();
    }
    return place;
}

/* Fills a store there, starts the server again, and looks at what it has. */
static void fill_small_disk(void (*fill)(const struct server *one),
                            void (*look)(const struct server *one))
{
    const char *place = small_disk();
    const char *data = printed("%s/data", place);
    struct server *one = START_STORE(data, NULL);

    fill(one);
    clients_close();
    server_stop(one);
    one = START_STORE(data, NULL);
    look(one);
    clients_close();
    server_stop(one);
    assert_int_equal(umount(place), 0);
    assert_int_equal(rmdir(place), 0);
}

static void expect_after(const struct server *one)
{
    expect_status(get(one, "/kv/after"), 200);
}

static void expect_all_there(const struct server *one)
{
    expect_all_held(client_open(one));
}

TEST(a_store_that_is_full_says_so)
{
    expect_full_but_sound(START_STORE(store_folder(), "--kv-max-size=1M"));
}

TEST(a_disk_that_is_full_is_no_disaster)
{
    fill_small_disk(expect_full_but_sound, expect_after);
}

/* Unlike a disk that is full it shows nowhere, and cuts the first write short
 * that goes beyond it. */
static struct server *start_limited(void)
{
    struct server *one = START_STORE(store_folder(), NULL);
    struct rlimit limit;

    assert_int_equal(prlimit(one->pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = FILE_BYTES_MAX;
    assert_int_equal(prlimit(one->pid, RLIMIT_FSIZE, &limit, NULL), 0);
    return one;
}

TEST(a_limit_on_the_size_of_files_is_no_disaster)
{
    expect_full_but_sound(start_limited());
}

TEST(a_limit_on_the_size_of_files_keeps_its_word_under_load)
{
    expect_full_but_sound_under_load(start_limited());
}

TEST(a_full_store_keeps_its_word_under_load)
{
    expect_full_but_sound_under_load(START_STORE(store_folder(),
                                                 "--kv-max-size=1M"));
}

TEST(a_full_disk_keeps_its_word_under_load)
{
    fill_small_disk(expect_full_but_sound_under_load, expect_all_there);
}

E2E_SUITE(harness_begin);
