#include "tools/top.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <termios.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "tools/top_draw.h"
#include "tools/top_fetch.h"

enum {
    FRAME_BYTES_MAX = 1 << 20,
    WHY_BYTES_MAX = 4096,
    SNAPSHOT_COLUMNS = 120,
    PERIOD_NS = 1000000000
};

struct top {
    struct top_target target;
    struct buf body;             /* the newest valid document */
    struct json_reader document; /* borrows `body` */
    char why[WHY_BYTES_MAX];
    struct top_view view;
    /* The members from here on are set while top has a terminal. */
    struct termios modes;
    struct top_interrupt interrupt; /* its fds are indexed by enum top_fd */
    bool is_done;
    int err; /* errno of a failed write */
};

/* What top waits for. An fd of -1 is not watched. */
enum top_fd {
    END_FD,    /* signals that end top */
    CHANGE_FD, /* signals that do not end top */
    KEY_FD
};

/* --- Asking -------------------------------------------------------------- */

/* Replaces the document by a new document from the server. If there is no new
 * document, the old document stays, and top->why gets the reason. Returns an
 * exit status. */
static int refresh(struct top *top)
{
    struct buf body;
    struct json_reader document;
    struct buf why;
    int status;

    buf_init(&body, NULL, 0, TOP_BODY_BYTES_MAX);
    buf_init(&why, top->why, sizeof(top->why) - 1, sizeof(top->why) - 1);
    status = top_fetch(&top->target, &top->interrupt, &body, &why);
    if (status == EX_OK) {
        if (json_read(&document, buf_bytes(&body)) == 0 &&
            top_is_status(document.values)) {
            json_fini(&top->document);
            buf_fini(&top->body);
            top->document = document;
            top->body = body;
            return EX_OK;
        }
        json_fini(&document);
        buf_printf(&why, "%s is no status of sprintd", top->target.path);
        status = EX_PROTOCOL;
    }
    top->why[why.len] = '\0';
    buf_fini(&body);
    return status;
}

/* --- Showing ------------------------------------------------------------- */

static bool write_all(struct bytes left)
{
    while (left.len > 0) {
        ssize_t written = write(STDOUT_FILENO, left.data, left.len);

        if (written == -1 && errno != EINTR)
            return false;
        if (written > 0) {
            left.data += written;
            left.len -= (size_t)written;
        }
    }
    return true;
}

static bool write_text(const char *text)
{
    return write_all(bytes_of(text));
}

/* Measures the window. The last column stays free: the sequence that clears the
 * rest of a line would erase the last character of a full line. */
static void measure_window(struct top *top)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_col == 0 ||
        size.ws_row == 0)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    top->view.width = size.ws_col - 1u;
    top->view.height = size.ws_row;
}

/* Overwrites the previous screen, so that nothing flickers. */
static void paint(struct top *top)
{
    struct buf lines, frame;
    struct bytes left;

    measure_window(top);
    buf_init(&lines, NULL, 0, FRAME_BYTES_MAX);
    buf_init(&frame, NULL, 0, 2 * FRAME_BYTES_MAX);
    top_draw(&lines, top->document.values, &top->view);
    buf_put_literal(&frame, "\033[H");
    left = buf_bytes(&lines);
    while (left.len > 0) {
        const char *end = memchr(left.data, '\n', left.len);
        struct bytes line;

        if (!end)
            break; /* the lines were longer than the limit */
        line = bytes_between(left.data, end);
        left.data = end + 1;
        left.len -= line.len + 1;
        buf_put(&frame, line);
        buf_put(&frame, left.len > 0 ? BYTES("\033[K\n") : BYTES("\033[K"));
    }
    buf_put_literal(&frame, "\033[J");
    if (!write_all(buf_bytes(&frame))) {
        top->err = errno;
        top->is_done = true;
    }
    buf_fini(&lines);
    buf_fini(&frame);
}

static bool print_snapshot(struct top *top)
{
    struct buf lines;
    bool is_written;

    top->view.width = SNAPSHOT_COLUMNS;
    top->view.has_styles = false;
    buf_init(&lines, NULL, 0, FRAME_BYTES_MAX);
    top_draw(&lines, top->document.values, &top->view);
    is_written = !lines.failed && write_all(buf_bytes(&lines));
    buf_fini(&lines);
    return is_written;
}

/* --- The terminal -------------------------------------------------------- */

/* Switches to the terminal's alternate screen, and hides the cursor. Keys are
 * read at once, without echo. */
static void enter_terminal(struct top *top)
{
    struct termios modes = top->modes;

    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (top->interrupt.fds[KEY_FD] != -1)
        tcsetattr(top->interrupt.fds[KEY_FD], TCSADRAIN, &modes);
    write_text("\033[?1049h\033[?25l\033[2J");
}

static void leave_terminal(struct top *top)
{
    write_text("\033[0m\033[?25h\033[?1049l");
    if (top->interrupt.fds[KEY_FD] != -1)
        tcsetattr(top->interrupt.fds[KEY_FD], TCSADRAIN, &top->modes);
}

/* Opens the descriptors from which top reads its signals from now on. Returns 0
 * or -errno. */
