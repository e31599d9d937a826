/* link: -Wl,--wrap=syscall */
#include "confine/landlock_domain.h"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "suite.h"
#include "unit/confine/enclosed.h"
#include "unit/place.h"
#include "wrap.h"

/* --- Kernels that can less ----------------------------------------------- */

static int landlock_errno; /* what create_ruleset fails with, 0: nothing */
static int older_abi;      /* 0: the kernel's own */

WRAP(long, syscall, long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_landlock_create_ruleset && landlock_errno != 0) {
        errno = landlock_errno;
        return -1;
    }
    if (number == SYS_landlock_create_ruleset && a == 0 && older_abi != 0)
        return older_abi;
    return __real_syscall(number, a, b, c, d, e, f);
}

/* --- Helpers ------------------------------------------------------------- */

static struct place place;
static struct landlock_domain landlock;
static const struct landlock_domain_options plain = {.rules_max = 8};

static int set_up(void **state)
{
    (void)state;
    landlock_errno = older_abi = 0;
    landlock = (struct landlock_domain){.fd = -1};
    if (place_open(&place) != 0 || mkdirat(place.fd, "root", 0755) != 0 ||
        mkdirat(place.fd, "root/deep", 0755) != 0 ||
        mkdirat(place.fd, "log", 0755) != 0 ||
        mkdirat(place.fd, "other", 0755) != 0)
        return -1;
    return place_write(&place, "root/deep/file", "text") != 0 ||
                   place_write(&place, "log/old", "text") != 0 ||
                   place_write(&place, "other/file", "text") != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    (void)state;
    landlock_domain_close(&landlock);
    return place_close(&place);
}

/* Skips the test on machines without Landlock. */
static void open_fence(const struct landlock_domain_options *options)
{
    int err = landlock_domain_open(&landlock, options);

    if (err == -ENOSYS || err == -EOPNOTSUPP)
        skip();
    assert_int_equal(err, 0);
}

static void permit(const char *name, enum path_access access)
{
    assert_int_equal(landlock_domain_permit(&landlock, place_path(&place, name),
                                            access),
                     0);
}

/* The errno of opening it so, 0 when it opens. */
static int try_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd == -1)
        return errno;
    close(fd);
    return 0;
}

static int try_name(const char *name, int flags)
{
    return try_open(place_path(&place, name), flags);
}

static bool entered(void)
{
    return landlock_domain_enter(&landlock) == 0;
}

static int (*act_inside)(void);

static int enter_and_act(void)
{
    return entered() ? act_inside() : 1;
}

/* What act returns, from 2 on or 0, in a child that has entered the domain. */
static int inside(int (*act)(void))
{
    act_inside = act;
    return enclosed(enter_and_act);
}

/* --- Reading ------------------------------------------------------------- */

static int look_around(void)
{
    if (try_open("/etc/passwd", O_RDONLY) != EACCES)
        return 2;
    if (try_name("root/deep/file", O_RDONLY) != 0 ||
        try_name("root", O_RDONLY | O_DIRECTORY) != 0)
        return 3;
    if (try_name("other/file", O_RDONLY) != EACCES)
        return 4;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 5;
}

TEST(only_what_is_permitted_can_be_read)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(inside(look_around), 0);
}

static int write_around(void)
{
    if (try_name("root/deep/file", O_WRONLY) != EACCES ||
        try_name("root/new", O_WRONLY | O_CREAT) != EACCES)
        return 2;
    if (unlink(place_path(&place, "root/deep/file")) == 0 || errno != EACCES)
        return 3;
    if (mkdir(place_path(&place, "root/folder"), 0700) == 0 || errno != EACCES)
        return 4;
    return landlock.abi < 3 ||
                   try_name("root/deep/file", O_RDONLY | O_TRUNC) == EACCES
               ? 0
               : 5;
}

TEST(what_is_only_read_is_not_written)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(inside(write_around), 0);
}

static int execute(void)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};

    execv("/bin/true", argv);
    return errno == EACCES ? 0 : 2;
}

TEST(nothing_is_executed_even_where_all_is_read)
{
    open_fence(&plain);
    assert_int_equal(landlock_domain_permit(&landlock, "/", PATH_READ), 0);
    assert_int_equal(inside(execute), 0);
}

