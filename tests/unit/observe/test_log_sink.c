/* link: -Wl,--wrap=write,--wrap=nanosleep */
#include "observe/log_sink.h"

#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

/* --- Writes that fail ---------------------------------------------------- */

static struct log_sink sink;
static int write_errno;      /* what writes to the sink fail with; 0: write 0 */
static unsigned good_writes; /* before that */
static unsigned failures;    /* how often */
static size_t write_most;    /* bytes at once */
static unsigned writes;

WRAP(ssize_t, write, int fd, const void *data, size_t len)
{
    if (fd != sink.fd)
        return __real_write(fd, data, len);
    writes++;
    if (good_writes > 0) {
        good_writes--;
    } else if (failures > 0) {
        failures--;
        errno = write_errno;
        return write_errno == 0 ? 0 : -1;
    }
    return __real_write(fd, data, len < write_most ? len : write_most);
}

static struct place place;

/* --- Others who write ---------------------------------------------------- */

static const char *meanwhile; /* is added to "log" as the sink waits; NULL */

WRAP(int, nanosleep, const struct timespec *time, struct timespec *left)
{
    int fd;

    if (!meanwhile)
        return __real_nanosleep(time, left);
    fd = openat(place.fd, "log", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(__real_write(fd, meanwhile, strlen(meanwhile)),
                     (ssize_t)strlen(meanwhile));
    close(fd);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    write_most = SIZE_MAX;
    good_writes = failures = writes = 0;
    sink = (struct log_sink){.fd = -1};
    meanwhile = NULL;
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    log_sink_close(&sink);
    return place_close(&place);
}

static char path[PLACE_NAME_MAX + 100];

static void open_at(const char *prefix, const char *name)
{
    snprintf(path, sizeof(path), "%s%s", prefix, place_path(&place, name));
    assert_int_equal(log_sink_open(&sink, path), 0);
}

static enum log_sink_result write_text(const char *text, size_t *taken)
{
    return log_sink_write(&sink, bytes_of(text), taken);
}

static void assert_written(const char *text)
{
    size_t taken;

    assert_int_equal(write_text(text, &taken), LOG_SINK_DONE);
    assert_int_equal(taken, strlen(text));
}

static void assert_file(const char *name, const char *expected)
{
    char text[4096];
    int fd = openat(place.fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_string_equal(text, expected);
}

/* --- Opening ------------------------------------------------------------- */

TEST(a_file_is_appended_to_and_only_the_owner_may_write)
{
    struct stat st;

    assert_int_equal(place_write(&place, "log", "before\n"), 0);
    open_at("", "log");
    assert_written("after\n");
    assert_file("log", "before\nafter\n");
    assert_true(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC);
    log_sink_close(&sink);
    assert_int_equal(sink.fd, -1);
    open_at("", "new");
    assert_int_equal(fstat(sink.fd, &st), 0);
    assert_int_equal(st.st_mode & 0027, 0);
}

/* A server was killed as it wrote. */
TEST(half_a_line_is_ended_before_others_follow)
{
    static const struct {
        const char *before, *after;
    } cases[] = {{"whole\nhal", "whole\nhal\nmore\n"},
                 {"hal", "hal\nmore\n"},
                 {"whole\n", "whole\nmore\n"},
                 {"", "more\n"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned fds = place_count_fds();

        assert_int_equal(place_write(&place, "log", cases[i].before), 0);
        open_at("", "log");
        assert_written("more\n");
        assert_file("log", cases[i].after);
        log_sink_close(&sink);
        assert_int_equal(place_count_fds(), fds);
    }
}

/* It was killed as the disk was full, and the disk is still full. */
TEST(half_a_line_is_ended_when_there_is_room_again)
{
    size_t taken;

    assert_int_equal(place_write(&place, "log", "whole\nhal"), 0);
    write_errno = ENOSPC;
    failures = 3;
    open_at("", "log");
    assert_file("log", "whole\nhal");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_text("more\n", &taken), LOG_SINK_FAILED);
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(taken, 0);
        assert_file("log", "whole\nhal");
    }
    assert_int_equal(failures, 0);
    assert_written("more\n");
    assert_file("log", "whole\nhal\nmore\n");
}

/* The server before this one writes its last lines. */
TEST(a_line_that_grows_is_not_ended)
{
    static const struct {
        const char *meanwhile, *after;
    } cases[] = {{"f\n", "whole\nhalf\n"},
                 {"f a li", "whole\nhalf a li"},
                 {"f\nand half", "whole\nhalf\nand half"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(place_write(&place, "log", "whole\nhal"), 0);
        meanwhile = cases[i].meanwhile;
        open_at("", "log");
        assert_file("log", cases[i].after);
        log_sink_close(&sink);
    }
}

TEST(a_dash_is_standard_output_which_stays_open)
{
    assert_int_equal(log_sink_open(&sink, "-"), 0);
    assert_int_equal(sink.fd, STDOUT_FILENO);
    log_sink_close(&sink);
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) != -1);
}

