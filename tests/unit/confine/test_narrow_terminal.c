/* link: -Wl,--wrap=open,--wrap=isatty,--wrap=getsid */
#include "confine/narrow_terminal.h"

#include <unistd.h>

#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

static const char *terminal; /* is opened as /dev/tty; NULL: none is */
static int open_errno;       /* then */
static bool is_leader;

WRAP(int, open, const char *path, int flags, ...)
{
    if (strcmp(path, "/dev/tty") != 0) {
        mode_t mode = 0;
        va_list list;

        va_start(list, flags);
        if (flags & O_CREAT)
            mode = va_arg(list, mode_t);
        va_end(list);
        return __real_open(path, flags, mode);
    }
    if (terminal)
        return __real_open(terminal, flags);
    errno = open_errno;
    return -1;
}

WRAP(int, isatty, int fd)
{
    (void)fd;
    return 0;
}

WRAP(pid_t, getsid, pid_t pid)
{
    (void)pid;
    return is_leader ? getpid() : getpid() + 1;
}

static int leave(void)
{
    unsigned fds = place_count_fds();
    int err = narrow_terminal_leave(false);

    assert_int_equal(place_count_fds(), fds);
    return err;
}

static int set_up(void **state)
{
    (void)state;
    terminal = NULL;
    open_errno = ENXIO;
    is_leader = false;
    return 0;
}

TEST(where_no_terminal_is_there_is_none_to_leave)
{
    assert_int_equal(leave(), 0);
    open_errno = ENOENT;
    assert_int_equal(leave(), 0);
}

/* As in a container that has any file there. */
TEST(what_is_no_terminal_is_none_to_leave)
{
    terminal = "/dev/null";
    assert_int_equal(leave(), 0);
}

TEST(it_is_told_where_that_cannot_be_known)
{
    open_errno = EMFILE;
    assert_int_equal(leave(), -EMFILE);
    is_leader = true; /* who leads the session stays in it */
    assert_int_equal(leave(), 0);
}

SUITE(.each_begin = set_up);
