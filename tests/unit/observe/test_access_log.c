/* link: -Wl,--wrap=write,--wrap=malloc */
#include "observe/access_log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../place.h"

/* --- System calls that fail ------------------------------------------------------- */

static int log_fd = -1; /* whose writes are told apart */
static int write_errno; /* what they fail with, 0: they do not */
static unsigned failures_left;
static size_t write_most; /* at once */
static unsigned writes;
static unsigned complaints; /* written to stderr instead */
static bool has_memory = true;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len)
{
    if (fd == STDERR_FILENO && log_fd >= 0) {
        complaints++;
        return (ssize_t)len;
    }
    if (fd != log_fd)
        return __real_write(fd, data, len);
    writes++;
    if (failures_left > 0) {
        failures_left--;
        errno = write_errno;
        return write_errno == 0 ? 0 : -1;
    }
    return __real_write(fd, data, len < write_most ? len : write_most);
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return has_memory ? __real_malloc(bytes) : NULL;
}

/* --- A log ---------------------------------------------------------------------------- */

static struct place place;
static struct access_log access_log;
static struct access_log_buffer buffer;
static struct now now;

static const struct address peer = {.family = ADDRESS_IPV4,
                                    .octets = {192, 0, 2, 7}};

static int set_up(void **state)
{
    (void)state;
    now = (struct now){.mono_ms = 1000000, .wall_s = 784111777};
    writes = complaints = failures_left = 0;
    write_most = SIZE_MAX;
    if (place_open(&place) != 0 ||
        access_log_open(&access_log, place_path(&place, "log")) != 0)
        return -1;
    log_fd = access_log.fd;
    return access_log_buffer_init(&buffer, &access_log, &now);
}

static int tear_down(void **state)
{
    (void)state;
    access_log_buffer_fini(&buffer);
    access_log_close(&access_log);
    log_fd = -1;
    return place_close(&place);
}

