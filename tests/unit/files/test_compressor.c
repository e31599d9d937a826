/* link: -Wl,--wrap=malloc,--wrap=calloc -lz */
#include "files/compressor.h"

#include <pthread.h>
#include <time.h>
#include <zlib.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"

static struct place place;
static struct compressor *compressor;
static struct counter told[STATS_COMPRESS_NUMBERS];
static char text[COMPRESSOR_TEXT_BYTES_MAX];
static unsigned fds_before;

static int begin_with(unsigned workers)
{
    memset(told, 0, sizeof(told));
    return compressor_create(&compressor, 1, workers, told);
}

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "all work and no play "[i * i % 21];
    fds_before = place_count_fds();
    return place_open(&place) == 0 && begin_with(1) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    allocations_left = -1;
    compressor_destroy(compressor);
    compressor = NULL;
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

SUITE(.each_begin = begin, .each_end = end);

static uint64_t told_of(size_t offset)
{
    return counter_read(&told[offset / sizeof(uint64_t)]);
}

#define TOLD(member) told_of(offsetof(struct stats_compress, member))

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Anything that has versions: here numbers. */
static struct compress_order order_of(uint64_t number, size_t len)
{
    return (struct compress_order){
        .stamp = {.device = UINT64_MAX, .inode = number, .bytes = len},
        .coding = CODING_GZIP,
        .text = {text, len}};
}

static enum compressor_answer ask(const struct compress_order *order,
                                  struct coded_body **body)
{
    *body = NULL;
    return compressor_ask(compressor, order, 1000, body);
}

/* Until there is an answer. */
static enum compressor_answer await(const struct compress_order *order,
                                    struct coded_body **body)
{
    enum compressor_answer answer;

    for (int i = 0; i < 20000; i++) {
        answer = ask(order, body);
        if (answer != COMPRESSOR_LATER)
            return answer;
        pause_ms(1);
    }
    fail_msg("no answer");
    return answer;
}

static bool unpacks_to(const struct coded_body *body, const char *expected,
                       size_t len)
{
    static char out[COMPRESSOR_TEXT_BYTES_MAX * 8];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)body->bytes,
                       .avail_in = (uInt)body->len,
                       .next_out = (Bytef *)out,
                       .avail_out = sizeof(out)};
    bool is_right = inflateInit2(&stream, 15 + 16) == Z_OK &&
                    inflate(&stream, Z_FINISH) == Z_STREAM_END &&
                    stream.total_out == len && memcmp(out, expected, len) == 0;

    inflateEnd(&stream);
    return is_right;
}

/* --- Orders -------------------------------------------------------------- */

TEST(what_is_ordered_is_made)
{
    struct compress_order order = order_of(1, 5000);
    struct coded_body *body;

    assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
    assert_int_equal(await(&order, &body), COMPRESSOR_READY);
    assert_true(unpacks_to(body, text, 5000));
    coded_body_release(body);
    assert_int_equal(TOLD(made), 1);
    assert_int_equal(TOLD(bytes_in), 5000);
    assert_int_equal(TOLD(queued), 0);
    assert_int_equal(TOLD(memory_bytes), 0); /* the only worker has it */
    assert_true(TOLD(memory_bytes_max) > 5000);
}

TEST(each_is_made_once_for_all_workers)
{
    struct compress_order order = order_of(1, 5000);
    struct coded_body *bodies[3];

    compressor_destroy(compressor);
    assert_int_equal(begin_with(3), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(await(&order, &bodies[i]), COMPRESSOR_READY);
    assert_ptr_equal(bodies[0], bodies[1]);
    assert_ptr_equal(bodies[0], bodies[2]);
    assert_int_equal(TOLD(made), 1);
    for (int i = 0; i < 3; i++)
        coded_body_release(bodies[i]);
    /* All have had it: it is forgotten. */
    assert_int_equal(ask(&order, &bodies[0]), COMPRESSOR_LATER);
}

TEST(versions_codings_and_efforts_are_orders_of_their_own)
{
    struct compress_order orders[6];
    struct coded_body *body;

    for (int i = 0; i < 6; i++)
        orders[i] = order_of(1, 5000);
    orders[1].coding = CODING_BR;
    orders[2].effort = CODEC_SLOW;
    orders[3].stamp.changed_ns = 1;
    orders[4].stamp.modified_ns = 1;
    orders[5].stamp.device = 1;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(await(&orders[i], &body), COMPRESSOR_READY);
        coded_body_release(body);
    }
    assert_int_equal(TOLD(made), 6);
}

/* What nothing makes smaller. */
static void fill_with_noise(char *to, size_t len)
{
    uint32_t seed = 7;

    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525 + 1013904223;
        to[i] = (char)(seed >> 24);
    }
}

TEST(what_does_not_get_smaller_is_remembered)
{
    struct compress_order order = order_of(1, 600);
    struct coded_body *body;

    fill_with_noise(text, 600);
    for (int i = 0; i < 5; i++)
        assert_int_equal(await(&order, &body), COMPRESSOR_HOPELESS);
    assert_int_equal(TOLD(hopeless), 1);
}

