/* link: -Wl,--wrap=pipe2,--wrap=fcntl,--wrap=malloc */
#include "io/pipes.h"

#include <dirent.h>

#include "suite.h"
#include "unit/memory.h"
#include "wrap.h"

enum { MANY = PIPES_KEPT_MAX + 4 };

static struct pipes pipes;
static bool has_descriptors;
static int size_wanted; /* what pipes are made to have; 0: as asked */
static bool may_grow;

WRAP(int, pipe2, int fds[2], int flags)
{
    errno = EMFILE;
    return has_descriptors ? __real_pipe2(fds, flags) : -1;
}

WRAP(int, fcntl, int fd, int command, int value)
{
    if (command == F_SETPIPE_SZ && !may_grow) {
        errno = EPERM;
        return -1;
    }
    if (command == F_GETPIPE_SZ && size_wanted > 0)
        return size_wanted;
    return __real_fcntl(fd, command, value);
}

static unsigned count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static unsigned before;

static int set_up(void **state)
{
    (void)state;
    has_descriptors = may_grow = true;
    allocations_left = -1;
    size_wanted = 0;
    before = count_descriptors();
    pipes_init(&pipes, MANY);
    return 0;
}

/* Whatever a test did, nothing stays open. */
static int tear_down(void **state)
{
    (void)state;
    pipes_fini(&pipes);
    return count_descriptors() == before ? 0 : -1;
}

TEST(a_pipe_is_large_and_does_not_block)
{
    struct pipe *pipe = pipes_take(&pipes);
    char byte;

    assert_non_null(pipe);
    assert_int_equal(pipe->bytes, PIPE_BYTES);
    assert_int_equal(read(pipe->from, &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(__real_fcntl(pipe->into, F_GETFD, 0), FD_CLOEXEC);
    assert_int_equal(write(pipe->into, "x", 1), 1);
    assert_int_equal(read(pipe->from, &byte, 1), 1);
    pipes_give(&pipes, &pipe);
    assert_null(pipe);
}

TEST(one_that_is_given_back_is_taken_again)
{
    struct pipe *first = pipes_take(&pipes);
    struct pipe *same = first;
    unsigned open = count_descriptors();

    pipes_give(&pipes, &same);
    assert_int_equal(count_descriptors(), open);
    assert_ptr_equal(same = pipes_take(&pipes), first);
    assert_int_equal(count_descriptors(), open);
    pipes_give(&pipes, &same);
}

TEST(one_with_something_in_it_is_closed)
{
    struct pipe *pipe = pipes_take(&pipes);
    char byte;

    assert_int_equal(write(pipe->into, "secret", 6), 6);
    pipes_give(&pipes, &pipe);
    assert_int_equal(count_descriptors(), before);
    pipe = pipes_take(&pipes);
    assert_int_equal(read(pipe->from, &byte, 1), -1);
    pipes_give(&pipes, &pipe);
}

TEST(no_more_are_open_than_may_be_and_no_more_kept_than_some)
{
    struct pipe *taken[MANY];

    for (size_t i = 0; i < MANY; i++)
        assert_non_null(taken[i] = pipes_take(&pipes));
    assert_null(pipes_take(&pipes));
    for (size_t i = 0; i < MANY; i++)
        pipes_give(&pipes, &taken[i]);
    assert_int_equal(count_descriptors(), before + 2 * PIPES_KEPT_MAX);
    assert_non_null(taken[0] = pipes_take(&pipes));
    pipes_give(&pipes, &taken[0]);
}

TEST(without_descriptors_or_memory_there_is_none)
{
    struct pipe *none = NULL;

    has_descriptors = false;
    assert_null(pipes_take(&pipes));
    has_descriptors = true;
    allocations_left = 0;
    assert_null(pipes_take(&pipes));
    allocations_left = -1;
    assert_int_equal(count_descriptors(), before);
    pipes_give(&pipes, &none);
    /* None of these counts as open. */
    for (size_t i = 0; i < MANY; i++) {
        struct pipe *pipe = pipes_take(&pipes);

        assert_non_null(pipe);
        assert_int_equal(write(pipe->into, "x", 1), 1);
        pipes_give(&pipes, &pipe);
    }
}

TEST(one_that_may_not_grow_serves_if_it_is_not_small)
{
    struct pipe *pipe;

    may_grow = false;
    size_wanted = PIPE_BYTES_MIN;
    pipe = pipes_take(&pipes);
    assert_non_null(pipe);
    assert_int_equal(pipe->bytes, PIPE_BYTES_MIN);
    size_wanted = PIPE_BYTES_MIN - 4096;
    assert_null(pipes_take(&pipes));
    pipes_give(&pipes, &pipe);
    assert_int_equal(count_descriptors(), before + 2);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