/* What the file holds by now. */
static const char *read_log(void)
{
    static char text[1 << 20];
    int fd = openat(place.fd, "log", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

/* The same after everything has been flushed. */
static const char *flush_and_read(void)
{
    now.mono_ms += 1000;
    access_log_tick(&buffer);
    return read_log();
}

static struct access_log_entry entry_of(const char *line)
{
    return (struct access_log_entry){.peer = &peer,
                                     .request_line = bytes_of(line),
                                     .referer = BYTES(""),
                                     .user_agent = BYTES(""),
                                     .status = 200};
}

static void put(const char *line)
{
    struct access_log_entry entry = entry_of(line);

    access_log_put(&buffer, &entry);
}

/* --- Format ----------------------------------------------------------------------------- */

#define BEFORE "192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] "

static void a_line_is_in_the_combined_log_format(void **state)
{
    struct access_log_entry entry = entry_of("GET /x?y HTTP/1.1");

    (void)state;
    entry.referer = BYTES("http://there/");
    entry.user_agent = BYTES("browser/1.0 (it)");
    entry.status = 206;
    entry.body_bytes = 12345678901;
    access_log_put(&buffer, &entry);
    assert_string_equal(flush_and_read(),
                        BEFORE "\"GET /x?y HTTP/1.1\" 206 12345678901 "
                               "\"http://there/\" \"browser/1.0 (it)\"\n");
}

static void what_is_not_there_is_a_dash(void **state)
{
    (void)state;
    put("");
    assert_string_equal(flush_and_read(), BEFORE "\"-\" 200 0 \"-\" \"-\"\n");
}

static void every_kind_of_peer_is_named(void **state)
{
    static const struct address peers[] = {
        {.family = ADDRESS_UNIX},
        {.family = ADDRESS_IPV6, .octets = {0x20, 1, 0x0d, 0xb8, [15] = 1}}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct access_log_entry entry = entry_of("x");

        entry.peer = &peers[i];
        access_log_put(&buffer, &entry);
    }
    assert_non_null(strstr(flush_and_read(), "\n2001:db8::1 - - ["));
    assert_memory_equal(read_log(), "unix: - - [", 11);
}

static void the_date_follows_the_second(void **state)
{
    (void)state;
    put("a");
    now.wall_s = 951827696; /* a leap day */
    put("b");
    now.wall_s = 0;
    put("c");
    assert_string_equal(flush_and_read(),
                        BEFORE "\"a\" 200 0 \"-\" \"-\"\n"
                               "192.0.2.7 - - [29/Feb/2000:12:34:56 +0000] "
                               "\"b\" 200 0 \"-\" \"-\"\n"
                               "192.0.2.7 - - [01/Jan/1970:00:00:00 +0000] "
                               "\"c\" 200 0 \"-\" \"-\"\n");
}

static void nobody_can_forge_a_line(void **state)
{
    struct access_log_entry entry = entry_of("GET /\"\\ HTTP/1.1");

    (void)state;
    entry.referer = BYTES("a\r\nb\tc\x1b[0m");
    entry.user_agent = BYTES("\x80\xff\x7f");
    access_log_put(&buffer, &entry);
    assert_string_equal(flush_and_read(),
                        BEFORE "\"GET /\\x22\\x5c HTTP/1.1\" 200 0 "
                               "\"a\\x0d\\x0ab\\x09c\\x1b[0m\" "
                               "\"\\x80\\xff\\x7f\"\n");
}

/* --- When lines go out --------------------------------------------------------------------- */

static void a_line_waits_for_a_second_and_no_longer(void **state)
{
    (void)state;
    put("a");
    access_log_tick(&buffer);
    assert_int_equal(writes, 0);
    now.mono_ms += 999;
    put("b"); /* it is the first that counts */
    access_log_tick(&buffer);
    assert_int_equal(writes, 0);
    now.mono_ms += 1;
    access_log_tick(&buffer);
    assert_int_equal(writes, 1);
    access_log_tick(&buffer);
    assert_int_equal(writes, 1);
    assert_int_equal(strlen(read_log()), 2 * strlen(BEFORE "\"a\" 200 0 \"-\" "
                                                           "\"-\"\n"));
    put("c");
    now.mono_ms += 999;
    access_log_tick(&buffer);
    assert_int_equal(writes, 1);
}

static void a_full_buffer_goes_out_in_whole_lines(void **state)
{
    char line[1001];
    const char *log;
    size_t lines = 0;

    (void)state;
    memset(line, 'x', 1000);
    line[1000] = '\0';
    while (writes == 0 && lines < 1000) {
        put(line);
        lines++;
    }
    log = read_log();
    assert_in_range(strlen(log), 30000, ACCESS_LOG_BUFFER_BYTES);
    assert_int_equal(log[strlen(log) - 1], '\n');
    for (; lines < 300; lines++)
        put(line);
    access_log_buffer_fini(&buffer);
    assert_int_equal(strlen(read_log()),
                     lines * strlen(BEFORE "\"\" 200 0 \"-\" \"-\"\n") +
                         lines * 1000);
}

static void the_rest_is_written_at_the_end(void **state)
{
    (void)state;
    put("a");
    access_log_buffer_fini(&buffer);
    assert_string_equal(read_log(), BEFORE "\"a\" 200 0 \"-\" \"-\"\n");
}

/* A pipe that nobody reads from for now. */
static void log_to_pipe(int ends[2])
{
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    access_log_buffer_fini(&buffer);
    access_log_close(&access_log);
    access_log = (struct access_log){.fd = ends[1], .may_block = true};
    log_fd = ends[1];
    assert_int_equal(access_log_buffer_init(&buffer, &access_log, &now), 0);
}

static void a_reader_that_stops_costs_lines_and_never_blocks(void **state)
{
    static char text[1 << 20];
    int ends[2];
    size_t len = 0;
    ssize_t n;

    (void)state;
    log_to_pipe(ends);
    for (int i = 0; i < 10000; i++)
        put("GET /a/line/like/many HTTP/1.1");
    assert_int_equal(complaints, 1);
    assert_true(buffer.lost_lines > 1000);
    flush_and_read();
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while ((n = read(ends[0], text + len, sizeof(text) - len)) > 0)
        len += (size_t)n;
    assert_true(len > 10000 && text[len - 1] == '\n');
    for (const char *line = text; line < text + len;
         line = (const char *)memchr(line, '\n', sizeof(text)) + 1)
        assert_memory_equal(line, "192.0.2.7 - - [", 15);
    access_log_buffer_fini(&buffer); /* while there is a reader */
    close(ends[0]);
}

static void a_fifo_that_nobody_reads_is_refused(void **state)
{
    struct access_log other;

    (void)state;
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    assert_int_equal(access_log_open(&other, place_path(&place, "fifo")),
                     -ENXIO);
}

static void a_text_too_long_is_cut_and_the_line_stays(void **state)
{
    static char line[ACCESS_LOG_BUFFER_BYTES];
    const char *text;

    (void)state;
    memset(line, '\x80', sizeof(line) - 1);
    put("a");
    put(line);
    put("b");
    text = flush_and_read();
    assert_memory_equal(text,
                        BEFORE "\"a\" 200 0 \"-\" \"-\"\n" BEFORE "\"\\x80",
                        sizeof(BEFORE "\"a\" 200 0 \"-\" \"-\"\n" BEFORE
                                      "\"\\x80") -
                            1);
    assert_non_null(strstr(text, "\\x80...\" 200 0 \"-\" \"-\"\n" BEFORE
                                 "\"b\" 200 0 \"-\" \"-\"\n"));
    assert_true(strlen(text) < 10000);
}

static void short_writes_are_continued(void **state)
{
    (void)state;
    write_most = 7;
    put("a");
    put("b");
    assert_string_equal(flush_and_read(),
                        BEFORE "\"a\" 200 0 \"-\" \"-\"\n" BEFORE
                               "\"b\" 200 0 \"-\" \"-\"\n");
    assert_true(writes > 10);
}

/* --- Failures ------------------------------------------------------------------------------- */

static void an_interrupted_write_is_tried_again(void **state)
{
    (void)state;
    write_errno = EINTR;
    failures_left = 3;
    put("a");
    assert_string_equal(flush_and_read(), BEFORE "\"a\" 200 0 \"-\" \"-\"\n");
    assert_int_equal(complaints, 0);
}

static void a_full_disk_costs_lines_and_one_complaint(void **state)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT, 0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        complaints = 0;
        write_errno = errors[i];
        failures_left = 5;
        for (int times = 0; times < 5; times++) {
            put("lost");
            flush_and_read();
        }
        assert_int_equal(complaints, 1);
        now.mono_ms += 10000;
    }
    put("kept");
    assert_string_equal(flush_and_read(),
                        BEFORE "\"kept\" 200 0 \"-\" \"-\"\n");
}