static int open_signals(struct top *top)
{
    sigset_t end, change;

    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGHUP);
    sigaddset(&end, SIGQUIT);
    sigemptyset(&change);
    sigaddset(&change, SIGWINCH);
    sigaddset(&change, SIGTSTP);
    sigprocmask(SIG_BLOCK, &end, NULL);
    sigprocmask(SIG_BLOCK, &change, NULL);
    top->interrupt.fds[END_FD] = signalfd(-1, &end, SFD_CLOEXEC);
    top->interrupt.fds[CHANGE_FD] = signalfd(-1, &change, SFD_CLOEXEC);
    return top->interrupt.fds[END_FD] == -1 ||
                   top->interrupt.fds[CHANGE_FD] == -1
               ? -errno
               : 0;
}

static void on_change(struct top *top)
{
    struct signalfd_siginfo info;

    if (read(top->interrupt.fds[CHANGE_FD], &info, sizeof(info)) !=
        sizeof(info))
        return;
    if (info.ssi_signo == SIGTSTP) {
        leave_terminal(top);
        raise(SIGSTOP); /* the process continues at SIGCONT */
        enter_terminal(top);
    }
}

static void on_keys(struct top *top)
{
    char keys[64];
    ssize_t got = read(top->interrupt.fds[KEY_FD], keys, sizeof(keys));

    if (got <= 0)
        top->interrupt.fds[KEY_FD] = -1; /* the terminal was closed */
    else if (memchr(keys, 'q', (size_t)got) || memchr(keys, 'Q', (size_t)got))
        top->is_done = true;
}

/* Handles keys and signals that have come already, or come within `ms`
 * milliseconds. */
static void mind(struct top *top, int ms)
{
    const int *minded = top->interrupt.fds;
    struct pollfd fds[] = {[END_FD] = {.fd = minded[END_FD], .events = POLLIN},
                           [CHANGE_FD] = {.fd = minded[CHANGE_FD],
                                          .events = POLLIN},
                           [KEY_FD] = {.fd = minded[KEY_FD], .events = POLLIN}};

    if (poll(fds, sizeof(fds) / sizeof(*fds), ms) <= 0)
        return;
    if (fds[END_FD].revents)
        top->is_done = true;
    if (fds[KEY_FD].revents)
        on_keys(top);
    if (fds[CHANGE_FD].revents) {
        on_change(top);
        paint(top);
    }
}

static bool mind_meanwhile(void *self)
{
    struct top *top = self;

    mind(top, 0);
    return top->is_done;
}

static void wait_until(struct top *top, uint64_t then_ns)
{
    uint64_t now_ns;

    while (!top->is_done && (now_ns = now_read_ns()) < then_ns)
        mind(top, (int)((then_ns - now_ns) / NS_PER_MS) + 1);
}

/* Shows the statistics until a key or a signal ends top. */
static int watch(struct top *top)
{
    int err = open_signals(top);

    if (err != 0) {
        snprintf(top->why, sizeof(top->why), "signalfd: %s", strerror(-err));
        return EX_OSERR;
    }
    if (tcgetattr(STDIN_FILENO, &top->modes) == 0)
        top->interrupt.fds[KEY_FD] = STDIN_FILENO;
    enter_terminal(top);
    while (!top->is_done) {
        uint64_t then_ns = now_read_ns() + PERIOD_NS;

        paint(top);
        wait_until(top, then_ns);
        if (!top->is_done)
            top->view.trouble = refresh(top) == EX_OK ? NULL : top->why;
    }
    leave_terminal(top);
    if (top->err == 0)
        return EX_OK;
    snprintf(top->why, sizeof(top->why), "standard output: %s",
             strerror(top->err));
    return EX_IOERR;
}

/* --- All of it ----------------------------------------------------------- */

static int run(struct top *top, bool is_once)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    int status = refresh(top);

    if (status != EX_OK)
        return status;
    setlocale(LC_CTYPE, "");
    top->view.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    top->view.has_styles = !no_color || *no_color == '\0';
    if (!is_once && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0)
        return watch(top);
    if (print_snapshot(top))
        return EX_OK;
    snprintf(top->why, sizeof(top->why), "standard output: %s",
             strerror(errno));
    return EX_IOERR;
}

int top_run(int count, char **arguments, FILE *errors)
{
    bool is_once = count > 0 && strcmp(arguments[0], "--once") == 0;
    struct top top = {.interrupt = {.fds = {-1, -1, -1}}};
    const char *wrong;
    int status;

    if (count - is_once != 1 || *arguments[is_once] == '-') {
        fputs("sprintd: usage: sprintd top [--once] "
              "http://HOST:PORT/PREFIX/ | unix:PATH:/PREFIX/\n",
              errors);
        return EX_USAGE;
    }
    wrong = top_target_read(&top.target, arguments[is_once]);
    if (wrong) {
        fprintf(errors, "sprintd: top: '%s': %s\n", arguments[is_once], wrong);
        return EX_USAGE;
    }
    top.interrupt.gives_up = mind_meanwhile;
    top.interrupt.self = &top;
    status = run(&top, is_once);
    if (status != EX_OK)
        fprintf(errors, "sprintd: top: %s\n", top.why);
    json_fini(&top.document);
    buf_fini(&top.body);
    if (top.interrupt.fds[END_FD] != -1)
        close(top.interrupt.fds[END_FD]);
    if (top.interrupt.fds[CHANGE_FD] != -1)
        close(top.interrupt.fds[CHANGE_FD]);
    return status;
}
