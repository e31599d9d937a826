#include "unit/openat2.h"

#include <sys/syscall.h>

#include "suite.h"
#include "wrap.h"

unsigned lookups;
int lookup_errno;
unsigned lookup_failures_left;
void (*before_lookup)(unsigned lookup);

WRAP(long, syscall, long number, ...)
{
    va_list args;
    int dir;
    const char *path;
    void *how;
    size_t size;

    assert_int_equal(number, SYS_openat2);
    va_start(args, number);
    dir = va_arg(args, int);
    path = va_arg(args, const char *);
    how = va_arg(args, void *);
    size = va_arg(args, size_t);
    va_end(args);
    lookups++;
    if (lookup_failures_left > 0) {
        lookup_failures_left--;
        errno = lookup_errno;
        return -1;
    }
    if (before_lookup)
        before_lookup(lookups);
    return __real_syscall(number, dir, path, how, size);
}
