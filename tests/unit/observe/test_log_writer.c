/* link: -Wl,--wrap=write,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=pthread_create */
#include "observe/log_writer.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "wrap.h"

enum { LANES = 4 };

/* --- System calls that fail ---------------------------------------------- */

static atomic_int log_fd; /* whose writes are told apart; -1: none */
static atomic_int write_errno;
static atomic_uint failures;     /* of writes that are still to come */
static atomic_size_t write_most; /* bytes at once */
static atomic_long room;         /* on the disk; negative: any */
static bool has_threads = true;

/* What was said on stderr. Only one thread speaks at a time here. */
static char said[4096];
static atomic_size_t said_len;

WRAP(ssize_t, write, int fd, const void *data, size_t len)
{
    size_t at = atomic_load(&said_len);

    if (fd == STDERR_FILENO && atomic_load(&log_fd) != -1) {
        if (at + len >= sizeof(said))
            return -1;
        memcpy(said + at, data, len);
        atomic_store(&said_len, at + len);
        return (ssize_t)len;
    }
    if (fd != atomic_load(&log_fd))
        return __real_write(fd, data, len);
    if (atomic_load(&failures) > 0) {
        atomic_fetch_sub(&failures, 1);
        errno = atomic_load(&write_errno);
        return -1;
    }
    if (len > atomic_load(&write_most))
        len = atomic_load(&write_most);
    if (atomic_load(&room) >= 0) {
        if (len > (size_t)atomic_load(&room))
            len = (size_t)atomic_load(&room);
        atomic_fetch_sub(&room, (long)len);
        errno = ENOSPC;
        if (len == 0)
            return -1;
    }
    return __real_write(fd, data, len);
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr,
     void *(*start)(void *), void *context)
{
    return has_threads ? __real_pthread_create(thread, attr, start, context)
                       : EAGAIN;
}

/* --- A writer ------------------------------------------------------------ */

static struct place place;
static struct log_writer *writer;
static char log_path[PLACE_NAME_MAX + 10];

static int set_up(void **state)
{
    (void)state;
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    atomic_store(&failures, 0);
    atomic_store(&room, -1);
    atomic_store(&write_most, SIZE_MAX);
    atomic_store(&said_len, 0);
    memset(said, 0, sizeof(said));
    writer = NULL;
    if (place_open(&place) != 0)
        return -1;
    snprintf(log_path, sizeof(log_path), "%s/log", place.name);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    log_writer_destroy(writer);
    atomic_store(&log_fd, -1);
    return place_close(&place);
}

static void start(enum log_overflow overflow)
{
    struct log_sink sink;

    assert_int_equal(log_sink_open(&sink, log_path), 0);
    atomic_store(&log_fd, sink.fd);
    assert_int_equal(log_writer_create(&writer, &sink, "LOG", overflow, LANES),
                     0);
    assert_int_equal(sink.fd, -1);
}

static void stop(void)
{
    log_writer_destroy(writer);
    writer = NULL;
}

static void put(size_t number, const char *line)
{
    struct log_ring *ring = log_writer_ring(writer, number);
    struct buf *lines = log_ring_begin(ring);

    if (!lines)
        return;
    buf_put(lines, bytes_of(line));
    log_ring_end(ring);
    log_ring_flush(ring);
}