static void without_memory_there_is_no_buffer(void **state)
{
    struct access_log_buffer other;

    (void)state;
    has_memory = false;
    assert_int_equal(access_log_buffer_init(&other, &access_log, &now),
                     -ENOMEM);
    has_memory = true;
    access_log_buffer_fini(&other);
}

/* --- Opening ----------------------------------------------------------------------------------- */

static void a_log_is_appended_to_and_only_the_owner_may_write(void **state)
{
    struct access_log other;
    struct stat st;

    (void)state;
    assert_int_equal(place_write(&place, "old", "before\n"), 0);
    assert_int_equal(access_log_open(&other, place_path(&place, "old")), 0);
    assert_int_equal(__real_write(other.fd, "after\n", 6), 6);
    assert_int_equal(fstat(other.fd, &st), 0);
    assert_int_equal(st.st_size, 13);
    assert_true(fcntl(other.fd, F_GETFD) & FD_CLOEXEC);
    access_log_close(&other);
    assert_int_equal(fstat(access_log.fd, &st), 0);
    assert_int_equal(st.st_mode & 0027, 0);
}

static void no_path_means_no_log(void **state)
{
    struct access_log none;
    struct access_log_buffer other;

    (void)state;
    assert_int_equal(access_log_open(&none, NULL), 0);
    assert_int_equal(access_log_buffer_init(&other, &none, &now), 0);
    assert_false(access_log_is_kept(&other));
    assert_true(access_log_is_kept(&buffer));
    access_log_buffer_fini(&other);
    access_log_close(&none);
}

static void a_dash_is_standard_output_which_stays_open(void **state)
{
    struct access_log out;

    (void)state;
    assert_int_equal(access_log_open(&out, "-"), 0);
    assert_int_equal(out.fd, STDOUT_FILENO);
    access_log_close(&out);
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) != -1);
}

static void a_path_that_cannot_be_opened_is_refused(void **state)
{
    struct access_log other;

    (void)state;
    assert_int_equal(access_log_open(&other, place_path(&place, "none/log")),
                     -ENOENT);
    assert_int_equal(access_log_open(&other, place.name), -EISDIR);
    access_log_close(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_is_in_the_combined_log_format),
        TEST(what_is_not_there_is_a_dash),
        TEST(every_kind_of_peer_is_named),
        TEST(the_date_follows_the_second),
        TEST(nobody_can_forge_a_line),
        TEST(a_line_waits_for_a_second_and_no_longer),
        TEST(a_full_buffer_goes_out_in_whole_lines),
        TEST(the_rest_is_written_at_the_end),
        TEST(a_reader_that_stops_costs_lines_and_never_blocks),
        TEST(a_fifo_that_nobody_reads_is_refused),
        TEST(a_text_too_long_is_cut_and_the_line_stays),
        TEST(short_writes_are_continued),
        TEST(an_interrupted_write_is_tried_again),
        TEST(a_full_disk_costs_lines_and_one_complaint),
        TEST(without_memory_there_is_no_buffer),
        TEST(a_log_is_appended_to_and_only_the_owner_may_write),
        TEST(no_path_means_no_log),
        TEST(a_dash_is_standard_output_which_stays_open),
        TEST(a_path_that_cannot_be_opened_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