/* Opening them would ask for rights to what lies behind. */
TEST(outputs_by_their_names_are_not_opened_anew)
{
    static const struct {
        const char *where;
        int fd;
    } cases[] = {{"/dev/stdout", STDOUT_FILENO},
                 {"/dev/stderr", STDERR_FILENO}};
    unsigned fds = place_count_fds();

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(log_sink_open(&sink, cases[i].where), 0);
        assert_int_equal(sink.fd, cases[i].fd);
        assert_false(log_sink_is_file(cases[i].where));
        log_sink_close(&sink);
        assert_true(fcntl(cases[i].fd, F_GETFD) != -1);
    }
    assert_true(log_sink_is_file("/dev/stdouts"));
    assert_int_equal(place_count_fds(), fds);
}

TEST(what_cannot_be_opened_is_refused)
{
    char where[300] = "syslog:/";

    assert_int_equal(log_sink_open(&sink, place_path(&place, "none/log")),
                     -ENOENT);
    assert_int_equal(log_sink_open(&sink, place.name), -EISDIR);
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    assert_int_equal(log_sink_open(&sink, place_path(&place, "fifo")), -ENXIO);
    snprintf(path, sizeof(path), "syslog:%s", place_path(&place, "none"));
    assert_int_equal(log_sink_open(&sink, path), -ENOENT);
    memset(where + 8, 'x', 200);
    assert_int_equal(log_sink_open(&sink, where), -ENAMETOOLONG);
}

/* --- Streams ------------------------------------------------------------- */

TEST(short_and_interrupted_writes_are_continued)
{
    open_at("", "log");
    write_most = 3;
    good_writes = 2;
    failures = 2;
    write_errno = EINTR;
    assert_written("one\ntwo\nthree\n");
    assert_file("log", "one\ntwo\nthree\n");
    assert_int_equal(writes, 5 + 2);
}

TEST(a_failure_says_how_far_it_came)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT, 0};
    static const char lines[] = "one\ntwo\n";

    open_at("", "log");
    for (int i = 0; i < 4; i++) {
        size_t taken;

        write_most = 5;
        good_writes = 1;
        failures = 1;
        write_errno = errors[i];
        assert_int_equal(write_text(lines, &taken), LOG_SINK_FAILED);
        assert_int_equal(errno, errors[i] ? errors[i] : EIO);
        assert_int_equal(taken, 5);
        assert_written(lines + taken);
    }
    assert_file("log", "one\ntwo\none\ntwo\none\ntwo\none\ntwo\n");
}

