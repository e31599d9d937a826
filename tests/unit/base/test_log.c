/* link: -Wl,--wrap=write */
#include "base/log.h"

#include <sys/stat.h>

#include "suite.h"
#include "wrap.h"

/* --- What was written to stderr ------------------------------------------ */

static bool is_listening;
static bool is_deaf;
static int writes;
static char written[8192];
static size_t written_len;

WRAP(ssize_t, write, int fd, const void *data, size_t len)
{
    if (!is_listening)
        return __real_write(fd, data, len);
    assert_int_equal(fd, STDERR_FILENO);
    writes++;
    if (is_deaf) {
        errno = EIO;
        return -1;
    }
    assert_true(len < sizeof(written));
    memcpy(written, data, len);
    written[len] = '\0';
    written_len = len;
    return (ssize_t)len;
}

static int listen_to_log(void **state)
{
    (void)state;
    is_listening = true;
    is_deaf = false;
    writes = 0;
    written_len = 0;
    written[0] = '\0';
    unsetenv("JOURNAL_STREAM");
    log_open(LOG_LEVEL_NOTICE);
    return 0;
}

static int stop_listening(void **state)
{
    (void)state;
    is_listening = false;
    return 0;
}

/* --- Lines --------------------------------------------------------------- */

TEST(a_line_names_program_and_level)
{
    log_error("open '%s': %s", "x", "gone");
    assert_string_equal(written, "sprintd: error: open 'x': gone\n");
    log_warning("%d left", 3);
    assert_string_equal(written, "sprintd: warning: 3 left\n");
    log_notice("ready");
    assert_string_equal(written, "sprintd: notice: ready\n");
}

TEST(a_line_is_one_write)
{
    log_error("one %s three", "two");
    assert_int_equal(writes, 1);
}

TEST(control_bytes_cannot_begin_another_line)
{
    log_error("a%sz", "\n\r\x1B[2J\t\x7F");
    assert_string_equal(written, "sprintd: error: a???[2J??z\n");
}

TEST(other_bytes_stay)
{
    log_error("%s", "caf\xC3\xA9 \\ \" %");
    assert_string_equal(written, "sprintd: error: caf\xC3\xA9 \\ \" %\n");
}

TEST(a_long_line_is_cut_and_still_ends)
{
    char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    log_error("%s", text);
    assert_int_equal(writes, 1);
    assert_in_range(written_len, 512, 1024);
    assert_int_equal(written[written_len - 1], '\n');
    assert_int_equal(written[written_len - 2], 'x');
}

TEST(lines_about_as_long_as_the_limit_stay_whole)
{
    char text[1100];

    for (size_t len = 980; len < sizeof(text); len++) {
        memset(text, 'x', len);
        text[len] = '\0';
        log_error("%s", text);
        assert_true(written_len <= 1024);
        assert_ptr_equal(strchr(written, '\n'), written + written_len - 1);
        assert_int_equal(strspn(written + strlen("sprintd: error: "), "x"),
                         written_len - 1 - strlen("sprintd: error: "));
    }
}

TEST(an_empty_message_is_a_line_too)
{
    log_notice("%s", "");
    assert_string_equal(written, "sprintd: notice: \n");
}

TEST(a_closed_stderr_hurts_nobody)
{
    is_deaf = true;
    log_error("anybody there?");
    assert_int_equal(writes, 1);
}

/* Fills a pipe, which is stderr from here on. */
static void stop_reading_stderr(int ends[2])
{
    static const char page[4096];

    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    while (__real_write(ends[1], page, sizeof(page)) > 0)
        continue;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
}