static int use_directory_from_before(void)
{
    int other = open(place_path(&place, "other"), O_RDONLY | O_DIRECTORY);

    if (!entered())
        return 1;
    return openat(other, "file", O_RDONLY) == -1 && errno == EACCES ? 0 : 2;
}

TEST(a_directory_open_from_before_is_no_way_out)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(enclosed(use_directory_from_before), 0);
}

static int read_single_file(void)
{
    return try_name("other/file", O_RDONLY) == 0 &&
                   try_name("root/deep/file", O_RDONLY) == EACCES
               ? 0
               : 2;
}

TEST(a_single_file_can_be_permitted)
{
    open_fence(&plain);
    permit("other/file", PATH_READ);
    assert_int_equal(inside(read_single_file), 0);
}

static int follow_out(void)
{
    return try_name("root/link", O_RDONLY) == EACCES ? 0 : 2;
}

TEST(a_symlink_in_a_root_is_no_way_out)
{
    assert_int_equal(symlinkat("../other/file", place.fd, "root/link"), 0);
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(inside(follow_out), 0);
}

/* --- Writing ------------------------------------------------------------- */

static int write_device(void)
{
    return try_open("/dev/null", O_WRONLY) == 0 &&
                   try_open("/dev/zero", O_WRONLY) == EACCES
               ? 0
               : 2;
}

TEST(a_device_does_not_open_its_directory)
{
    open_fence(&plain);
    assert_int_equal(landlock_domain_permit(&landlock, "/dev/null", PATH_WRITE),
                     0);
    assert_int_equal(inside(write_device), 0);
}

static int write_pipe(void)
{
    int ends[2];
    char path[32];

    if (pipe(ends) != 0)
        return 1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
    if (landlock_domain_permit(&landlock, path, PATH_WRITE) != 0 || !entered())
        return 2;
    return try_open(path, O_WRONLY) == 0 ? 0 : 3;
}

TEST(a_pipe_behind_a_name_in_proc_can_be_named)
{
    open_fence(&plain);
    assert_int_equal(enclosed(write_pipe), 0);
}

static int keep_data(void)
{
    if (try_name("other/new", O_RDWR | O_CREAT | O_TRUNC) != 0 ||
        mkdir(place_path(&place, "other/sub"), 0700) != 0)
        return 2;
    return rename(place_path(&place, "other/new"),
                  place_path(&place, "other/file")) == 0 &&
                   try_name("other/file", O_RDONLY) == 0
               ? 0
               : 3;
}

TEST(a_data_directory_is_read_and_written)
{
    open_fence(&plain);
    permit("other", PATH_WRITE);
    assert_int_equal(inside(keep_data), 0);
}

/* --- Connecting ---------------------------------------------------------- */

/* The errno of connecting to a port of loopback where nobody listens. */
static int try_connect(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int held = socket(AF_INET, SOCK_STREAM, 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (!entered() ||
        bind(held, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(held, (struct sockaddr *)&address, &len) != 0)
        return 0;
    return connect(fd, (struct sockaddr *)&address, len) == -1 ? errno : 0;
}

TEST(tcp_goes_out_only_when_asked_for)
{
    struct landlock_domain_options connecting = {.connects_tcp = true};

    open_fence(&plain);
    if (landlock.abi < 4)
        skip();
    assert_int_equal(enclosed(try_connect), EACCES);
    landlock_domain_close(&landlock);
    open_fence(&connecting);
    assert_int_equal(enclosed(try_connect), ECONNREFUSED);
}

static struct sockaddr_un abstract_address;
static socklen_t abstract_len;

static int try_abstract(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (!entered())
        return 1;
    return connect(fd, (struct sockaddr *)&abstract_address, abstract_len) == 0
               ? 2
               : errno;
}

TEST(abstract_sockets_are_met_only_when_asked_for)
{
    struct landlock_domain_options connecting = {.connects_abstract = true};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    /* Bound to nothing but its family, it gets a name of its own. */
    abstract_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    abstract_len = sizeof(abstract_address);
    assert_int_equal(bind(fd, (struct sockaddr *)&abstract_address,
                          sizeof(sa_family_t)),
                     0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&abstract_address,
                                 &abstract_len),
                     0);
    open_fence(&plain);
    if (landlock.abi < 6) {
        close(fd);
        skip();
    }
    assert_int_equal(enclosed(try_abstract), EPERM);
    landlock_domain_close(&landlock);
    open_fence(&connecting);
    assert_int_equal(enclosed(try_abstract), 2);
    close(fd);
}

/* --- Asking -------------------------------------------------------------- */

static bool allows(const char *name, enum path_access access)
{
    return landlock_domain_allows(&landlock, place_path(&place, name), access);
}

TEST(what_a_reload_may_reach_can_be_asked)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    permit("log", PATH_WRITE);
    assert_true(allows("root", PATH_READ));
    assert_true(allows("root/deep", PATH_READ));
    assert_true(allows("root/deep/file", PATH_READ));
    assert_true(allows("root/deep/../deep/missing", PATH_READ));
    assert_false(allows("root", PATH_WRITE));
    assert_false(allows("other", PATH_READ));
    assert_false(allows("other/missing", PATH_READ));
    assert_false(allows("missing/missing", PATH_READ));
    assert_true(allows("log/access", PATH_WRITE));
    assert_false(allows("other/access", PATH_WRITE));
    assert_false(landlock_domain_allows(&landlock, "/etc", PATH_READ));
    assert_false(landlock_domain_allows(&landlock, "/", PATH_READ));
}

