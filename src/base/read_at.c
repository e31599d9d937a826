#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

bool read_at(int fd, void *to, size_t len, uint64_t at)
{
    char *next = to;

    while (len > 0) {
        ssize_t n = pread(fd, next, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        next += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return true;
}
