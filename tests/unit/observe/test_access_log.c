#include "observe/access_log.h"

#include <sched.h>

#include "suite.h"
#include "unit/place.h"

enum { WORKERS = 2 };

static struct place place;
static struct access_log access_log;
static struct access_log_buffer buffer;
static struct now now;
static char log_path[PLACE_NAME_MAX + 10];

static const struct address peer = {.family = ADDRESS_IPV4,
                                    .octets = {192, 0, 2, 7}};

/* Nothing is dropped: the tests are about lines. */
static void open_as(const char *format)
{
    struct access_log_options options = {
        .where = log_path, .format = format, .overflow = LOG_OVERFLOW_WAIT};

    assert_int_equal(access_log_open(&access_log, &options), 0);
    assert_int_equal(access_log_start(&access_log, WORKERS), 0);
    access_log_buffer_init(&buffer, &access_log, 1, &now);
}

static int set_up(void **state)
{
    (void)state;
    now = (struct now){.wall_s = 784111777,
                       .wall_ns = INT64_C(784111777012999999)};
    if (place_open(&place) != 0)
        return -1;
    snprintf(log_path, sizeof(log_path), "%s/log", place.name);
    open_as("combined");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    access_log_buffer_fini(&buffer);
    access_log_close(&access_log);
    return place_close(&place);
}

static void close_log(void)
{
    access_log_buffer_fini(&buffer);
    access_log_close(&access_log);
}

static const char *read_log(void)
{
    static char text[4 << 20];
    int fd = openat(place.fd, "log", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static void put(struct bytes request_line)
{
    struct log_entry entry = {.event = LOG_EVENT_REQUEST,
                              .peer = &peer,
                              .request_line = request_line,
                              .status = 200};

    access_log_put(&buffer, &entry);
}

#define BEFORE "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] \""
#define AFTER "\" 200 0 \"-\" \"-\"\n"

TEST(lines_are_there_when_it_is_closed)
{
    put(BYTES("a"));
    now.wall_s++;
    put(BYTES("b"));
    close_log();
    assert_string_equal(read_log(), BEFORE
                        "a" AFTER
                        "192.0.2.7 - - [06/Nov/1994:08:49:38 +0000] \"b" AFTER);
}

TEST(a_tick_hands_over_what_there_is)
{
    put(BYTES("a"));
    assert_int_equal(strlen(read_log()), 0);
    access_log_tick(&buffer);
    while (strlen(read_log()) == 0)
        sched_yield();
    assert_string_equal(read_log(), BEFORE "a" AFTER);
    access_log_tick(&buffer); /* of nothing */
    close_log();
    assert_string_equal(read_log(), BEFORE "a" AFTER);
}

TEST(a_line_that_does_not_fit_goes_into_the_next_block)
{
    enum { LINES = 700 };
    static char line[LOG_TEXT_BYTES_MAX];
    size_t len = 0;
    const char *at;

    memset(line, 'x', sizeof(line));
    for (size_t i = 0; i < LINES; i++) {
        size_t request = i * 37 % sizeof(line);

        put((struct bytes){line, request});
        len += strlen(BEFORE AFTER) + (request > 0 ? request : 1);
    }
    assert_int_equal(access_log_count(&access_log).lines, LINES);
    close_log();
    at = read_log();
    assert_int_equal(strlen(at), len);
    for (size_t i = 0; *at; i++) {
        size_t request = i * 37 % sizeof(line);

        assert_memory_equal(at, BEFORE, strlen(BEFORE));
        at += strlen(BEFORE);
        assert_int_equal(strspn(at, "x"), request);
        at += request > 0 ? request : 1; /* a dash */
        assert_memory_equal(at, AFTER, strlen(AFTER));
        at += strlen(AFTER);
    }
}

TEST(each_worker_is_named)
{
    struct access_log_buffer other;

    close_log();
    open_as("%{worker} %{method}");
    access_log_buffer_init(&other, &access_log, 0, &now);
    put(BYTES("a"));
    access_log_put(&other,
                   &(struct log_entry){.peer = &peer, .method = BYTES("GET")});
    access_log_buffer_fini(&other);
    close_log();
    assert_non_null(strstr(read_log(), "1 -\n"));
    assert_non_null(strstr(read_log(), "0 GET\n"));
    assert_int_equal(strlen(read_log()), 10);
}

TEST(lines_are_counted)
{
    for (int i = 0; i < 7; i++)
        put(BYTES("a"));
    assert_int_equal(access_log_count(&access_log).lines, 7);
    assert_int_equal(access_log_count(&access_log).dropped, 0);
    assert_int_equal(access_log_count(&access_log).errors, 0);
}

TEST(only_what_the_format_tells_is_asked_for)
{
    assert_true(access_log_tells(&buffer, LOG_EVENT_REQUEST));
    assert_false(access_log_tells(&buffer, LOG_EVENT_ACCEPT));
    close_log();
    assert_false(access_log_tells(&buffer, LOG_EVENT_REQUEST));
    open_as("events");
    assert_true(access_log_tells(&buffer, LOG_EVENT_REQUEST));
    assert_true(access_log_tells(&buffer, LOG_EVENT_ACCEPT));
    assert_true(access_log_tells(&buffer, LOG_EVENT_CLOSE));
}

TEST(no_place_means_no_log)
{
    struct access_log none;
    struct access_log_buffer other;
    struct access_log_options options = {.format = "combined"};

    assert_int_equal(access_log_open(&none, &options), 0);
    assert_int_equal(access_log_start(&none, WORKERS), 0);
    access_log_buffer_init(&other, &none, 1, &now);
    for (unsigned event = 0; event < LOG_EVENT_COUNT; event++)
        assert_false(access_log_tells(&other, (enum log_event)event));
    access_log_tick(&other);
    access_log_reopen(&none);
    access_log_end_soon(&none);
    assert_int_equal(access_log_count(&none).lines, 0);
    access_log_buffer_fini(&other);
    access_log_close(&none);
}

TEST(one_that_was_never_started_can_be_closed)
{
    struct access_log other;
    struct access_log_options options = {.where = place_path(&place, "other"),
                                         .format = "common"};
    unsigned fds = place_count_fds();

    assert_int_equal(access_log_open(&other, &options), 0);
    access_log_close(&other);
    assert_int_equal(place_count_fds(), fds);
}

TEST(what_cannot_be_opened_is_refused)
{
    struct access_log other;
    struct access_log_options options = {.where = place_path(&place, "no/log"),
                                         .format = "common"};

    assert_int_equal(access_log_open(&other, &options), -ENOENT);
    access_log_close(&other);
    options.format = "%{unknown}";
    assert_int_equal(access_log_open(&other, &options), -EINVAL);
    access_log_close(&other);
}

TEST(reopening_leaves_the_old_file)
{
    struct stat st;

    put(BYTES("a"));
    access_log_tick(&buffer);
    while (strlen(read_log()) == 0)
        sched_yield();
    assert_int_equal(renameat(place.fd, "log", place.fd, "log.1"), 0);
    access_log_reopen(&access_log);
    while (fstatat(place.fd, "log", &st, 0) == -1)
        sched_yield();
    put(BYTES("b"));
    close_log();
    assert_string_equal(read_log(), BEFORE "b" AFTER);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
