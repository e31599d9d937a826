#include "base/read_at.h"

#include <sys/mman.h>

#include "suite.h"

TEST(all_of_it_or_nothing_is_read)
{
    int fd = memfd_create("x", MFD_CLOEXEC);
    char text[4] = "";

    assert_int_equal(write(fd, "abcdef", 6), 6);
    assert_true(read_at(fd, text, 3, 2));
    assert_string_equal(text, "cde");
    assert_true(read_at(fd, text, 0, 6));
    assert_false(read_at(fd, text, 3, 4));
    assert_false(read_at(fd, text, 1, 6));
    close(fd);
    assert_false(read_at(fd, text, 1, 0));
}
