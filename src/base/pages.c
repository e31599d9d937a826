#include "base/pages.h"

#include <string.h>
#include <sys/mman.h>

void *pages_open(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        return NULL;
    (void)madvise(pages, bytes, MADV_NOHUGEPAGE); /* some kernels lack it */
    return pages;
}

void pages_close(void *pages, size_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}

void pages_clear(void *pages, size_t bytes)
{
    /* Memory that the kernel cannot take back, such as locked memory, is
     * cleared by writing. */
    if (madvise(pages, bytes, MADV_DONTNEED) == -1)
        memset(pages, 0, bytes);
}
