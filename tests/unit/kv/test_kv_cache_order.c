#include "unit/kv/kv_cache_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "unit/draw.h"

/* --- Every order of steps ------------------------------------------------- */

/* A store of one key, whose value is its revision; writers and readers go on
 * by a step at a time, in every order there is. A register is linearizable
 * when no get returns less than was acknowledged, or got by others, before it
 * began; and nothing that is not written yet. */
enum { ACTORS = 3, STEPS_MAX = 6, TRACE_MAX = ACTORS * STEPS_MAX };

struct actor {
    bool is_writer;
    unsigned steps; /* 3 for each write or get */
    /* A reader's get under way. */
    uint64_t floor;
    struct kv_cache_ticket ticket;
    uint64_t got; /* 0: not yet, or it was a hit */
};

static uint64_t stored, acknowledged, seen;

static void step_writer(unsigned step)
{
    if (step % 3 == 0)
        kv_cache_begin_write(cache, BYTES("key"));
    if (step % 3 == 1)
        stored++;
    if (step % 3 == 2) {
        kv_cache_end_writes(cache);
        acknowledged = stored;
    }
}

static void check_got(const struct actor *reader, uint64_t revision)
{
    assert_true(revision >= reader->floor && revision <= stored);
    seen = revision > seen ? revision : seen;
}

static void step_reader(struct actor *reader, unsigned step)
{
    struct kv_value *value;

    if (step % 3 == 0) {
        reader->floor = acknowledged > seen ? acknowledged : seen;
        reader->got = 0;
        value = kv_cache_acquire(cache, BYTES("key"), &reader->ticket);
        if (value)
            check_got(reader, value->meta.revision);
        else
            reader->got = 1;
        kv_value_release(&value);
    } else if (step % 3 == 1 && reader->got) {
        reader->got = stored;
        check_got(reader, stored);
    } else if (reader->got) {
        offer(BYTES("key"), &reader->ticket, reader->got, 0);
    }
}

static void play(struct actor actors[static ACTORS], const unsigned *trace,
                 unsigned length)
{
    unsigned steps[ACTORS] = {0};
    uint64_t inside;

    stored = acknowledged = seen = 1;
    reopen_cache(EVICT_SIEVE, GROUP_BYTES, 1);
    for (unsigned i = 0; i < length; i++) {
        struct actor *actor = &actors[trace[i]];
        unsigned step = steps[trace[i]]++;

        if (actor->is_writer)
            step_writer(step);
        else
            step_reader(actor, step);
    }
    inside = revision_of(BYTES("key"));
    assert_true(inside == 0 || inside == stored);
}

/* Returns how many orders there were. */
static unsigned play_all(struct actor actors[static ACTORS],
                         unsigned left[static ACTORS], unsigned *trace,
                         unsigned length)
{
    unsigned played = 0;

    for (unsigned i = 0; i < ACTORS; i++) {
        if (left[i] == 0)
            continue;
        left[i]--;
        trace[length] = i;
        played += play_all(actors, left, trace, length + 1);
        left[i]++;
    }
    if (played > 0)
        return played;
    play(actors, trace, length);
    return 1;
}

TEST(no_order_of_steps_shows_an_older_value_after_a_newer)
{
    static const unsigned steps[][ACTORS] = {{3, 3, 6}, {6, 3, 3}};

    for (unsigned i = 0; i < 2; i++) {
        struct actor actors[ACTORS] = {{.is_writer = true}};
        unsigned left[ACTORS], trace[TRACE_MAX];

        memcpy(left, steps[i], sizeof(left));
        /* 12! / (3! 3! 6!) */
        assert_int_equal(play_all(actors, left, trace, 0), 18480);
    }
}

/* --- A random run --------------------------------------------------------- */

/* Readers hold on to what they read for a while; writes come in groups, some of
 * which come to nothing. A naive store says what there is. */
enum { KEYS = 400, READERS = 8, GROUP_MAX = 20, ROUNDS = 30000 };

struct held {
    bool is_read;
    unsigned key;
    uint64_t revision;
    struct kv_cache_ticket ticket;
};

static uint64_t revisions[KEYS];
static uint64_t last_revision;
static struct held helds[READERS];

static struct bytes key_of(unsigned number)
{
    static char keys[KEYS][16];

    if (keys[number][0] == '\0')
        make_key(number, keys[number]);
    return bytes_of(keys[number]);
}

static void go_on_reading(struct held *held)
{
    struct kv_value *value;

    if (held->is_read) {
        offer(key_of(held->key), &held->ticket, held->revision,
              held->key * 7 % 900);
        held->is_read = false;
        return;
    }
    held->key = draw(2) ? draw(KEYS / 10) : draw(KEYS);
    value = kv_cache_acquire(cache, key_of(held->key), &held->ticket);
    held->is_read = !value;
    held->revision = revisions[held->key];
    if (value)
        assert_int_equal(value->meta.revision, held->revision);
    kv_value_release(&value);
}