TEST(a_stderr_that_nobody_reads_holds_nobody_up)
{
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    int ends[2];
    char page[4096];

    assert_true(kept != -1);
    stop_reading_stderr(ends);
    log_error("anybody there?");
    log_put_text("or there?", 9, 1);
    assert_int_equal(writes, 0);
    assert_int_equal(read(ends[0], page, sizeof(page)), sizeof(page));
    log_error("there you are");
    assert_string_equal(written, "sprintd: error: there you are\n");
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

TEST(a_text_goes_out_as_it_is)
{
    char text[10000];

    log_put_text("a\n\tb\n", 5, 0);
    assert_string_equal(written, "a\n\tb\n");
    memset(text, 'x', sizeof(text));
    writes = 0;
    log_put_text(text, sizeof(text), 0);
    assert_int_equal(writes, 3); /* of PIPE_BUF at most */
}

/* --- Levels -------------------------------------------------------------- */

TEST(what_is_too_light_is_not_told)
{
    for (int told = LOG_LEVEL_ERROR; told <= LOG_LEVEL_DEBUG; told++) {
        log_open((enum log_level)told);
        writes = 0;
        log_error("1");
        log_warning("2");
        log_notice("3");
        log_info("4");
        log_debug("5");
        assert_int_equal(writes, told + 1);
    }
}

TEST(every_level_has_a_name)
{
    log_open(LOG_LEVEL_DEBUG);
    log_info("x");
    assert_string_equal(written, "sprintd: info: x\n");
    log_debug("x");
    assert_string_equal(written, "sprintd: debug: x\n");
}

/* --- The journal --------------------------------------------------------- */

/* JOURNAL_STREAM as systemd sets it when stderr is what it is. */
static void set_journal(unsigned long long more_device,
                        unsigned long long more_inode, const char *behind)
{
    struct stat st;
    char text[100];

    assert_int_equal(fstat(STDERR_FILENO, &st), 0);
    snprintf(text, sizeof(text), "%llu:%llu%s",
             (unsigned long long)st.st_dev + more_device,
             (unsigned long long)st.st_ino + more_inode, behind);
    setenv("JOURNAL_STREAM", text, 1);
    log_open(LOG_LEVEL_DEBUG);
}

TEST(the_journal_is_told_priorities)
{
    set_journal(0, 0, "");
    log_error("open '%s'", "x\n");
    assert_string_equal(written, "<3>open 'x?'\n");
    log_warning("2");
    assert_string_equal(written, "<4>2\n");
    log_notice("3");
    assert_string_equal(written, "<5>3\n");
    log_info("4");
    assert_string_equal(written, "<6>4\n");
    log_debug("5");
    assert_string_equal(written, "<7>5\n");
}

TEST(a_journal_that_is_not_stderr_is_none)
{
    static const char *const texts[] = {"", ":", "1", "1:", ":1", "x:y"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        setenv("JOURNAL_STREAM", texts[i], 1);
        log_open(LOG_LEVEL_NOTICE);
        log_error("x");
        assert_string_equal(written, "sprintd: error: x\n");
    }
    set_journal(1, 0, "");
    log_error("x");
    assert_string_equal(written, "sprintd: error: x\n");
    set_journal(0, 1, "");
    log_error("y");
    assert_string_equal(written, "sprintd: error: y\n");
    set_journal(0, 0, ":");
    log_error("z");
    assert_string_equal(written, "sprintd: error: z\n");
}

/* --- Floods -------------------------------------------------------------- */

TEST_WITH(the_first_of_a_flood_is_told, NULL, NULL)
{
    struct log_limit limit = {0};
    uint64_t held_back = 99;

    assert_true(log_limit_allows(&limit, 5, 1000, &held_back));
    assert_int_equal(held_back, 0);
}

TEST_WITH(the_rest_of_a_flood_is_counted, NULL, NULL)
{
    struct log_limit limit = {0};
    uint64_t held_back = 99;

    assert_true(log_limit_allows(&limit, 5, 1000, &held_back));
    for (uint64_t now_ms = 5; now_ms < 1005; now_ms += 100)
        assert_false(log_limit_allows(&limit, now_ms, 1000, &held_back));
    assert_false(log_limit_allows(&limit, 1004, 1000, &held_back));
    assert_true(log_limit_allows(&limit, 1005, 1000, &held_back));
    assert_int_equal(held_back, 11);
}

TEST_WITH(what_was_told_is_counted_no_more, NULL, NULL)
{
    struct log_limit limit = {0};
    uint64_t held_back = 99;

    assert_true(log_limit_allows(&limit, 0, 10, &held_back));
    assert_false(log_limit_allows(&limit, 9, 10, &held_back));
    assert_true(log_limit_allows(&limit, 10, 10, &held_back));
    assert_int_equal(held_back, 1);
    assert_true(log_limit_allows(&limit, 100, 10, &held_back));
    assert_int_equal(held_back, 0);
}

TEST_WITH(a_message_ends_with_how_many_it_held_back, NULL, NULL)
{
    char text[LOG_HELD_BACK_BYTES];

    assert_string_equal(log_held_back(0, text), "");
    assert_string_equal(log_held_back(3, text), " (3 more like it)");
    assert_string_equal(log_held_back(UINT64_MAX, text),
                        " (18446744073709551615 more like it)");
}

TEST_WITH(a_burst_is_let_through_and_then_one_each, NULL, NULL)
{
    struct log_limit limit = {0};
    uint64_t held_back = 99;

    for (int i = 0; i < 3; i++) {
        assert_true(log_limit_allows_burst(&limit, 1000, 50, 3, &held_back));
        assert_int_equal(held_back, 0);
    }
    assert_false(log_limit_allows_burst(&limit, 1000, 50, 3, &held_back));
    assert_false(log_limit_allows_burst(&limit, 1049, 50, 3, &held_back));
    assert_true(log_limit_allows_burst(&limit, 1050, 50, 3, &held_back));
    assert_int_equal(held_back, 2);
    assert_false(log_limit_allows_burst(&limit, 1099, 50, 3, &held_back));
    for (int i = 0; i < 3; i++)
        assert_true(log_limit_allows_burst(&limit, 5000, 50, 3, &held_back));
    assert_false(log_limit_allows_burst(&limit, 5000, 50, 3, &held_back));
}

SUITE(.each_begin = listen_to_log, .each_end = stop_listening);
