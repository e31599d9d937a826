/* link: -Wl,--wrap=malloc */
#include "observe/log_lane.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static bool has_memory = true;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return has_memory ? __real_malloc(bytes) : NULL;
}

/* --- A lane ------------------------------------------------------------------ */

static struct log_shared shared;
static struct log_lane *lane;

static int set_up_with(enum log_overflow overflow)
{
    lane = aligned_alloc(_Alignof(struct log_lane), sizeof(*lane));
    return lane && log_shared_init(&shared, overflow) == 0 &&
                   log_lane_init(lane, &shared) == 0
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
    log_lane_fini(lane);
    log_shared_fini(&shared);
    free(lane);
    return 0;
}

/* A line into the block; false: it was dropped. */
static bool put(const char *line)
{
    struct buf *lines = log_lane_begin(lane);

    if (!lines)
        return false;
    buf_put(lines, bytes_of(line));
    assert_false(lines->failed);
    log_lane_end(lane);
    return true;
}

static bool put_block(const char *line)
{
    bool is_put = put(line);

    log_lane_flush(lane);
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

    assert_true(log_lane_peek(lane, &block));
    assert_int_equal(block.len, strlen(text));
    assert_memory_equal(block.data, text, block.len);
    log_lane_give_back(lane);
}

static void assert_nothing_comes(void)
{
    struct log_block block;

    assert_false(log_lane_peek(lane, &block));
}

static uint64_t count_wakes(void)
{
    uint64_t wakes = 0;

    assert_true(read(shared.wake_fd, &wakes, sizeof(wakes)) == sizeof(wakes) ||
                errno == EAGAIN);
    return wakes;
}

/* --- Over and back ------------------------------------------------------------- */

static void lines_come_over_in_order(void **state)
{
    (void)state;
    assert_nothing_comes();
    assert_true(put("a\n"));
    assert_true(put("b\n"));
    assert_nothing_comes();
    log_lane_flush(lane);
    assert_true(put_block("c\n"));
    assert_comes("a\nb\n");
    assert_comes("c\n");
    assert_nothing_comes();
    assert_int_equal(log_lane_put_lines(lane), 3);
}

static void the_reader_is_woken_once_a_block(void **state)
{
    (void)state;
    log_lane_flush(lane); /* of nothing */
    assert_int_equal(count_wakes(), 0);
    put("a\n");
    put("b\n");
    assert_int_equal(count_wakes(), 0);
    log_lane_flush(lane);
    assert_int_equal(count_wakes(), 1);
    log_lane_flush(lane);
    assert_int_equal(count_wakes(), 0);
}

static void a_block_stays_until_it_is_given_back(void **state)
{
    struct log_block first, again;

    (void)state;
    put_block("a\n");
    assert_true(log_lane_peek(lane, &first));
    assert_true(log_lane_peek(lane, &again));
    assert_ptr_equal(first.data, again.data);
    log_lane_give_back(lane);
    assert_nothing_comes();
}

static void the_block_that_came_back_last_is_filled_next(void **state)
{
    struct log_block block;

    (void)state;
    fill();
    for (int i = 0; i < 3; i++) {
        assert_true(log_lane_peek(lane, &block));
        log_lane_give_back(lane);
    }
    put("y\n");
    assert_ptr_equal(lane->lines.data, block.data);
}

static void a_block_holds_one_line_of_the_longest(void **state)
{
    static char line[LOG_LINE_BYTES_MAX];
    struct buf *lines = log_lane_begin(lane);

    (void)state;
    memset(line, 'x', sizeof(line));
    buf_put(lines, (struct bytes){line, sizeof(line)});
    assert_false(lines->failed);
    buf_put(lines, BYTES("x"));
    assert_true(lines->failed);
    assert_int_equal(lines->len, LOG_LINE_BYTES_MAX);
}

/* --- Overflow ------------------------------------------------------------------- */

