#include "unit/random.h"

#include <errno.h>
#include <sys/random.h>

#include "wrap.h"

unsigned random_failures_left;
int random_errno = ENOSYS;

WRAP(ssize_t, getrandom, void *to, size_t len, unsigned flags)
{
    if (random_failures_left == 0)
        return __real_getrandom(to, len, flags);
    random_failures_left--;
    errno = random_errno;
    return -1;
}
