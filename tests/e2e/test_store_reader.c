/*
 * `sprintd kv export` and `backup` have a process read the store, which has
 * nothing else of theirs, and is not waited for without end.
 */
#include "privileged.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

static const char line[] = "{\"key\":\"a\",\"value\":\"1\"}\n";

static const char *store(void)
{
    return at("store");
}

/* Of NOBODY, when root runs this. */
static int make_store(void **state)
{
    (void)state;
    site_text("../lines", line);
    if (geteuid() == 0)
        make_folder("store", NOBODY);
    return STORE_COMMAND(at("lines"), NULL, "import", store());
}

static int drop_store(void **state)
{
    return system(printed("rm -rf '%s' '%s'", store(), at("copy"))) == 0
               ? operator_after_test(state)
               : -1;
}

/* Keeps everybody else from the store, as long as the descriptor is open. */
static int lock_store(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(at("store/lock.mdb"), O_RDWR | O_CLOEXEC);

    assert_int_not_equal(fd, -1);
    assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
    return fd;
}

static pid_t begin_backup(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl(getenv("SPRINTD"), "sprintd", "kv", "backup", store(), at("copy"),
              "2", (char *)NULL);
        _exit(EX_OSERR);
    }
    assert_int_not_equal(pid, -1);
    return pid;
}

/* 0: it has begun none yet. */
static pid_t reader_of(pid_t asker)
{
    const char *text = read_text(printed("/proc/%d/task/%d/children",
                                         (int)asker, (int)asker),
                                 NULL);

    return (pid_t)strtol(text, NULL, 10);
}

/* Whether it has open what lies below that path. */
static bool has_open(pid_t pid, const char *path)
{
    DIR *all = opendir(printed("/proc/%d/fd", (int)pid));
    struct dirent *one;
    bool is_open = false;

    assert_non_null(all);
    while ((one = readdir(all))) {
        char place[PATH_MAX];
        ssize_t len = readlinkat(dirfd(all), one->d_name, place,
                                 sizeof(place) - 1);

        place[len > 0 ? len : 0] = '\0';
        is_open |= strncmp(place, path, strlen(path)) == 0;
    }
    closedir(all);
    return is_open;
}

static void expect_given_up(pid_t asker)
{
    int status;

    assert_int_equal(waitpid(asker, &status, 0), asker);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EX_TEMPFAIL);
    assert_int_equal(access(at("copy"), F_OK), -1);
}

TEST(a_store_that_says_nothing_is_given_up)
{
    struct outcome outcome;
    int fd = lock_store();

    RUN(&outcome, "kv", "backup", store(), at("copy"), "1");
    assert_int_equal(outcome.status, EX_TEMPFAIL);
    assert_non_null(strstr(outcome.err, "nothing has come of it for 1 s"));
    assert_int_equal(access(at("copy"), F_OK), -1);
    RUN(&outcome, "kv", "export", store(), "1");
    assert_int_equal(outcome.status, EX_TEMPFAIL);
    assert_string_equal(outcome.out, "");
    close(fd);
    RUN(&outcome, "kv", "backup", store(), at("copy"), "1");
    assert_int_equal(outcome.status, 0);
    RUN(&outcome, "kv", "export", at("copy"), "1");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "\"key\":\"a\""));
}

TEST(who_reads_it_has_nothing_of_the_copy)
{
    int fd = lock_store();
    pid_t asker = begin_backup();

    assert_true(eventually(reader_of(asker) != 0, SOON_MS));
    assert_true(eventually(has_open(reader_of(asker), store()), SOON_MS));
    assert_true(has_open(asker, at("copy")));
    assert_false(has_open(reader_of(asker), at("copy")));
    expect_given_up(asker);
    close(fd);
}

/* As its owner can. */
TEST(who_reads_it_may_be_stopped_and_is_given_up)
{
    int fd = lock_store();
    pid_t asker = begin_backup();

    assert_true(eventually(reader_of(asker) != 0, SOON_MS));
    assert_true(eventually(has_open(reader_of(asker), store()), SOON_MS));
    assert_int_equal(kill(reader_of(asker), SIGSTOP), 0);
    close(fd);
    expect_given_up(asker);
}

TEST(who_reads_it_does_not_outlive_who_asked)
{
    int fd = lock_store();
    pid_t asker = begin_backup();
    pid_t reader;
    int status;

    assert_true(eventually(reader_of(asker) != 0, SOON_MS));
    reader = reader_of(asker);
    assert_true(eventually(has_open(reader, store()), SOON_MS));
    assert_int_equal(kill(asker, SIGKILL), 0);
    assert_int_equal(waitpid(asker, &status, 0), asker);
    assert_true(eventually(waitpid(reader, &status, WNOHANG) == reader,
                           SOON_MS));
    close(fd);
}

TEST(a_time_is_a_number_of_seconds)
{
    static const char *const times[] = {"0", "-1", "1s", "86401", "", " 1"};

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        struct outcome outcome;

        RUN(&outcome, "kv", "backup", store(), at("copy"), times[i]);
        assert_int_equal(outcome.status, EX_USAGE);
        RUN(&outcome, "kv", "export", store(), times[i]);
        assert_int_equal(outcome.status, EX_USAGE);
    }
    assert_int_equal(access(at("copy"), F_OK), -1);
}

SUITE(.begin = privileged_begin, .end = harness_end, .each_begin = make_store,
      .each_end = drop_store);
