/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "io/loop.h"

#include <errno.h>
#include <ev.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "child.h"
#include "suite.h"
#include "unit/memory.h"

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 31 + i / 251);
}

/* As long as it was, and as it was. */
static unsigned char *resize(unsigned char *block, size_t from, size_t to)
{
    block = loop_reallocate(block, (long)to);
    assert_non_null(block);
    for (size_t i = 0; i < (from < to ? from : to); i++)
        assert_int_equal(block[i], byte_at(i));
    for (size_t i = from; i < to; i++)
        block[i] = byte_at(i);
    return block;
}

TEST(a_block_keeps_its_bytes_whatever_its_length_becomes)
{
    static const size_t lengths[] = {1,
                                     64,
                                     LOOP_MAPPED_BYTES - 17,
                                     LOOP_MAPPED_BYTES - 16,
                                     1 << 20,
                                     70000,
                                     16000,
                                     LOOP_MAPPED_BYTES,
                                     100};
    unsigned char *block = NULL;
    size_t from = 0;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        block = resize(block, from, lengths[i]);
        from = lengths[i];
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
    }
    assert_null(loop_reallocate(block, 0));
    assert_null(loop_reallocate(NULL, 0));
}

TEST(a_large_block_goes_back_to_the_system)
{
    enum { BYTES_LARGE = 1 << 24 };
    unsigned char *block = loop_reallocate(NULL, BYTES_LARGE);
    unsigned char seen;
    void *page;

    assert_non_null(block);
    memset(block, 1, BYTES_LARGE);
    page = (void *)((uintptr_t)(block + BYTES_LARGE / 2) & ~(uintptr_t)4095);
    assert_int_equal(mincore(page, 1, &seen), 0);
    assert_null(loop_reallocate(block, 0));
    assert_int_equal(mincore(page, 1, &seen), -1);
    assert_int_equal(errno, ENOMEM);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)events;
    ++*(unsigned *)watcher->data;
    ev_io_stop(loop, watcher);
}

TEST(a_loop_hears_a_descriptor_of_any_number)
{
    static const int numbers[] = {40, 900, 5000, 9000};
    struct ev_loop *loop = loop_create();
    struct rlimit limit;
    unsigned heard = 0;
    ev_io watchers[4];
    int ends[2];

    assert_non_null(loop);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    for (size_t i = 0; i < 4; i++) {
        if (dup2(ends[0], numbers[i]) == -1)
            skip();
        ev_io_init(&watchers[i], on_readable, numbers[i], EV_READ);
        watchers[i].data = &heard;
        ev_io_start(loop, &watchers[i]);
    }
    while (heard < 4)
        ev_run(loop, EVRUN_ONCE);
    ev_loop_destroy(loop);
    for (size_t i = 0; i < 4; i++)
        close(numbers[i]);
    close(ends[0]);
    close(ends[1]);
}

/* libev itself would abort. */
TEST(a_loop_waits_for_its_memory)
{
    struct ev_loop *loop;

    fails_once = true;
    allocations_left = 0;
    loop = loop_create();
    assert_non_null(loop);
    assert_int_equal(allocations_left, -1);
    ev_loop_destroy(loop);
}

TEST(without_any_memory_a_process_says_so_and_ends)
{
    pid_t pid = child_fork();
    int status;

    if (pid == 0) {
        fails_once = false;
        allocations_left = 0;
        _exit(loop_create() ? EX_OK : EX_SOFTWARE);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EX_OSERR);
}

SUITE(.begin = NULL);