static const char *read_file(const char *name)
{
    static char text[8 << 20];
    int fd = openat(place.fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

static void wait_until_said(const char *part)
{
    while (!memmem(said, atomic_load(&said_len), part, strlen(part)))
        sched_yield();
}

/* --- Writing ------------------------------------------------------------- */

TEST(what_was_flushed_is_written_before_the_end)
{
    start(LOG_OVERFLOW_WAIT);
    for (int i = 0; i < 100; i++)
        put((size_t)i % LANES, "line\n");
    stop();
    assert_int_equal(count_of(read_file("log"), "line\n"), 100);
    assert_int_equal(strlen(read_file("log")), 500);
    assert_string_equal(said, "");
}

TEST(an_idle_one_ends_at_once)
{
    start(LOG_OVERFLOW_DROP);
    stop();
    assert_string_equal(read_file("log"), "");
}

/* Lines with numbers from as many threads as there are rings. */
enum { LINES = 5000 };

static void *put_numbers(void *context)
{
    struct log_ring *ring = context;
    size_t number = 0;

    while (log_writer_ring(writer, number) != ring)
        number++;
    for (int i = 0; i < LINES; i++) {
        struct buf *lines = log_ring_begin(ring);
        char line[100];

        if (!lines)
            continue;
        /* Of different lengths, so that pieces end anywhere in them. */
        snprintf(line, sizeof(line), "<%zu:%d:%.*s>\n", number, i, i % 50,
                 "..................................................");
        buf_put(lines, bytes_of(line));
        log_ring_end(ring);
        if (i % 97 == 0)
            log_ring_flush(ring);
    }
    log_ring_flush(ring);
    return NULL;
}

static void run_producers(void (*meanwhile)(void))
{
    pthread_t threads[LANES];

    for (size_t i = 0; i < LANES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_numbers,
                                        log_writer_ring(writer, i)),
                         0);
    if (meanwhile)
        meanwhile();
    for (size_t i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
}

/* Checks that all lines of a file are whole, and go on in each ring where
 * next[] says. */
static void check_lines(const char *name, int next[LANES])
{
    const char *at = read_file(name);

    while (*at) {
        unsigned ring;
        int number, len;

        assert_int_equal(sscanf(at, "<%u:%d:%n", &ring, &number, &len), 2);
        at += len;
        len = number % 50;
        assert_int_equal(strspn(at, "."), len);
        assert_memory_equal(at + len, ">\n", 2);
        at += len + 2;
        assert_int_equal(number, next[ring]);
        next[ring] = number + 1;
    }
}

TEST(lines_of_all_workers_are_whole_and_in_order)
{
    static const size_t mosts[] = {SIZE_MAX, 4096, 1000, 61};

    for (size_t i = 0; i < 4; i++) {
        int next[LANES] = {0};

        start(LOG_OVERFLOW_WAIT);
        atomic_store(&write_most, mosts[i]);
        run_producers(NULL);
        assert_int_equal(log_writer_count(writer).lines, LANES * LINES);
        stop();
        check_lines("log", next);
        for (size_t ring = 0; ring < LANES; ring++)
            assert_int_equal(next[ring], LINES);
        assert_string_equal(said, "");
        tear_down(state);
        set_up(state);
    }
}

static void rotate(void)
{
    for (int i = 1; i <= 20; i++) {
        char name[16];
        struct stat st;

        snprintf(name, sizeof(name), "log.%d", i);
        assert_int_equal(renameat(place.fd, "log", place.fd, name), 0);
        log_writer_reopen(writer);
        while (fstatat(place.fd, "log", &st, 0) == -1)
            sched_yield();
    }
}

TEST(no_line_is_lost_by_opening_anew)
{
    int next[LANES] = {0};

    start(LOG_OVERFLOW_WAIT);
    run_producers(rotate);
    stop();
    for (int i = 1; i <= 20; i++) {
        char name[16];

        snprintf(name, sizeof(name), "log.%d", i);
        check_lines(name, next);
    }
    check_lines("log", next);
    for (size_t ring = 0; ring < LANES; ring++)
        assert_int_equal(next[ring], LINES);
    assert_string_equal(said, "");
}

/* --- Faults -------------------------------------------------------------- */

TEST(a_fault_is_told_once_and_so_is_its_end)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT};

    for (size_t i = 0; i < 3; i++) {
        char fault[100];

        atomic_store(&write_errno, errors[i]);
        atomic_store(&failures, 4);
        start(LOG_OVERFLOW_DROP);
        put(0, "one\n");
        put(1, "two\n");
        wait_until_said("works again");
        put(2, "three\n");
        assert_int_equal(log_writer_count(writer).errors, 4);
        assert_int_equal(log_writer_count(writer).dropped, 0);
        stop();
        assert_string_equal(read_file("log"), "one\ntwo\nthree\n");
        snprintf(fault, sizeof(fault), "error: access log 'LOG': %s; ",
                 strerror(errors[i]));
        assert_int_equal(count_of(said, fault), 1);
        assert_int_equal(count_of(said, "\n"), 2);
        tear_down(state);
        set_up(state);
    }
}

static void free_some(void)
{
    wait_until_said("No space left");
    for (int i = 0; i < 10; i++) {
        while (atomic_load(&room) > 0)
            sched_yield();
        atomic_store(&room, 1000 * i + i);
    }
    atomic_store(&room, -1);
}

TEST(half_a_line_is_gone_on_with_later)
{
    int next[LANES] = {0};

    start(LOG_OVERFLOW_WAIT);
    atomic_store(&room, 100);
    run_producers(free_some);
    stop();
    check_lines("log", next);
    for (size_t ring = 0; ring < LANES; ring++)
        assert_int_equal(next[ring], LINES);
    assert_true(count_of(said, "No space left") >= 1);
}

TEST(half_a_line_is_not_left_in_a_file_that_was_moved)
{
    start(LOG_OVERFLOW_DROP);
    atomic_store(&room, 7);
    put(0, "one\nhalf a line\n");
    wait_until_said("No space left");
    assert_string_equal(read_file("log"), "one\nhal");
    assert_int_equal(renameat(place.fd, "log", place.fd, "log.1"), 0);
    log_writer_reopen(writer); /* onto a disk with room */
    stop();
    assert_string_equal(read_file("log.1"), "one\n");
    assert_string_equal(read_file("log"), "half a line\n");
}

