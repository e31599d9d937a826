/* link: -Wl,--wrap=unlink,--wrap=pwrite,--wrap=fchmod,--wrap=ftruncate */
#include "process/pid_file.h"

#include <sys/file.h>
#include <sys/wait.h>

#include "base/file_broker.h"
#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

static int unlink_errno;
static int pwrite_errno;
static int fchmod_errno;

WRAP(int, unlink, const char *path)
{
    errno = unlink_errno;
    return unlink_errno != 0 ? -1 : __real_unlink(path);
}

WRAP(ssize_t, pwrite, int fd, const void *data, size_t len, off_t at)
{
    errno = pwrite_errno;
    return pwrite_errno != 0 ? -1 : __real_pwrite(fd, data, len, at);
}

WRAP(int, fchmod, int fd, mode_t mode)
{
    errno = fchmod_errno;
    return fchmod_errno != 0 ? -1 : __real_fchmod(fd, mode);
}

static char seen[32]; /* by a script, before the file is cut to its length */

WRAP(int, ftruncate, int fd, off_t len)
{
    ssize_t read = pread(fd, seen, sizeof(seen) - 1, 0);

    seen[read > 0 ? read : 0] = '\0';
    return __real_ftruncate(fd, len);
}

static struct place place;
static struct pid_file file;
static unsigned fds_before;

