/* link: -Wl,--wrap=malloc */
#include "observe/log_ring.h"

#include <sched.h>

#include "suite.h"
#include "unit/memory.h"

/* --- A ring -------------------------------------------------------------- */

static struct log_shared shared;
static struct log_ring *ring;

static int set_up_with(enum log_overflow overflow)
{
    ring = aligned_alloc(_Alignof(struct log_ring), sizeof(*ring));
    return ring && log_shared_init(&shared, overflow) == 0 &&
                   log_ring_init(ring, &shared) == 0
               ? 0
               : -1;
}

static int set_up_dropping(void **state)
{
    (void)state;
    return set_up_with(LOG_OVERFLOW_DROP);
}

static int set_up_waiting(void **state)
{
    (void)state;
    return set_up_with(LOG_OVERFLOW_WAIT);
}

static int tear_down(void **state)
{
    (void)state;
    log_ring_fini(ring);
    log_shared_fini(&shared);
    free(ring);
    return 0;
}

/* A line into the block; false: it was dropped. */
static bool put(const char *line)
{
    struct buf *lines = log_ring_begin(ring);

    if (!lines)
        return false;
    buf_put(lines, bytes_of(line));
    assert_false(lines->failed);
    log_ring_end(ring);
    return true;
}

static bool put_block(const char *line)
{
    bool is_put = put(line);

    log_ring_flush(ring);
    return is_put;
}

static void fill(void)
{
    for (int i = 0; i < LOG_BLOCKS; i++)
        assert_true(put_block("x\n"));
}

static void assert_comes(const char *text)
{
    struct log_block block;

    assert_true(log_ring_peek(ring, &block));
    assert_int_equal(block.len, strlen(text));
    assert_memory_equal(block.data, text, block.len);
    log_ring_give_back(ring);
}

static void assert_nothing_comes(void)
{
    struct log_block block;

    assert_false(log_ring_peek(ring, &block));
}

static uint64_t count_wakes(void)
{
    uint64_t wakes = 0;

    assert_true(read(shared.wake_fd, &wakes, sizeof(wakes)) == sizeof(wakes) ||
                errno == EAGAIN);
    return wakes;
}

/* --- Over and back ------------------------------------------------------- */

TEST(lines_come_over_in_order)
{
    assert_nothing_comes();
    assert_true(put("a\n"));
    assert_true(put("b\n"));
    assert_nothing_comes();
    log_ring_flush(ring);
    assert_true(put_block("c\n"));
    assert_comes("a\nb\n");
    assert_comes("c\n");
    assert_nothing_comes();
    assert_int_equal(log_ring_put_lines(ring), 3);
}

TEST(the_reader_is_woken_once_a_block)
{
    log_ring_flush(ring); /* of nothing */
    assert_int_equal(count_wakes(), 0);
    put("a\n");
    put("b\n");
    assert_int_equal(count_wakes(), 0);
    log_ring_flush(ring);
    assert_int_equal(count_wakes(), 1);
    log_ring_flush(ring);
    assert_int_equal(count_wakes(), 0);
}

TEST(a_block_stays_until_it_is_given_back)
{
    struct log_block first, again;

    put_block("a\n");
    assert_true(log_ring_peek(ring, &first));
    assert_true(log_ring_peek(ring, &again));
    assert_ptr_equal(first.data, again.data);
    log_ring_give_back(ring);
    assert_nothing_comes();
}

TEST(the_block_that_came_back_last_is_filled_next)
{
    struct log_block block;

    fill();
    for (int i = 0; i < 3; i++) {
        assert_true(log_ring_peek(ring, &block));
        log_ring_give_back(ring);
    }
    put("y\n");
    assert_ptr_equal(ring->lines.data, block.data);
}

TEST(a_block_holds_one_line_of_the_longest)
{
    static char line[LOG_LINE_BYTES_MAX];
    struct buf *lines = log_ring_begin(ring);

    memset(line, 'x', sizeof(line));
    buf_put(lines, (struct bytes){line, sizeof(line)});
    assert_false(lines->failed);
    buf_put(lines, BYTES("x"));
    assert_true(lines->failed);
    assert_int_equal(lines->len, LOG_LINE_BYTES_MAX);
}

/* --- Overflow ------------------------------------------------------------ */

