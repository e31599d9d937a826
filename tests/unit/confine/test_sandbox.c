/* link: -Wl,--wrap=landlock_domain_open,--wrap=landlock_domain_enter,--wrap=seccomp_filter_enter */
#include "confine/sandbox.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sysexits.h>

#include "base/log.h"
#include "confine/seccomp_filter.h"
#include "suite.h"
#include "unit/confine/enclosed.h"
#include "unit/place.h"
#include "wrap.h"

/* --- Kernels that lack something ----------------------------------------- */

static int open_error;
static int enter_error;
static int filter_error;

WRAP(int, landlock_domain_open, struct landlock_domain *landlock,
     const struct landlock_domain_options *options)
{
    *landlock = (struct landlock_domain){.fd = -1};
    return open_error != 0 ? open_error
                           : __real_landlock_domain_open(landlock, options);
}

WRAP(int, landlock_domain_enter, struct landlock_domain *landlock)
{
    return enter_error != 0 ? enter_error
                            : __real_landlock_domain_enter(landlock);
}

WRAP(int, seccomp_filter_enter, bool kills, bool sends_udp, bool opens_unix)
{
    return filter_error != 0
               ? filter_error
               : __real_seccomp_filter_enter(kills, sends_udp, opens_unix);
}

/* --- Helpers ------------------------------------------------------------- */

static struct place place;
static struct sandbox sandbox;
static struct sandbox_path paths[2];
static struct sandbox_options options;
static enum log_level lightest;
static char said[4096]; /* on stderr, by the child */

static int set_up(void **state)
{
    (void)state;
    open_error = enter_error = filter_error = 0;
    lightest = LOG_LEVEL_INFO;
    sandbox = (struct sandbox){.landlock = {.fd = -1}};
    if (place_open(&place) != 0 || mkdirat(place.fd, "root", 0755) != 0 ||
        place_write(&place, "root/file", "text") != 0)
        return -1;
    paths[0] = (struct sandbox_path){"", PATH_READ, false};
    options = (struct sandbox_options){
        .mode = SANDBOX_ON, .paths = paths, .path_count = 1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sandbox_close(&sandbox);
    return place_close(&place);
}

static int (*inside)(void);

/* The child's first lines go to a file. 99: it could not be entered. */
static int enter_and_act(void)
{
    int fd = openat(place.fd, "said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int status;

    if (fd == -1 || dup2(fd, STDERR_FILENO) == -1)
        return 98;
    log_set_lightest(lightest);
    status = sandbox_enter(&sandbox, &options);
    if (status != EX_OK)
        return status;
    return inside ? inside() : 0;
}

static int run(int (*act)(void))
{
    static char root[128];
    ssize_t len;
    int status;
    int fd;

    snprintf(root, sizeof(root), "%s", place_path(&place, "root"));
    paths[0].path = root;
    inside = act;
    status = enclosed(enter_and_act);
    fd = openat(place.fd, "said", O_RDONLY);
    len = fd == -1 ? 0 : read(fd, said, sizeof(said) - 1);
    said[len > 0 ? len : 0] = '\0';
    if (fd != -1)
        close(fd);
    return status;
}

/* Skips in builds and on machines that have not all. */
static void want_all(void)
{
    if (!sandbox_is_built_in())
        skip();
    options.mode = SANDBOX_STRICT;
    if (run(NULL) == EX_UNAVAILABLE)
        skip();
    options.mode = SANDBOX_ON;
}

static int opens(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd == -1)
        return errno;
    close(fd);
    return 0;
}

/* --- Modes --------------------------------------------------------------- */

static int look_around(void)
{
    if (opens("/etc/passwd") != EACCES)
        return 1;
    if (opens(place_path(&place, "root/file")) != 0 || opens("/dev/null") != 0)
        return 2;
    return sandbox_allows(&sandbox, paths[0].path, PATH_READ) &&
                   !sandbox_allows(&sandbox, "/etc/passwd", PATH_READ)
               ? 0
               : 3;
}

static int open_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0) == -1 && errno == EPERM ? 0 : 1;
}

static int execute(void)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};

    execv("/bin/true", argv);
    return errno == EPERM ? 0 : 1;
}

TEST(on_confines_files_and_refuses_calls)
{
    want_all();
    assert_int_equal(run(look_around), 0);
    assert_int_equal(run(open_netlink), 0);
    assert_int_equal(run(execute), 0);
    assert_non_null(strstr(said, "sandbox: Landlock ABI "));
    assert_non_null(strstr(said, ", seccomp\n"));
}

