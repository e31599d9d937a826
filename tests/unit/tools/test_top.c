#include "tools/top.h"

#include <sys/ioctl.h>
#include <sysexits.h>
#include <termios.h>

#include "base/now.h"

#include "child.h"
#include "unit/tools/answering.h"
#include "unit/tools/top_status.h"

#define ANSWER(body) "HTTP/1.1 200 OK\r\n\r\n" body
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

#define WAIT_NS (ANSWERING_WAIT_MS * UINT64_C(1000000))

/* --- Without a terminal -------------------------------------------------- */

static char errors[4096]; /* what was said */

/* Runs it with words that are separated by spaces, in a process of its own;
 * what it prints goes to output, if that is not NULL. Returns its status. */
static int run_words(const char *line, char *output, size_t size)
{
    int says[2], prints[2];
    pid_t process;
    int status;
    size_t len = 0;
    ssize_t got;

    assert_int_equal(pipe(says), 0);
    assert_int_equal(pipe(prints), 0);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        char text[512];
        char *words[8];
        int count = 0;

        snprintf(text, sizeof(text), "%s", line);
        for (char *at = text; *at; at += strspn(at, " ")) {
            words[count++] = at;
            at += strcspn(at, " ");
            if (*at)
                *at++ = '\0';
        }
        dup2(prints[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        setenv("TERM", "xterm", 1);
        _exit(top_run(count, words, fdopen(says[1], "w")) |
              (fflush(NULL) == 0 ? 0 : 128));
    }
    close(says[1]);
    close(prints[1]);
    while (output && len < size - 1 &&
           (got = read(prints[0], output + len, size - 1 - len)) > 0)
        len += (size_t)got;
    if (output)
        output[len] = '\0';
    got = read(says[0], errors, sizeof(errors) - 1);
    assert_true(got >= 0);
    errors[got] = '\0';
    close(says[0]);
    close(prints[0]);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_one_line(const char *part)
{
    assert_memory_equal(errors, "sprintd: ", 9);
    assert_non_null(strchr(errors, '\n'));
    assert_int_equal(strchr(errors, '\n')[1], '\0');
    if (!strstr(errors, part))
        fail_msg("'%s' is missing: %s", part, errors);
}

TEST(wrong_words_are_wrong_usage)
{
    static const char *const lines[] = {
        "", "--once", "-x", "--once -x", "h h", "h --once", "--once h h"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        assert_int_equal(run_words(lines[i], NULL, 0), EX_USAGE);
        assert_one_line("usage: sprintd top [--once] ");
    }
    assert_int_equal(run_words("https://h/", NULL, 0), EX_USAGE);
    assert_one_line("top: 'https://h/': only http:// and unix: are spoken");
}

TEST(says_when_there_is_no_server)
{
    int port;
    int fd = answering_bind(&port);

    assert_int_equal(run_words(answering_url(port, "/"), NULL, 0),
                     EX_UNAVAILABLE);
    assert_one_line("cannot connect: Connection refused");
    close(fd);
}

TEST(says_when_what_answers_is_not_sprintd)
{
    static const char *const answers[] = {
        "SSH-2.0-x\r\n",
        ANSWER(""),
        ANSWER("<!DOCTYPE html>"),
        ANSWER("{\"server\":\"other\"}"),
        ANSWER("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
        ANSWER("{\"server\":\"sprintd\"} "
               "{}"),
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        struct answering answering = answering_open(ANSWERING_ONCE, answers[i]);

        assert_int_equal(run_words(answering_url(answering.port, "/x"), NULL,
                                   0),
                         EX_PROTOCOL);
        assert_one_line(i == 0 ? "no HTTP"
                               : "/x/status.json is no status of sprintd");
        answering_close(&answering);
    }
}

TEST(without_a_terminal_prints_one_plain_snapshot)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));
    const char *url = answering_url(answering.port, "/");
    char output[16384];

    assert_int_equal(run_words(url, output, sizeof(output)), EX_OK);
    assert_string_equal(errors, "");
    assert_memory_equal(output, "sprintd 1.2.3  live ", 20);
    assert_non_null(strstr(output, "  GET /large.bin  192.0.2.7\n"));
    assert_null(strchr(output, '\033'));
    answering_close(&answering);
}

/* --- On a terminal ------------------------------------------------------- */

struct terminal {
    int fd;      /* its other side */
    int name_fd; /* keeps its modes to be looked at */
    pid_t process;
    struct termios modes; /* as they were */
    size_t len;
    char output[1 << 20]; /* all that was written */
};

static struct terminal terminal;