TEST(a_full_ring_drops_lines_and_counts_them)
{
    fill();
    for (uint64_t i = 1; i <= 1000; i++) {
        assert_false(put("lost\n"));
        assert_int_equal(log_ring_dropped_lines(ring), i);
    }
    log_ring_flush(ring);
    assert_comes("x\n");
    assert_true(put_block("kept\n"));
    assert_false(put("lost\n"));
    for (int i = 1; i < LOG_BLOCKS; i++)
        assert_comes("x\n");
    assert_comes("kept\n");
    assert_nothing_comes();
    assert_int_equal(log_ring_dropped_lines(ring), 1001);
    assert_int_equal(log_ring_put_lines(ring), LOG_BLOCKS + 1);
}

static void *put_once(void *context)
{
    *(bool *)context = put_block("late\n");
    return NULL;
}

/* Fills the ring, and has a thread put one line more. */
static pthread_t begin_waiting(bool *is_put)
{
    pthread_t thread;

    fill();
    assert_int_equal(pthread_create(&thread, NULL, put_once, is_put), 0);
    while (atomic_load(&shared.waiting) == 0)
        sched_yield();
    return thread;
}

TEST_WITH(a_worker_waits_for_a_block, set_up_waiting, tear_down)
{
    bool is_put = false;
    pthread_t thread = begin_waiting(&is_put);

    assert_comes("x\n");
    pthread_join(thread, NULL);
    assert_true(is_put);
    for (int i = 1; i < LOG_BLOCKS; i++)
        assert_comes("x\n");
    assert_comes("late\n");
    assert_int_equal(log_ring_dropped_lines(ring), 0);
    assert_int_equal(atomic_load(&shared.waiting), 0);
}

TEST_WITH(a_stop_ends_the_waiting, set_up_waiting, tear_down)
{
    bool is_put = true;
    pthread_t thread = begin_waiting(&is_put);

    log_shared_end_soon(&shared, 1); /* long ago */
    pthread_join(thread, NULL);
    assert_false(is_put);
    assert_int_equal(log_ring_dropped_lines(ring), 1);
    assert_false(put("lost too, at once\n"));
    assert_comes("x\n");
    assert_true(put("there is room\n"));
}

/* --- Two threads --------------------------------------------------------- */

enum { LINES = 20000, LINES_A_BLOCK = 3 };

static void *put_numbers(void *context)
{
    char line[32];

    (void)context;
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), "%d\n", i);
        put(line);
        if (i % LINES_A_BLOCK == 0)
            log_ring_flush(ring);
    }
    log_ring_flush(ring);
    return NULL;
}

/* Takes what comes until all lines have, or have been dropped; returns how
 * many came. */
static uint64_t take_numbers(void)
{
    uint64_t lines = 0;
    long last = -1;
    struct log_block block;

    while (lines + log_ring_dropped_lines(ring) < LINES) {
        const char *at;

        if (!log_ring_peek(ring, &block)) {
            sched_yield();
            continue;
        }
        for (at = block.data; at < block.data + block.len; lines++) {
            char *end;
            long number = strtol(at, &end, 10);

            assert_true(*end == '\n' && number > last);
            last = number;
            at = end + 1;
        }
        assert_ptr_equal(at, block.data + block.len);
        log_ring_give_back(ring);
    }
    return lines;
}

static void lines_race(void)
{
    uint64_t lines;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, put_numbers, NULL), 0);
    lines = take_numbers();
    pthread_join(thread, NULL);
    assert_int_equal(lines, log_ring_put_lines(ring));
    if (shared.overflow == LOG_OVERFLOW_WAIT)
        assert_int_equal(lines, LINES);
}

TEST(lines_race_over_whole_and_in_order)
{
    lines_race();
}

TEST_WITH(lines_race_over_whole_and_in_order_when_workers_wait, set_up_waiting,
          tear_down)
{
    lines_race();
}

TEST(without_memory_there_is_no_ring)
{
    struct log_ring other;

    allocations_left = 0;
    assert_int_equal(log_ring_init(&other, &shared), -ENOMEM);
    allocations_left = -1;
    log_ring_fini(&other);
}

SUITE(.each_begin = set_up_dropping, .each_end = tear_down);