TEST(a_fifo_takes_what_it_has_room_for)
{
    static char lines[1 << 20];
    static char read_back[sizeof(lines)];
    struct bytes rest = {lines, sizeof(lines)};
    size_t got = 0;
    int reader;

    for (size_t i = 0; i < sizeof(lines); i++)
        lines[i] = i % 100 == 99 ? '\n' : (char)('a' + i % 23);
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    reader = openat(place.fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    open_at("", "fifo");
    while (rest.len > 0) {
        size_t taken;
        enum log_sink_result result = log_sink_write(&sink, rest, &taken);
        ssize_t n;

        rest.data += taken;
        rest.len -= taken;
        assert_int_equal(result, rest.len > 0 ? LOG_SINK_AGAIN : LOG_SINK_DONE);
        while ((n = read(reader, read_back + got, sizeof(lines) - got)) > 0)
            got += (size_t)n;
    }
    assert_int_equal(got, sizeof(lines));
    assert_memory_equal(lines, read_back, sizeof(lines));
    close(reader);
    rest = BYTES("nobody reads this\n");
    assert_int_equal(log_sink_write(&sink, rest, &got), LOG_SINK_FAILED);
    assert_int_equal(errno, EPIPE);
}

/* As standard output may be: a pipe that is not ours to make non-blocking. */
TEST(a_pipe_that_would_block_is_not_waited_for)
{
    static char lines[1 << 18];
    struct bytes all = {lines, sizeof(lines)};
    size_t taken;
    size_t more;
    int ends[2];

    memset(lines, '\n', sizeof(lines));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    sink = (struct log_sink){.fd = ends[1], .may_block = true};
    assert_int_equal(log_sink_write(&sink, all, &taken), LOG_SINK_AGAIN);
    assert_in_range(taken, PIPE_BUF, sizeof(lines) - 1);
    assert_int_equal(log_sink_write(&sink, all, &more), LOG_SINK_AGAIN);
    assert_int_equal(more, 0);
    assert_int_equal(read(ends[0], lines, 2 * PIPE_BUF), 2 * PIPE_BUF);
    assert_int_equal(log_sink_write(&sink, all, &more), LOG_SINK_AGAIN);
    assert_int_equal(more, 2 * PIPE_BUF);
    close(ends[0]);
    close(ends[1]);
}

/* --- Opening anew -------------------------------------------------------- */

static void move_away(void)
{
    assert_int_equal(renameat(place.fd, "log", place.fd, "log.1"), 0);
}

TEST(a_file_that_was_moved_is_left)
{
    bool is_other;

    open_at("", "log");
    assert_written("old\n");
    move_away();
    assert_written("old too\n");
    assert_int_equal(log_sink_reopen(&sink, 0, &is_other), 0);
    assert_true(is_other);
    assert_written("new\n");
    assert_file("log.1", "old\nold too\n");
    assert_file("log", "new\n");
}

TEST(one_that_stayed_is_gone_on_with)
{
    bool is_other;

    open_at("", "log");
    assert_written("half a ");
    assert_int_equal(log_sink_reopen(&sink, 7, &is_other), 0);
    assert_false(is_other);
    assert_written("line\n");
    assert_file("log", "half a line\n");
}

TEST(half_a_line_is_taken_back_from_the_old_file)
{
    bool is_other;

    open_at("", "log");
    assert_written("whole\nhal");
    move_away();
    assert_int_equal(log_sink_reopen(&sink, 3, &is_other), 0);
    assert_true(is_other);
    assert_file("log.1", "whole\n");
    assert_file("log", "");
}

TEST(what_others_appended_is_never_taken_back)
{
    int other;

    open_at("", "log");
    assert_written("whole\nhal");
    other = openat(place.fd, "log", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(other, "theirs\n", 7), 7);
    close(other);
    log_sink_cut(&sink, 3);
    assert_file("log", "whole\nhaltheirs\n");
}

TEST(when_there_is_no_new_file_the_old_is_kept)
{
    unsigned fds;
    bool is_other;

    open_at("", "log");
    assert_written("old\n");
    move_away();
    assert_int_equal(mkdirat(place.fd, "log", 0700), 0);
    fds = place_count_fds();
    assert_int_equal(log_sink_reopen(&sink, 0, &is_other), -EISDIR);
    assert_written("still\n");
    assert_file("log.1", "old\nstill\n");
    assert_int_equal(unlinkat(place.fd, "log", AT_REMOVEDIR), 0);
    assert_int_equal(log_sink_reopen(&sink, 0, &is_other), 0);
    assert_int_equal(place_count_fds(), fds);
}

TEST(standard_output_is_what_it_is)
{
    bool is_other = true;

    assert_int_equal(log_sink_open(&sink, "-"), 0);
    assert_int_equal(log_sink_reopen(&sink, 5, &is_other), 0);
    assert_false(is_other);
    assert_int_equal(sink.fd, STDOUT_FILENO);
}

TEST(an_output_that_cannot_be_written_is_refused)
{
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    int closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int err;

    assert_true(kept != -1 && closed != -1);
    fflush(stdout);
    dup2(closed, STDOUT_FILENO);
    err = log_sink_open(&sink, "-");
    dup2(kept, STDOUT_FILENO);
    close(closed);
    close(kept);
    assert_int_equal(err, -EBADF);
}

/* --- Syslog -------------------------------------------------------------- */

static int open_daemon(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s",
             place_path(&place, "daemon"));
    unlink(address.sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          sizeof(address)),
                     0);
    return fd;
}