static int open_child_side(void)
{
    int fd = open(ptsname(terminal.fd), O_RDWR | O_NOCTTY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

/* Starts it on a terminal of its own, of so many columns and rows. */
static void start(const char *url, bool is_once, unsigned short columns,
                  unsigned short rows)
{
    const struct winsize size = {.ws_col = columns, .ws_row = rows};

    terminal.len = 0;
    terminal.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal.fd >= 0);
    assert_int_equal(grantpt(terminal.fd), 0);
    assert_int_equal(unlockpt(terminal.fd), 0);
    assert_int_equal(ioctl(terminal.fd, TIOCSWINSZ, &size), 0);
    terminal.name_fd = open_child_side();
    assert_int_equal(tcgetattr(terminal.name_fd, &terminal.modes), 0);
    terminal.process = child_fork();
    if (terminal.process == 0) {
        char once[] = "--once";
        char *words[2] = {once, NULL};
        int fd;

        setsid(); /* it gets SIGWINCH only from a terminal that controls it */
        fd = open(ptsname(terminal.fd), O_RDWR);
        ioctl(fd, TIOCSCTTY, 0);
        dup2(fd, STDIN_FILENO);
        dup2(fd, STDOUT_FILENO);
        setenv("TERM", "xterm", 1);
        words[is_once] = strdup(url);
        _exit(top_run(1 + is_once, words, stderr));
    }
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    return 0;
}

/* Reads what is there, or waits for it. False: it has hung up. */
static bool read_more(void)
{
    struct pollfd fds = {.fd = terminal.fd, .events = POLLIN};
    ssize_t got;

    assert_int_equal(poll(&fds, 1, ANSWERING_WAIT_MS), 1);
    got = read(terminal.fd, terminal.output + terminal.len,
               sizeof(terminal.output) - 1 - terminal.len);
    assert_true(terminal.len < sizeof(terminal.output) - 1);
    if (got > 0)
        terminal.len += (size_t)got;
    terminal.output[terminal.len] = '\0';
    return got > 0;
}

/* Waits until text has come behind the first `from` bytes; returns where. */
static size_t await(const char *text, size_t from)
{
    uint64_t deadline_ns = now_read_ns() + WAIT_NS;
    const char *found;

    while (!(found = terminal.len > from ? strstr(terminal.output + from, text)
                                         : NULL))
        if (!read_more() || now_read_ns() > deadline_ns)
            fail_msg("'%s' did not come:\n%s", text, terminal.output + from);
    return (size_t)(found - terminal.output);
}

static void type(const char *keys)
{
    assert_int_equal(write(terminal.fd, keys, strlen(keys)), strlen(keys));
}

/* Waits for its end; returns its status. The terminal must be as it was. */
static int end(void)
{
    struct termios modes;
    int status;

    /* Some systems hang up only when the last side is closed: what is asked
     * for is the end of the process. */
    while (waitpid(terminal.process, &status, WNOHANG) == 0) {
        struct pollfd fds = {.fd = terminal.fd, .events = POLLIN};

        if (poll(&fds, 1, 10) == 1)
            read_more();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(tcgetattr(terminal.name_fd, &modes), 0);
    assert_int_equal(modes.c_lflag, terminal.modes.c_lflag);
    assert_int_equal(modes.c_iflag, terminal.modes.c_iflag);
    for (struct pollfd fds = {.fd = terminal.fd, .events = POLLIN};
         poll(&fds, 1, 0) == 1 && (fds.revents & POLLIN);)
        read_more();
    close(terminal.name_fd);
    close(terminal.fd);
    return WEXITSTATUS(status);
}

static void assert_restored(void)
{
    size_t len = strlen(LEAVE);

    assert_non_null(strstr(terminal.output, ENTER));
    assert_true(terminal.len > len);
    assert_string_equal(terminal.output + terminal.len - len, LEAVE);
}

/* On a terminal of 80 columns, until the first frame has been drawn. */
static void watch(const struct answering *answering)
{
    start(answering_url(answering->port, ""), false, 80, 24);
    await("live", 0);
}

static void expect_end(struct answering *answering)
{
    assert_int_equal(end(), EX_OK);
    assert_restored();
    answering_close(answering);
}

TEST(refreshes_until_q_is_typed)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));
    size_t first;

    start(answering_url(answering.port, ""), false, 80, 24);
    await(ENTER, 0);
    first = await("\033[H", 0);
    await("\033[H", first + 1);
    type("x");
    type("q");
    expect_end(&answering);
}

TEST(ends_on_signals_and_restores_the_terminal)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        watch(&answering);
        assert_int_equal(kill(terminal.process, signals[i]), 0);
        assert_int_equal(end(), EX_OK);
        assert_restored();
    }
    answering_close(&answering);
}

