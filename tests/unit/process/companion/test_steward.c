/* link: -Wl,--wrap=upgrade_find_program,--wrap=pidfd_open,--wrap=poll */
/* link: -Wl,--wrap=log_write */
#include "process/companion/steward.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/log.h"
#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

enum { HASTE = 100, WAIT_MS = 20000 };

/* --- What the steward meets ---------------------------------------------- */

static unsigned failures_left; /* of pidfd_open(): each process has its own */

WRAP(int, pidfd_open, pid_t pid, unsigned flags)
{
    if (failures_left > 0) {
        failures_left--;
        errno = ENFILE;
        return -1;
    }
    return __real_pidfd_open(pid, flags);
}

/* Its pauses are shorter here. */
WRAP(int, poll, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    return __real_poll(fds, count,
                       timeout_ms > 0 ? timeout_ms / HASTE : timeout_ms);
}

WRAP(int, upgrade_find_program, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s", place_path(&test_place, "sprintd"));
    return 0;
}

static unsigned errors;

WRAP(void, log_write, enum log_level level, const char *format, ...)
{
    assert_non_null(format);
    errors += level == LOG_LEVEL_ERROR;
}

/* --- The program --------------------------------------------------------- */

/* It says that it was there, and dies. */
static void make_program(void)
{
    char text[256];

    snprintf(text, sizeof(text), "#!/bin/sh\necho >>%s/runs\n",
             test_place.name);
    assert_int_equal(place_write(&test_place, STEWARD_PROGRAM, text), 0);
    assert_int_equal(chmod(place_path(&test_place, STEWARD_PROGRAM), 0700), 0);
}

static off_t count_runs(void)
{
    struct stat st;

    return stat(place_path(&test_place, "runs"), &st) == 0 ? st.st_size : 0;
}

static void await_runs(off_t count)
{
    for (int i = 0; i < WAIT_MS && count_runs() < count; i++)
        usleep(1000);
    assert_true(count_runs() >= count);
}

/* --- Tests --------------------------------------------------------------- */

static void start_again_after(unsigned failures)
{
    static char name[] = "sprintd";
    char *arguments[] = {name, NULL};
    struct steward steward;

    make_program();
    failures_left = failures;
    assert_int_equal(steward_open(&steward, arguments), 0);
    failures_left = 0;
    await_runs(2);
    steward_close(&steward);
}

TEST(a_program_that_has_died_is_started_again)
{
    start_again_after(0);
}

/* Its death is then not told, and has to be asked for. */
TEST(so_it_is_where_descriptors_had_run_out)
{
    start_again_after(3);
}

/* The server cannot start it again. */
TEST(that_the_steward_itself_has_died_is_told)
{
    static char name[] = "sprintd";
    char *arguments[] = {name, NULL};
    struct pollfd news = {.events = POLLIN};
    struct steward steward;

    make_program();
    assert_int_equal(steward_open(&steward, arguments), 0);
    await_runs(1);
    assert_false(steward_has_news(&steward));
    assert_int_equal(errors, 0);
    assert_int_equal(kill(steward.pid, SIGKILL), 0);
    news.fd = steward.fd;
    while (steward.fd != -1) {
        assert_int_equal(poll(&news, 1, -1), 1);
        assert_false(steward_has_news(&steward));
    }
    assert_int_equal(errors, 1);
    steward_close(&steward);
}

SUITE(.each_begin = place_begin, .each_end = place_end);