static void a_full_lane_drops_lines_and_counts_them(void **state)
{
    (void)state;
    fill();
    for (uint64_t i = 1; i <= 1000; i++) {
        assert_false(put("lost\n"));
        assert_int_equal(log_lane_dropped_lines(lane), i);
    }
    log_lane_flush(lane);
    assert_comes("x\n");
    assert_true(put_block("kept\n"));
    assert_false(put("lost\n"));
    for (int i = 1; i < LOG_BLOCKS; i++)
        assert_comes("x\n");
    assert_comes("kept\n");
    assert_nothing_comes();
    assert_int_equal(log_lane_dropped_lines(lane), 1001);
    assert_int_equal(log_lane_put_lines(lane), LOG_BLOCKS + 1);
}

static void *put_once(void *context)
{
    *(bool *)context = put_block("late\n");
    return NULL;
}

/* Fills the lane, and has a thread put one line more. */
static pthread_t begin_waiting(bool *is_put)
{
    pthread_t thread;

    fill();
    assert_int_equal(pthread_create(&thread, NULL, put_once, is_put), 0);
    while (atomic_load(&shared.waiting) == 0)
        sched_yield();
    return thread;
}

static void a_worker_waits_for_a_block(void **state)
{
    bool is_put = false;
    pthread_t thread = begin_waiting(&is_put);

    (void)state;
    assert_comes("x\n");
    pthread_join(thread, NULL);
    assert_true(is_put);
    for (int i = 1; i < LOG_BLOCKS; i++)
        assert_comes("x\n");
    assert_comes("late\n");
    assert_int_equal(log_lane_dropped_lines(lane), 0);
    assert_int_equal(atomic_load(&shared.waiting), 0);
}

static void a_stop_ends_the_waiting(void **state)
{
    bool is_put = true;
    pthread_t thread = begin_waiting(&is_put);

    (void)state;
    log_shared_hurry(&shared, 1); /* long ago */
    pthread_join(thread, NULL);
    assert_false(is_put);
    assert_int_equal(log_lane_dropped_lines(lane), 1);
    assert_false(put("lost too, at once\n"));
    assert_comes("x\n");
    assert_true(put("there is room\n"));
}

/* --- Two threads ----------------------------------------------------------------- */

enum { LINES = 20000, LINES_A_BLOCK = 3 };

static void *put_numbers(void *context)
{
    char line[32];

    (void)context;
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), "%d\n", i);
        put(line);
        if (i % LINES_A_BLOCK == 0)
            log_lane_flush(lane);
    }
    log_lane_flush(lane);
    return NULL;
}

/* Takes what comes until all lines have, or have been dropped; returns how
 * many came. */
static uint64_t take_numbers(void)
{
    uint64_t lines = 0;
    long last = -1;
    struct log_block block;

    while (lines + log_lane_dropped_lines(lane) < LINES) {
        const char *at;

        if (!log_lane_peek(lane, &block)) {
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
        log_lane_give_back(lane);
    }
    return lines;
}

static void lines_race_over_whole_and_in_order(void **state)
{
    uint64_t lines;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, put_numbers, NULL), 0);
    lines = take_numbers();
    pthread_join(thread, NULL);
    assert_int_equal(lines, log_lane_put_lines(lane));
    if (shared.overflow == LOG_OVERFLOW_WAIT)
        assert_int_equal(lines, LINES);
}

static void without_memory_there_is_no_lane(void **state)
{
    struct log_lane other;

    (void)state;
    has_memory = false;
    assert_int_equal(log_lane_init(&other, &shared), -ENOMEM);
    has_memory = true;
    log_lane_fini(&other);
}

#define DROPPING(name) \
    cmocka_unit_test_setup_teardown(name, set_up_dropping, tear_down)
#define WAITING(name) \
    cmocka_unit_test_setup_teardown(name, set_up_waiting, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DROPPING(lines_come_over_in_order),
        DROPPING(the_reader_is_woken_once_a_block),
        DROPPING(a_block_stays_until_it_is_given_back),
        DROPPING(the_block_that_came_back_last_is_filled_next),
        DROPPING(a_block_holds_one_line_of_the_longest),
        DROPPING(a_full_lane_drops_lines_and_counts_them),
        WAITING(a_worker_waits_for_a_block),
        WAITING(a_stop_ends_the_waiting),
        DROPPING(lines_race_over_whole_and_in_order),
        WAITING(lines_race_over_whole_and_in_order),
        DROPPING(without_memory_there_is_no_lane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