TEST(strict_kills_for_a_refused_call_only)
{
    want_all();
    options.mode = SANDBOX_STRICT;
    assert_int_equal(run(look_around), 0);
    assert_non_null(strstr(said, ", seccomp, strict\n"));
    assert_int_equal(run(open_netlink), 128 + SIGSYS);
    assert_int_equal(run(execute), 128 + SIGSYS);
}

static int is_free(void)
{
    return opens("/etc/passwd") == 0 &&
                   prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0 &&
                   sandbox_allows(&sandbox, "/etc/passwd", PATH_WRITE)
               ? 0
               : 1;
}

TEST(off_confines_nothing_and_says_so)
{
    options.mode = SANDBOX_OFF;
    assert_int_equal(run(is_free), 0);
    assert_non_null(strstr(said, "sandbox: off\n"));
}

/* Nor is what is all there. */
TEST(what_nobody_asked_for_is_not_missed_aloud)
{
    if (!sandbox_is_built_in())
        skip();
    lightest = LOG_LEVEL_NOTICE;
    assert_int_equal(run(NULL), 0);
    assert_string_equal(said, "");
    filter_error = -ENOSYS;
    assert_int_equal(run(NULL), 0);
    assert_non_null(strstr(said, "no seccomp"));
    options.is_default = true;
    assert_int_equal(run(NULL), 0);
    assert_string_equal(said, "");
}

TEST(an_instrumented_build_has_none_and_says_so)
{
    if (sandbox_is_built_in())
        skip();
    options.mode = SANDBOX_STRICT;
    assert_int_equal(run(is_free), 0);
    assert_non_null(strstr(said, "sandbox: none in an instrumented build\n"));
}

/* --- Kernels ------------------------------------------------------------- */

static int filter_alone(void)
{
    return opens("/etc/passwd") == 0 && open_netlink() == 0 &&
                   sandbox_allows(&sandbox, "/etc/passwd", PATH_READ)
               ? 0
               : 1;
}

static int fence_alone(void)
{
    return opens("/etc/passwd") == EACCES &&
                   prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0
               ? 0
               : 1;
}

TEST(on_does_without_landlock)
{
    want_all();
    open_error = -EOPNOTSUPP;
    assert_int_equal(run(filter_alone), 0);
    assert_non_null(strstr(said, "no Landlock (Operation not supported), "
                                 "seccomp\n"));
    open_error = 0;
    enter_error = -E2BIG; /* too many fences inside of each other */
    assert_int_equal(run(filter_alone), 0);
    assert_non_null(strstr(said, "no Landlock (Argument list too long)"));
}

TEST(on_does_without_seccomp)
{
    want_all();
    filter_error = -ENOSYS;
    assert_int_equal(run(fence_alone), 0);
    assert_non_null(strstr(said, "no seccomp (Function not implemented)"));
}

TEST(strict_does_without_nothing)
{
    want_all();
    options.mode = SANDBOX_STRICT;
    filter_error = -EINVAL;
    assert_int_equal(run(NULL), EX_UNAVAILABLE);
    assert_non_null(strstr(said, "this kernel gives no seccomp filter: "));
    open_error = -ENOSYS;
    assert_int_equal(run(NULL), EX_UNAVAILABLE);
    assert_non_null(strstr(said, "this kernel gives no Landlock: "));
}

/* --- Threads ------------------------------------------------------------- */

static void *wait_for_ever(void *unused)
{
    pause();
    return unused;
}

static int enter_beside_a_thread(void)
{
    pthread_t thread;
    int null = open("/dev/null", O_WRONLY); /* for what assert says */

    if (dup2(null, STDERR_FILENO) == -1 ||
        pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        return 1;
    return sandbox_enter(&sandbox, &options) == EX_OK ? 2 : 3;
}

TEST(entering_beside_a_second_thread_is_a_bug)
{
    want_all();
    assert_int_equal(enclosed(enter_beside_a_thread), 128 + SIGABRT);
}

/* --- Paths --------------------------------------------------------------- */

TEST(a_missing_path_is_said_unless_it_may_be)
{
    want_all();
    options.path_count = 2;
    paths[1] = (struct sandbox_path){"/nowhere/at/all", PATH_READ, false};
    assert_int_equal(run(look_around), 0);
    assert_non_null(strstr(said, "sandbox: '/nowhere/at/all' stays out of "
                                 "reach: No such file or directory\n"));
    paths[1].may_be_missing = true;
    assert_int_equal(run(look_around), 0);
    assert_null(strstr(said, "/nowhere"));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