static void write_group(void)
{
    unsigned keys[GROUP_MAX];
    unsigned count = 1 + draw(GROUP_MAX);
    bool is_committed = draw(5) > 0;

    for (unsigned i = 0; i < count; i++) {
        keys[i] = draw(KEYS);
        kv_cache_begin_write(cache, key_of(keys[i]));
        go_on_reading(&helds[draw(READERS)]);
    }
    for (unsigned i = 0; i < count && is_committed; i++)
        revisions[keys[i]] = ++last_revision;
    go_on_reading(&helds[draw(READERS)]);
    kv_cache_end_writes(cache);
}

TEST(a_random_run_agrees_with_a_naive_store)
{
    static const unsigned groups[] = {1, 5};

    draw_seed = 11;
    for (size_t i = 0; i < (size_t)2 * POLICIES; i++) {
        struct kv_cache_counts counts;

        reopen_cache((enum evict_policy)(i / 2), GROUP_BYTES, groups[i % 2]);
        memset(helds, 0, sizeof(helds));
        for (unsigned round = 0; round < ROUNDS; round++) {
            go_on_reading(&helds[draw(READERS)]);
            if (draw(30) == 0)
                write_group();
        }
        for (unsigned k = 0; k < KEYS; k++) {
            uint64_t inside = revision_of(key_of(k));

            assert_true(inside == 0 || inside == revisions[k]);
        }
        counts = kv_cache_count(cache);
        assert_true(counts.hits > ROUNDS / 10 && counts.evictions > 100);
        assert_true(counts.bytes <= GROUP_BYTES);
    }
}

/* --- Threads -------------------------------------------------------------- */

/* The store is an array; who reads it notes what was acknowledged and seen
 * before he began, as above. */
enum {
    SHARED_KEYS = 48,
    THREADS = 4,
    WRITE_GROUPS = 2000,
    WRITE_KEYS = 5,
    HITS_MIN = 3000,
    VALUES_KEPT = 8,  /* in each group: no more could be */
    VALUE_BYTES = 400 /* with all that comes to it, and some more */
};

struct shared {
    _Atomic uint64_t stored;
    _Atomic uint64_t floor; /* acknowledged, or seen */
};

static struct shared shared[SHARED_KEYS];
static atomic_bool is_over;

static void raise_to(_Atomic uint64_t *number, uint64_t to)
{
    uint64_t is = *number;

    while (is < to && !atomic_compare_exchange_weak(number, &is, to))
        ;
}

/* cmocka's assertions are the main thread's. Returns the first key whose
 * value went back; NULL: none did. */
static void *read_on(void *context)
{
    uint64_t gets = (uintptr_t)context;

    while (!is_over) {
        unsigned at = (unsigned)(gets++ * 7 % SHARED_KEYS);
        struct bytes key = key_of(at);
        uint64_t floor = shared[at].floor;
        struct kv_cache_ticket ticket;
        struct kv_value *value = kv_cache_acquire(cache, key, &ticket);
        uint64_t revision;

        if (!value) {
            value = make_value(shared[at].stored, 100);
            sched_yield(); /* now a write may come between */
            kv_cache_fill(cache, key, &ticket, value);
        }
        revision = value->meta.revision;
        kv_value_release(&value);
        if (revision < floor)
            return &shared[at];
        raise_to(&shared[at].floor, revision);
    }
    return NULL;
}

/* The only one that writes. */
static void write_on(void)
{
    uint64_t revision = 0;

    for (unsigned group = 0;
         group < WRITE_GROUPS || kv_cache_count(cache).hits < HITS_MIN;
         group++) {
        unsigned first = draw(SHARED_KEYS);

        for (unsigned i = 0; i < WRITE_KEYS; i++)
            kv_cache_begin_write(cache, key_of((first + i) % SHARED_KEYS));
        for (unsigned i = 0; i < WRITE_KEYS; i++)
            shared[(first + i) % SHARED_KEYS].stored = ++revision;
        sched_yield();
        kv_cache_end_writes(cache);
        for (unsigned i = 0; i < WRITE_KEYS; i++) {
            struct shared *at = &shared[(first + i) % SHARED_KEYS];

            raise_to(&at->floor, at->stored);
        }
    }
}

TEST(threads_never_see_a_value_go_back)
{
    static const unsigned groups[] = {1, 3, 16};
    pthread_t threads[THREADS];

    draw_seed = 13;
    for (unsigned i = 0; i < SHARED_KEYS; i++)
        (void)key_of(i); /* made before others read them */
    for (size_t i = 0; i < (size_t)3 * POLICIES; i++) {
        memset(shared, 0, sizeof(shared));
        is_over = false;
        reopen_cache((enum evict_policy)(i / 3),
                     (uint64_t)groups[i % 3] * VALUES_KEPT * VALUE_BYTES,
                     groups[i % 3]);
        for (uintptr_t t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, read_on,
                                            (void *)t),
                             0);
        write_on();
        is_over = true;
        for (unsigned t = 0; t < THREADS; t++) {
            void *found;

            pthread_join(threads[t], &found);
            assert_null(found);
        }
        assert_true(groups[i % 3] > 1 || kv_cache_count(cache).evictions > 0);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