TEST(ends_on_the_key_that_interrupts)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    watch(&answering);
    type("\003");
    expect_end(&answering);
}

TEST(gives_the_terminal_back_while_it_is_stopped)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));
    struct termios modes;
    int status;
    size_t at;

    watch(&answering);
    assert_int_equal(kill(terminal.process, SIGTSTP), 0);
    at = await(LEAVE, 0);
    assert_int_equal(waitpid(terminal.process, &status, WUNTRACED),
                     terminal.process);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(tcgetattr(terminal.name_fd, &modes), 0);
    assert_int_equal(modes.c_lflag, terminal.modes.c_lflag);
    assert_int_equal(kill(terminal.process, SIGCONT), 0);
    await("live", await(ENTER, at));
    type("q");
    expect_end(&answering);
}

TEST(keys_are_not_echoed)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    watch(&answering);
    type("ZZZZ");
    type("q");
    assert_int_equal(end(), EX_OK);
    assert_null(strstr(terminal.output, "ZZ"));
    answering_close(&answering);
}

/* How many lines the first whole frame behind the first `from` bytes has;
 * *end_out is where it ends. */
static unsigned count_lines(size_t from, size_t *end_out)
{
    size_t at = await("\033[H", from);
    unsigned lines = 1;

    *end_out = await("\033[J", at);
    for (; at < *end_out; at++)
        lines += terminal.output[at] == '\n';
    return lines;
}

/* Frames behind the first `from` bytes get as small as the window does. */
static void expect_to_shrink(size_t from)
{
    const struct winsize smaller = {.ws_col = 30, .ws_row = 4};
    unsigned lines;

    assert_int_equal(ioctl(terminal.fd, TIOCSWINSZ, &smaller), 0);
    while ((lines = count_lines(from, &from)) == 24)
        ; /* drawn before it heard of that */
    assert_int_equal(lines, 4);
}

TEST(follows_the_size_of_the_window)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));
    size_t at = 0;

    start(answering_url(answering.port, ""), false, 80, 24);
    assert_int_equal(count_lines(0, &at), 24);
    expect_to_shrink(at);
    type("q");
    assert_int_equal(end(), EX_OK);
    answering_close(&answering);
}

/* Waits until it has asked so many times in all. */
static void await_requests(const struct answering *answering, unsigned count)
{
    unsigned ends = 0;
    unsigned line_bytes = 1;
    char byte;

    while (ends < count && read(answering->requests, &byte, 1) == 1) {
        if (byte == '\n' && line_bytes == 0)
            ends++;
        if (byte != '\r')
            line_bytes = byte == '\n' ? 0 : line_bytes + 1;
    }
    assert_int_equal(ends, count);
}

TEST(keys_act_while_an_answer_is_waited_for)
{
    struct answering answering = answering_open(ANSWERING_FIRST,
                                                ANSWER(TOP_STATUS));

    start(answering_url(answering.port, ""), false, 80, 24);
    await_requests(&answering, 2);
    type("x");
    expect_to_shrink(0);
    type("q");
    assert_int_equal(end(), EX_OK);
    assert_restored();
    assert_null(strstr(terminal.output, "timed out"));
    answering_close(&answering);
}

TEST(shows_colours_unless_told_not_to)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    start(answering_url(answering.port, ""), false, 80, 24);
    await("\033[0;36mlive\033[0m", 0);
    type("q");
    assert_int_equal(end(), EX_OK);
    setenv("NO_COLOR", "1", 1);
    start(answering_url(answering.port, ""), false, 80, 24);
    await("  live  up ", 0);
    type("q");
    assert_int_equal(end(), EX_OK);
    assert_null(strstr(terminal.output, "\033[0;"));
    unsetenv("NO_COLOR");
    answering_close(&answering);
}

TEST(waits_for_a_server_that_went_away)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    watch(&answering);
    answering_close(&answering);
    await("cannot connect", 0);
    type("q");
    assert_int_equal(end(), EX_OK);
    assert_restored();
}

TEST(once_prints_a_snapshot_on_a_terminal_too)
{
    struct answering answering = answering_open(ANSWERING_ONCE,
                                                ANSWER(TOP_STATUS));

    start(answering_url(answering.port, ""), true, 80, 24);
    assert_int_equal(end(), EX_OK);
    assert_memory_equal(terminal.output, "sprintd 1.2.3  live ", 20);
    assert_null(strchr(terminal.output, '\033'));
    answering_close(&answering);
}

SUITE(.each_begin = set_up);