/* 5 per cent is the least: what saves one byte is not worth a variant. */
TEST(what_gets_smaller_by_less_than_a_twentieth_is_hopeless)
{
    struct compress_order order = order_of(1, 4000);
    struct coded_body *body;

    memset(text, 'a', 4000);
    fill_with_noise(text, 3900);
    assert_int_equal(await(&order, &body), COMPRESSOR_HOPELESS);
}

TEST(a_queue_has_an_end)
{
    struct compress_order order = order_of(0, COMPRESSOR_TEXT_BYTES_MAX);
    unsigned later = 0, refused = 0;
    struct coded_body *body;

    order.coding = CODING_BR; /* what keeps the thread busy */
    for (uint64_t i = 0; i < 10000; i++) {
        order.stamp.inode = i;
        switch (ask(&order, &body)) {
        case COMPRESSOR_LATER:
            later++;
            break;
        case COMPRESSOR_REFUSED:
            refused++;
            break;
        case COMPRESSOR_READY:
        case COMPRESSOR_HOPELESS:
            fail();
        }
        assert_true(TOLD(queued) <= COMPRESSOR_QUEUE_MAX);
    }
    assert_true(later >= COMPRESSOR_QUEUE_MAX && refused > 0);
    assert_int_equal(TOLD(refused), refused);
}

static struct compress_order slow_order(void)
{
    struct compress_order order = order_of(0, COMPRESSOR_TEXT_BYTES_MAX);

    order.effort = CODEC_SLOW;
    order.coding = CODING_BR;
    return order;
}

/* What waits for idle time waits long: the queue is not for it alone. */
TEST(slow_orders_leave_room_for_quick_ones)
{
    struct compress_order slow = slow_order();
    struct coded_body *body;

    for (uint64_t i = 0; i < 1000; i++) {
        slow.stamp.inode = i;
        assert_int_equal(ask(&slow, &body), COMPRESSOR_LATER);
        assert_true(TOLD(queued) <= COMPRESSOR_SLOW_MAX);
    }
    assert_int_equal(TOLD(queued), COMPRESSOR_SLOW_MAX);
    assert_int_equal(TOLD(refused), 0); /* it is asked again */
}

TEST(quick_orders_go_before_slow_ones)
{
    struct compress_order slow = slow_order();
    struct compress_order quick = order_of(1000, 1000);
    struct coded_body *body;

    for (uint64_t i = 0; i < COMPRESSOR_SLOW_MAX; i++) {
        slow.stamp.inode = i;
        assert_int_equal(ask(&slow, &body), COMPRESSOR_LATER);
    }
    assert_int_equal(await(&quick, &body), COMPRESSOR_READY);
    coded_body_release(body);
    assert_true(TOLD(queued) > COMPRESSOR_SLOW_MAX / 2);
}

/* --- Files --------------------------------------------------------------- */

static struct compress_order order_of_written(const char *name,
                                              const char *from, size_t len)
{
    struct compress_order order = {.coding = CODING_GZIP};
    struct stat st;

    assert_int_equal(place_write_bytes(&place, name, from, len), 0);
    order.fd = open(place_path(&place, name), O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(order.fd, &st), 0);
    order.stamp = file_stamp_of(&st);
    return order;
}

static struct compress_order order_of_file(const char *name, size_t len)
{
    return order_of_written(name, text, len);
}

TEST(a_file_is_read_through_a_duplicate)
{
    struct compress_order order = order_of_file("file", 40000);
    struct coded_body *body;

    assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
    close(order.fd);
    assert_int_equal(unlink(place_path(&place, "file")), 0);
    /* Its link count, and so its stamp, has changed, or it was read before. */
    switch (await(&order, &body)) {
    case COMPRESSOR_READY:
        assert_true(unpacks_to(body, text, 40000));
        coded_body_release(body);
        break;
    case COMPRESSOR_REFUSED:
        break;
    case COMPRESSOR_LATER:
    case COMPRESSOR_HOPELESS:
        fail();
    }
}

TEST(a_file_of_another_version_gives_nothing)
{
    static const struct {
        off_t len;
        time_t date;
    } changes[] = {{100, 0}, {50000, 0}, {-1, 1000000000}};

    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct compress_order order = order_of_file("file", 40000);
        struct coded_body *body;

        if (changes[i].len >= 0)
            assert_int_equal(ftruncate(order.fd, changes[i].len), 0);
        else
            assert_int_equal(place_set_time(&place, "file", changes[i].date),
                             0);
        assert_int_equal(await(&order, &body), COMPRESSOR_REFUSED);
        close(order.fd);
        unlink(place_path(&place, "file"));
    }
    assert_int_equal(TOLD(failed), 3);
}