TEST(what_took_a_permitted_name_is_out_of_reach)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(renameat(place.fd, "root", place.fd, "moved"), 0);
    assert_int_equal(mkdirat(place.fd, "root", 0755), 0);
    assert_false(allows("root", PATH_READ));
    assert_true(allows("moved", PATH_READ));
}

static int ask_inside(void)
{
    return allows("root/deep/file", PATH_READ) && !allows("other", PATH_READ)
               ? 0
               : 2;
}

TEST(asking_works_from_inside)
{
    open_fence(&plain);
    permit("root", PATH_READ);
    assert_int_equal(inside(ask_inside), 0);
}

/* --- What fails ---------------------------------------------------------- */

TEST(a_kernel_without_landlock_is_told)
{
    landlock_errno = ENOSYS;
    assert_int_equal(landlock_domain_open(&landlock, &plain), -ENOSYS);
    landlock_errno = EOPNOTSUPP;
    assert_int_equal(landlock_domain_open(&landlock, &plain), -EOPNOTSUPP);
}

TEST(each_older_kernel_gets_what_it_knows)
{
    open_fence(&plain);
    for (int abi = landlock.abi < 6 ? landlock.abi : 6; abi > 0; abi--) {
        landlock_domain_close(&landlock);
        older_abi = abi;
        assert_int_equal(landlock_domain_open(&landlock, &plain), 0);
        assert_int_equal(landlock.abi, abi);
        assert_int_equal(landlock.refuses_tcp, abi >= 4);
        permit("root", PATH_READ);
        permit("other", PATH_WRITE);
        assert_int_equal(inside(write_around), 0);
    }
}

TEST(paths_that_cannot_be_reached_are_told)
{
    static char long_name[5000];

    memset(long_name, 'a', sizeof(long_name) - 1);
    open_fence(&plain);
    assert_int_equal(landlock_domain_permit(&landlock,
                                            place_path(&place, "missing"),
                                            PATH_READ),
                     -ENOENT);
    assert_int_equal(landlock_domain_permit(&landlock,
                                            place_path(&place, "missing/log"),
                                            PATH_WRITE),
                     -ENOENT);
    assert_int_equal(landlock_domain_permit(&landlock, long_name, PATH_WRITE),
                     -ENAMETOOLONG);
    assert_int_equal(landlock_domain_permit(&landlock, long_name, PATH_READ),
                     -ENAMETOOLONG);
    assert_false(landlock_domain_allows(&landlock, long_name, PATH_WRITE));
}

TEST(one_rule_too_many_is_refused)
{
    open_fence(&plain);
    for (size_t i = 0; i < plain.rules_max; i++)
        permit("root", PATH_READ);
    assert_int_equal(landlock_domain_permit(&landlock,
                                            place_path(&place, "root"),
                                            PATH_READ),
                     -E2BIG);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
