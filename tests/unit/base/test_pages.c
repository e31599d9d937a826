/* link: -Wl,--wrap=mmap,--wrap=madvise */
#include "base/pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"
#include "wrap.h"

enum { SIZE = 1 << 20 };

static bool has_memory = true;
static bool gives_back = true;
static unsigned char *pages;

WRAP(void *, mmap, void *at, size_t len, int protection, int flags, int fd,
     off_t offset)
{
    if (has_memory)
        return __real_mmap(at, len, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

WRAP(int, madvise, void *at, size_t len, int advice)
{
    if (gives_back)
        return __real_madvise(at, len, advice);
    errno = EINVAL;
    return -1;
}

static int set_up(void **state)
{
    (void)state;
    has_memory = gives_back = true;
    pages = pages_open(SIZE);
    return pages ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pages_close(pages, SIZE);
    return 0;
}

/* How many pages take memory. */
static size_t count_resident(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = (SIZE + size - 1) / size;
    unsigned char resident[SIZE / 4096];
    size_t found = 0;

    assert_true(count <= sizeof(resident));
    assert_int_equal(mincore(pages, SIZE, resident), 0);
    for (size_t i = 0; i < count; i++)
        found += resident[i] & 1;
    return found;
}

static void assert_zero(void)
{
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(pages[i], 0);
}

TEST(only_what_is_touched_takes_memory)
{
    assert_int_equal(count_resident(), 0);
    pages[SIZE / 2] = 1;
    assert_int_equal(count_resident(), 1);
}

TEST(they_begin_at_a_page_and_are_zero)
{
    assert_int_equal((uintptr_t)pages % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    assert_zero();
}

TEST(what_is_cleared_is_zero_and_takes_no_memory)
{
    memset(pages, 1, SIZE);
    pages_clear(pages, SIZE);
    assert_int_equal(count_resident(), 0);
    assert_zero();
}

TEST(what_cannot_be_given_back_is_zero_all_the_same)
{
    memset(pages, 1, SIZE);
    gives_back = false;
    pages_clear(pages, SIZE);
    gives_back = true;
    assert_zero();
}

TEST(without_memory_there_are_none)
{
    has_memory = false;
    assert_null(pages_open(SIZE));
    has_memory = true;
    assert_null(pages_open(SIZE_MAX / 2));
    pages_close(NULL, SIZE);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