static int set_up(void **state)
{
    (void)state;
    unlink_errno = pwrite_errno = fchmod_errno = 0;
    file = (struct pid_file){.fd = -1};
    unsetenv(PID_FILE_VARIABLE);
    fds_before = place_count_fds();
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    unlink_errno = 0;
    pid_file_close(&file);
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

static void assert_content(const char *expected)
{
    char text[64] = "";
    int fd = openat(place.fd, "pid", O_RDONLY);

    assert_true(fd != -1);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static const char *our_number(void)
{
    static char text[24];

    snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    return text;
}

static bool is_there(void)
{
    return faccessat(place.fd, "pid", F_OK, 0) == 0;
}

static void open_and_write(void)
{
    pid_t holder;

    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     0);
    assert_int_equal(pid_file_write(&file), 0);
}

TEST(the_file_holds_our_number_until_the_end)
{
    char path[200];

    snprintf(path, sizeof(path), "%s", place_path(&place, "pid"));
    open_and_write();
    assert_content(our_number());
    pid_file_close(&file);
    assert_false(is_there());
    pid_file_close(&file);
}

TEST(a_second_server_learns_who_is_there)
{
    struct pid_file second;
    pid_t holder;

    open_and_write();
    assert_int_equal(pid_file_open(&second, place_path(&place, "pid"), &holder),
                     -EWOULDBLOCK);
    assert_int_equal(holder, getpid());
    assert_int_equal(second.fd, -1);
    assert_content(our_number());
}

TEST(a_file_left_behind_is_taken_over)
{
    assert_int_equal(place_write(&place, "pid", "2147483647\n"), 0);
    open_and_write();
    assert_content(our_number());
}

/* Who may open it may lock it, and would keep the next server from starting. */
TEST(nobody_else_may_open_it)
{
    struct stat st;

    assert_int_equal(place_write(&place, "pid", "2147483647\n"), 0);
    assert_int_equal(chmod(place_path(&place, "pid"), 0644), 0);
    open_and_write();
    assert_int_equal(stat(place_path(&place, "pid"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    pid_file_close(&file);
    open_and_write();
    assert_int_equal(stat(place_path(&place, "pid"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(what_is_no_pid_file_stays_as_it_is)
{
    static const char *const contents[] = {
        "root:x:0:0\n",
        "12 34\n",
        "-1\n",
        "0\n",
        "1\n\n2\n",
        "\n",
        "99999999999\n",
        "12345678901234567890",
        "1\n\n\n\n\n\n\n\n\n\n\n\n\n\nroot:x\n"};
    pid_t holder;

    for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
        assert_int_equal(place_write(&place, "pid", contents[i]), 0);
        assert_int_equal(pid_file_open(&file, place_path(&place, "pid"),
                                       &holder),
                         -EEXIST);
        assert_content(contents[i]);
    }
    assert_int_equal(pid_file_open(&file, place.name, &holder), -EEXIST);
    assert_int_equal(symlinkat("pid", place.fd, "link"), 0);
    assert_int_equal(pid_file_open(&file, place_path(&place, "link"), &holder),
                     -EEXIST);
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    assert_int_equal(pid_file_open(&file, place_path(&place, "fifo"), &holder),
                     -EEXIST);
    assert_int_equal(pid_file_open(&file, place_path(&place, "none/pid"),
                                   &holder),
                     -ENOENT);
}

TEST(a_file_of_a_stranger_is_refused)
{
    char path[200];
    pid_t holder;

    snprintf(path, sizeof(path), "%s", place_path(&place, "pid"));
    assert_int_equal(place_write(&place, "pid", "1\n"), 0);
    assert_int_equal(linkat(place.fd, "pid", place.fd, "other", 0), 0);
    assert_int_equal(pid_file_open(&file, path, &holder), -EEXIST);
    assert_int_equal(unlinkat(place.fd, "other", 0), 0);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(pid_file_open(&file, path, &holder), -EPERM);
    assert_content("1\n");
}

TEST(a_lock_by_everybodys_right_is_the_last)
{
    struct stat st;
    pid_t holder;
    int fd;

    assert_int_equal(place_write(&place, "pid", "1\n"), 0);
    assert_int_equal(chmod(place_path(&place, "pid"), 0644), 0);
    fd = openat(place.fd, "pid", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     -EWOULDBLOCK);
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(a_file_that_is_somebody_elses_by_now_stays)
{
    open_and_write();
    assert_int_equal(unlinkat(place.fd, "pid", 0), 0);
    assert_int_equal(place_write(&place, "pid", our_number()), 0);
    pid_file_close(&file);
    assert_content(our_number());
}

TEST(where_it_cannot_be_removed_it_is_left_empty)
{
    pid_t holder;

    open_and_write();
    unlink_errno = EACCES;
    pid_file_close(&file);
    assert_content("");
    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     0);
}

/* A script of root's kills what it reads. */
TEST(nothing_of_a_longer_number_is_ever_left_behind_a_shorter)
{
    int fd;

    assert_int_equal(place_write(&place, "pid", "4194304\n"), 0);
    fd = openat(place.fd, "pid", O_RDWR);
    assert_int_equal(pid_file_put(fd, 77), 0);
    close(fd);
    assert_string_equal(seen, "77\n\n\n\n\n\n");
    assert_content("77\n");
}

/* A server that was killed before it had cut the file to its length. */
TEST(a_number_with_several_lines_behind_it_is_one)
{
    pid_t holder;

    assert_int_equal(place_write(&place, "pid", "77\n\n\n\n\n\n"), 0);
    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     0);
    assert_int_equal(pid_file_write(&file), 0);
    assert_content(our_number());
}

TEST(a_full_disk_is_reported)
{
    pid_t holder;

    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     0);
    pwrite_errno = ENOSPC;
    assert_int_equal(pid_file_write(&file), -ENOSPC);
}

/* What a successor does with the descriptor it was given; its number. */
static pid_t succeed(const char *path)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct pid_file own;
        char number[16];
        pid_t holder;

        snprintf(number, sizeof(number), "%d", dup(file.fd));
        close(file.fd);
        close(file.number_fd);
        setenv(PID_FILE_VARIABLE, number, 1);
        _exit(pid_file_open(&own, path, &holder) != 0 ||
              getenv(PID_FILE_VARIABLE) ||
              !(fcntl(own.fd, F_GETFD) & FD_CLOEXEC) ||
              pid_file_write(&own) != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return pid;
}

TEST(a_successor_takes_over_file_and_lock)
{
    const char *path = place_path(&place, "pid");
    char expected[24];
    pid_t holder;
    struct pid_file third;

    open_and_write();
    snprintf(expected, sizeof(expected), "%ld\n", (long)succeed(path));
    assert_content(expected);
    /* We still share the lock; the file is no longer ours to remove. */
    assert_int_equal(pid_file_open(&third, path, &holder), -EWOULDBLOCK);
    pid_file_close(&file);
    assert_content(expected);
}

TEST(a_successor_that_failed_leaves_no_trace)
{
    open_and_write();
    succeed(place_path(&place, "pid"));
    assert_int_equal(pid_file_write(&file), 0);
    assert_content(our_number());
    pid_file_close(&file);
    assert_false(is_there());
}

TEST(a_descriptor_of_another_file_is_not_taken)
{
    static const char *const nonsense[] = {"",   "x",           "1",
                                           "-1", "99999999999", "900"};
    char number[16];
    pid_t holder;

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
        setenv(PID_FILE_VARIABLE, nonsense[i], 1);
        pid_file_refuse();
        assert_null(getenv(PID_FILE_VARIABLE));
    }
    snprintf(number, sizeof(number), "%d", dup(place.fd));
    setenv(PID_FILE_VARIABLE, number, 1);
    assert_int_equal(pid_file_open(&file, place_path(&place, "pid"), &holder),
                     0);
    assert_int_equal(pid_file_write(&file), 0);
    assert_content(our_number());
}

/* --- By whoever is asked for it ------------------------------------------ */

static enum file_need asked_for;

static int write_as_broker(void *context, enum file_need need, const char *path)
{
    asked_for = need;
    return strcmp(path, context) == 0 ? -ENOTTY : -EINVAL;
}

TEST(without_its_writer_the_file_is_locked_and_read_only)
{
    char path[200];
    struct file_broker broker = {.open = write_as_broker, .context = path};
    struct pid_file second;
    pid_t holder;

    snprintf(path, sizeof(path), "%s", place_path(&place, "pid"));
    open_and_write();
    pid_file_close_number(&file);
    pid_file_close_number(&file);
    assert_int_equal(write(file.fd, "1", 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(pid_file_open(&second, path, &holder), -EWOULDBLOCK);
    file_broker_set(&broker);
    assert_int_equal(pid_file_write(&file), -ENOTTY);
    assert_int_equal(asked_for, FILE_NUMBER);
    unlink_errno = EACCES;
    pid_file_close(&file);
    assert_int_equal(asked_for, FILE_REMOVE);
    file_broker_set(NULL);
    assert_content(our_number());
}

static int open_as_broker(void *context, enum file_need need, const char *path)
{
    return write_as_broker(context, need, path) == -ENOTTY ? 0 : -EINVAL;
}

/* What is no pid file is not touched, whoever could. */
TEST(who_may_change_its_mode_is_asked_to)
{
    char path[200];
    struct file_broker broker = {.open = open_as_broker, .context = path};
    pid_t holder;

    snprintf(path, sizeof(path), "%s", place_path(&place, "pid"));
    assert_int_equal(place_write(&place, "pid", "2147483647\n"), 0);
    assert_int_equal(chmod(path, 0644), 0);
    fchmod_errno = EPERM;
    file_broker_set(&broker);
    asked_for = FILE_READ;
    open_and_write();
    assert_int_equal(asked_for, FILE_PRIVATE);
    pid_file_close(&file);
    asked_for = FILE_READ;
    open_and_write(); /* made with that mode */
    assert_int_equal(asked_for, FILE_READ);
    pid_file_close(&file);
    assert_int_equal(place_write(&place, "pid", "root:x:0:0\n"), 0);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(pid_file_open(&file, path, &holder), -EEXIST);
    assert_int_equal(asked_for, FILE_READ);
    file_broker_set(NULL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