TEST(a_disk_that_stays_full_ends_with_whole_lines)
{
    start(LOG_OVERFLOW_DROP);
    atomic_store(&room, 7);
    put(0, "one\nhalf a line\nthree\n");
    put(1, "four\n");
    stop();
    assert_string_equal(read_file("log"), "one\n");
    assert_non_null(strstr(said, " 3 lines lost in all\n"));
    assert_int_equal(count_of(said, "No space left"), 1);
}

TEST(a_new_file_that_cannot_be_made_is_said)
{
    start(LOG_OVERFLOW_DROP);
    assert_int_equal(renameat(place.fd, "log", place.fd, "log.1"), 0);
    assert_int_equal(mkdirat(place.fd, "log", 0700), 0);
    log_writer_reopen(writer);
    wait_until_said("going on with the old one");
    put(0, "one\n");
    stop();
    assert_string_equal(read_file("log.1"), "one\n");
    assert_int_equal(count_of(said, "\n"), 1);
}

/* --- Overflow ------------------------------------------------------------ */

TEST(what_is_dropped_is_counted_and_told)
{
    unsigned kept;
    char total[100];

    atomic_store(&write_errno, ENOSPC);
    atomic_store(&failures, UINT32_MAX);
    start(LOG_OVERFLOW_DROP);
    for (int i = 0; i < 100; i++)
        put(3, "line\n");
    assert_int_equal(log_writer_count(writer).lines, LOG_BLOCKS);
    assert_int_equal(log_writer_count(writer).dropped, 100 - LOG_BLOCKS);
    wait_until_said("lines dropped");
    atomic_store(&failures, 0);
    wait_until_said("works again");
    put(3, "line\n");
    stop();
    kept = count_of(read_file("log"), "line\n");
    assert_int_equal(kept, LOG_BLOCKS + 1);
    snprintf(total, sizeof(total), "warning: access log 'LOG': %d lines lost",
             100 - LOG_BLOCKS);
    assert_non_null(strstr(said, total));
}

static void make_fifo(int *reader)
{
    assert_int_equal(mkfifo(log_path, 0600), 0);
    *reader = open(log_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(*reader != -1);
}

static void *read_slowly(void *context)
{
    int reader = *(int *)context;
    static char text[LANES * LINES * 80];
    size_t len = 0;
    ssize_t n;

    while ((n = read(reader, text + len, 3000)) != 0)
        if (n > 0)
            len += (size_t)n;
        else
            sched_yield();
    assert_int_equal(place_write_bytes(&place, "read", text, len), 0);
    return NULL;
}

TEST(who_waits_for_a_slow_reader_loses_nothing)
{
    int next[LANES] = {0};
    pthread_t thread;
    int reader;

    make_fifo(&reader);
    start(LOG_OVERFLOW_WAIT);
    put(0, "");
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    run_producers(NULL);
    stop();
    pthread_join(thread, NULL);
    close(reader);
    check_lines("read", next);
    for (size_t ring = 0; ring < LANES; ring++)
        assert_int_equal(next[ring], LINES);
    assert_string_equal(said, "");
}

static uint64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* Nobody waits for ever, and all that is lost is counted. */
TEST(a_stuck_reader_holds_up_no_stop)
{
    static char text[1 << 20];
    unsigned long long lost;
    uint64_t begin = seconds();
    uint64_t put_lines;
    const char *total;
    unsigned kept = 0;
    int reader;
    ssize_t n;

    make_fifo(&reader);
    start(LOG_OVERFLOW_WAIT);
    log_writer_end_soon(writer);
    run_producers(NULL);
    put_lines = log_writer_count(writer).lines;
    stop();
    assert_in_range(seconds() - begin, 0, 60);
    while ((n = read(reader, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < n; i++)
            kept += text[i] == '\n';
    close(reader);
    total = strstr(said, " lines lost in all");
    assert_non_null(total);
    while (total[-1] != ' ')
        total--;
    lost = strtoull(total, NULL, 10);
    assert_int_equal(kept + lost, LANES * LINES);
    assert_true(kept > 100 && put_lines > kept);
}

/* --- Coming -------------------------------------------------------------- */

TEST(without_memory_or_threads_there_is_no_writer)
{
    struct log_sink sink;
    int err = -ENOMEM;
    unsigned fds;

    assert_int_equal(log_sink_open(&sink, log_path), 0);
    fds = place_count_fds();
    has_threads = false;
    for (long i = 0; err == -ENOMEM; i++) {
        allocations_left = i;
        err = log_writer_create(&writer, &sink, "LOG", LOG_OVERFLOW_DROP,
                                LANES);
        allocations_left = -1;
        assert_null(writer);
        assert_true(sink.fd >= 0);
        assert_int_equal(place_count_fds(), fds);
    }
    has_threads = true;
    assert_int_equal(err, -EAGAIN);
    log_sink_close(&sink);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
