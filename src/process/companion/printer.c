#include "process/companion/printer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/utf8.h"
#include "process/companion/companion.h"

enum { TEXT_BYTES = 4096, CHARACTER_BYTES = 4 };

static bool has_errors; /* written while there is only one thread */

/* --- The process --------------------------------------------------------- */

/* Returns how many bytes at the end of `text` may be the beginning of an
 * incomplete UTF-8 character. */
static size_t count_begun(const char *text, size_t len)
{
    for (size_t back = 1; back < CHARACTER_BYTES && back <= len; back++) {
        unsigned char byte = (unsigned char)text[len - back];
        size_t need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;

        if (byte >= 0xC0)
            return back < need ? back : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

/* Writes `text`. The part that the terminal does not take at once is dropped,
 * so that no process waits for the terminal. */
static void put(int output, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(output, text, len);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

void printer_run(int input, int output)
{
    char text[TEXT_BYTES];
    size_t begun = 0;
    ssize_t got;

    for (;;) {
        size_t len;

        got = read(input, text + begun, sizeof(text) - begun);
        if (got == -1 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len = begun + (size_t)got;
        begun = count_begun(text, len);
        utf8_disarm(text, len - begun, true);
        put(output, text, len - begun);
        memmove(text, text + len - begun, begun);
    }
    utf8_disarm(text, begun, true);
    put(output, text, begun);
}

/* Becomes the printer. The printer is no child of the server, which may end
 * before the printer. The printer is not dumpable, so other processes of the
 * same user cannot reach its descriptors. */
static _Noreturn void be_printer(int input, int terminal,
                                 const struct identity *identity)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_NAME, "sprintd-printer");
    companion_set_signals(SIG_IGN);
    if (null == -1 || identity_assume(identity) != EX_OK ||
        prctl(PR_SET_DUMPABLE, 0) == -1 ||
        dup2(terminal, STDOUT_FILENO) == -1 ||
        dup2(input, STDIN_FILENO) == -1 || dup2(null, STDERR_FILENO) == -1 ||
        close_range(STDERR_FILENO + 1, ~0U, 0) == -1)
        _exit(EX_OSERR);
    printer_run(STDIN_FILENO, STDOUT_FILENO);
    _exit(EX_OK);
}

/* --- The server's side --------------------------------------------------- */

/* Forks the printer by way of a child that ends at once. Returns 0 or
 * -errno. */
static int fork_printer(int input, int terminal,
                        const struct identity *identity)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        pid = fork();
        if (pid == 0)
            be_printer(input, terminal, identity);
        _exit(pid == -1 ? EX_OSERR : EX_OK);
    }
    if (pid == -1)
        return -errno;
    while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
        ;
    return status == 0 ? 0 : -EAGAIN;
}

/* Starts a printer for the terminal `fd`, and then makes `fd` the pipe to the
 * printer. Returns 0 or -errno. */
static int start(int fd, const struct identity *identity)
{
    int ends[2];
    int err;

    if (pipe2(ends, O_CLOEXEC) == -1)
        return -errno;
    err = fork_printer(ends[0], fd, identity);
    if (err == 0 && dup2(ends[1], fd) == -1)
        err = -errno;
    close(ends[0]);
    close(ends[1]);
    return err;
}

int printer_open(const struct identity *identity)
{
    bool prints = isatty(STDOUT_FILENO);
    bool complains = isatty(STDERR_FILENO);
    struct stat output, errors;
    bool is_same = prints && complains && fstat(STDOUT_FILENO, &output) == 0 &&
                   fstat(STDERR_FILENO, &errors) == 0 &&
                   output.st_rdev == errors.st_rdev;
    int err = 0;

    fflush(NULL);
    if (prints)
        err = start(STDOUT_FILENO, identity);
    if (err == 0 && is_same) /* one pipe for both keeps the order of lines */
        err = dup2(STDOUT_FILENO, STDERR_FILENO) == -1 ? -errno : 0;
    else if (err == 0 && complains)
        err = start(STDERR_FILENO, identity);
    has_errors = err == 0 && complains;
    return err;
}

bool printer_has_errors(void)
{
    return has_errors;
}