TEST(what_has_failed_is_tried_again_after_a_while)
{
    struct compress_order order = order_of_file("file", 40000);
    struct coded_body *body = NULL;

    assert_int_equal(ftruncate(order.fd, 1), 0);
    assert_int_equal(await(&order, &body), COMPRESSOR_REFUSED);
    assert_int_equal(compressor_ask(compressor, &order,
                                    1000 + COMPRESSOR_RETRY_MS, &body),
                     COMPRESSOR_REFUSED);
    assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
    close(order.fd);
}

TEST(orders_do_not_take_all_descriptors)
{
    struct compress_order slow = order_of(0, COMPRESSOR_TEXT_BYTES_MAX);
    struct compress_order order = order_of_file("file", 40000);
    struct coded_body *body;
    unsigned taken = 0;

    slow.coding = CODING_BR; /* what keeps the thread busy */
    for (uint64_t i = 0; i < 50; i++) {
        slow.stamp.inode = i;
        assert_int_equal(ask(&slow, &body), COMPRESSOR_LATER);
    }
    for (int i = 0; i < 100; i++) {
        order.stamp.changed_ns++;
        taken += ask(&order, &body) == COMPRESSOR_LATER;
        assert_true(place_count_fds() <=
                    fds_before + 2 + COMPRESSOR_DESCRIPTORS_MAX);
    }
    assert_true(taken >= COMPRESSOR_DESCRIPTORS_MAX);
    close(order.fd);
}

TEST(slow_orders_leave_descriptors_for_quick_ones)
{
    struct compress_order order = order_of_file("file", 40000);
    struct coded_body *body;

    order.effort = CODEC_SLOW;
    order.coding = CODING_BR;
    for (int i = 0; i < 100; i++) {
        order.stamp.changed_ns++;
        assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
        assert_true(place_count_fds() <=
                    fds_before + 2 + COMPRESSOR_SLOW_DESCRIPTORS_MAX);
    }
    order.effort = CODEC_QUICK;
    assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
    assert_int_equal(TOLD(refused), 0);
    close(order.fd);
}

/* --- Memory -------------------------------------------------------------- */

TEST(without_memory_there_is_no_order_and_no_result)
{
    struct coded_body *body;

    for (long left = 0; left < 12; left++) {
        struct compress_order order = order_of((uint64_t)left, 5000);
        enum compressor_answer answer;

        allocations_left = left;
        answer = await(&order, &body);
        allocations_left = -1;
        assert_true(answer == COMPRESSOR_REFUSED || answer == COMPRESSOR_READY);
        coded_body_release(body);
    }
    assert_true(TOLD(failed) + TOLD(refused) > 0);
    assert_true(TOLD(made) > 0);
}

TEST(the_shelf_is_bounded)
{
    struct compress_order order = order_of(0, COMPRESSOR_TEXT_BYTES_MAX);
    struct coded_body *body;

    compressor_destroy(compressor);
    assert_int_equal(begin_with(2), 0); /* the second never comes */
    order.text.len = order.stamp.bytes = 600;
    for (uint64_t i = 0; i < COMPRESSOR_SHELF_MAX + 200; i++) {
        order.stamp.inode = i;
        assert_int_equal(await(&order, &body), COMPRESSOR_READY);
        coded_body_release(body);
    }
    order.stamp.inode = 0;
    assert_int_equal(ask(&order, &body), COMPRESSOR_LATER);
    order.stamp.inode = COMPRESSOR_SHELF_MAX;
    assert_int_equal(ask(&order, &body), COMPRESSOR_READY);
    coded_body_release(body);
}

/* What was dropped because it is too long for the shelf would be ordered, and
 * made, again by each who asks. */
TEST(a_result_longer_than_the_shelf_is_made_once)
{
    enum { NOISE = COMPRESSOR_SHELF_BYTES_MAX + 1, LEN = NOISE / 8 * 9 };
    char *long_text = calloc(1, LEN);
    struct compress_order order;
    struct coded_body *body;

    assert_non_null(long_text);
    fill_with_noise(long_text, NOISE);
    order = order_of_written("long", long_text, LEN);
    free(long_text);
    order.coding = CODING_ZSTD;
    assert_int_equal(await(&order, &body), COMPRESSOR_READY);
    assert_true(body->len > COMPRESSOR_SHELF_BYTES_MAX);
    coded_body_release(body);
    assert_int_equal(TOLD(made), 1);
    close(order.fd);
}

/* --- Threads ------------------------------------------------------------- */

static void *ask_much(void *context)
{
    const uint64_t *number = context;

    for (uint64_t i = 0; i < 300; i++) {
        struct compress_order order = order_of(i % 40 + *number, 2000);
        struct coded_body *body;

        if (await(&order, &body) == COMPRESSOR_READY) {
            assert_true(body->len < 1000);
            coded_body_release(body);
        }
    }
    return NULL;
}

TEST(many_workers_ask_at_once)
{
    uint64_t numbers[3] = {0, 10, 20};
    pthread_t threads[3];

    compressor_destroy(compressor);
    memset(told, 0, sizeof(told));
    assert_int_equal(compressor_create(&compressor, 3, 4, told), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_much,
                                        &numbers[i]),
                         0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(TOLD(made) >= 40);
}