/* The next datagram, as "<134>Mmm dd hh:mm:ss sprintd[pid]: " and line. */
static void assert_datagram(int daemon, const char *line)
{
    char text[1024];
    char tag[64];
    ssize_t n = recv(daemon, text, sizeof(text) - 1, 0);
    int len = 0;

    assert_true(n > 0);
    text[n] = '\0';
    assert_int_equal(sscanf(text,
                            "<134>%*3[A-Za-z] %*2[ 0-9] "
                            "%*2[0-9]:%*2[0-9]:%*2[0-9]%n",
                            &len),
                     0);
    assert_int_equal(len, 5 + 15);
    snprintf(tag, sizeof(tag), " sprintd[%d]: ", (int)getpid());
    assert_memory_equal(text + len, tag, strlen(tag));
    assert_string_equal(text + (size_t)len + strlen(tag), line);
}

TEST(each_line_is_a_datagram)
{
    int daemon = open_daemon();

    open_at("syslog:", "daemon");
    assert_written("one\ntwo words\n\n");
    assert_datagram(daemon, "one");
    assert_datagram(daemon, "two words");
    assert_datagram(daemon, "");
    assert_int_equal(recv(daemon, path, 1, 0), -1);
    close(daemon);
}

TEST(a_daemon_that_is_behind_gets_the_rest_later)
{
    enum { LINES = 3000, LINE_BYTES = 6 };
    static char lines[LINES][LINE_BYTES];
    struct bytes rest = {lines[0], sizeof(lines)};
    int daemon = open_daemon();
    unsigned fulls = 0;
    unsigned seen = 0;
    char line[16];

    for (unsigned i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), "l%04u\n", i);
        memcpy(lines[i], line, LINE_BYTES);
    }
    open_at("syslog:", "daemon");
    while (rest.len > 0) {
        size_t taken;
        enum log_sink_result result = log_sink_write(&sink, rest, &taken);

        assert_int_equal(taken % LINE_BYTES, 0);
        rest.data += taken;
        rest.len -= taken;
        assert_int_equal(result, rest.len > 0 ? LOG_SINK_AGAIN : LOG_SINK_DONE);
        fulls += result == LOG_SINK_AGAIN;
        for (; taken > 0; taken -= LINE_BYTES) {
            snprintf(line, sizeof(line), "l%04u", seen++);
            assert_datagram(daemon, line);
        }
    }
    assert_int_equal(seen, LINES);
    assert_true(fulls > 0);
    close(daemon);
}

TEST(a_daemon_that_comes_back_is_found)
{
    int daemon = open_daemon();
    size_t taken;

    open_at("syslog:", "daemon");
    assert_written("one\n");
    close(daemon);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_text("two\n", &taken), LOG_SINK_FAILED);
        assert_int_equal(errno, ECONNREFUSED);
        assert_int_equal(taken, 0);
    }
    daemon = open_daemon();
    assert_written("two\n");
    assert_datagram(daemon, "two");
    close(daemon);
    daemon = open_daemon(); /* started anew between two lines */
    assert_written("three\n");
    assert_datagram(daemon, "three");
    close(daemon);
}

TEST(a_line_too_long_for_a_datagram_is_counted)
{
    static char lines[30000];
    int daemon = open_daemon();
    int bytes = 4096;
    size_t taken;

    open_at("syslog:", "daemon");
    assert_int_equal(setsockopt(sink.fd, SOL_SOCKET, SO_SNDBUF, &bytes,
                                sizeof(bytes)),
                     0);
    memset(lines, 'x', sizeof(lines));
    memcpy(lines, "one\n", 4);
    memcpy(lines + sizeof(lines) - 5, "\ntwo\n", 5);
    assert_int_equal(log_sink_write(&sink, (struct bytes){lines, sizeof(lines)},
                                    &taken),
                     LOG_SINK_DONE);
    assert_int_equal(taken, sizeof(lines));
    assert_int_equal(sink.refused_lines, 1);
    assert_datagram(daemon, "one");
    assert_datagram(daemon, "two");
    close(daemon);
}

TEST(a_daemon_can_be_reopened)
{
    int daemon = open_daemon();
    int other;
    bool is_other;

    open_at("syslog:", "daemon");
    other = open_daemon();
    assert_int_equal(log_sink_reopen(&sink, 0, &is_other), 0);
    assert_false(is_other);
    assert_written("one\n");
    assert_datagram(other, "one");
    close(daemon);
    close(other);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
