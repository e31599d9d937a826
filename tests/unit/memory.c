#include "unit/memory.h"

#include <stddef.h>

#include "wrap.h"

_Atomic long allocations_left = -1;
_Atomic bool fails_once;
_Atomic unsigned allocations;
_Atomic unsigned allocation_failures;
_Atomic unsigned long pages_bytes;

static bool has_memory(void)
{
    allocations++;
    if (allocations_left < 0 || allocations_left-- > 0)
        return true;
    allocation_failures++;
    allocations_left = fails_once ? -1 : 0;
    return false;
}

/* Weak: what a program does not wrap has no real one. */
#pragma weak __real_malloc
#pragma weak __real_calloc
#pragma weak __real_realloc
#pragma weak __real_aligned_alloc
#pragma weak __real_pages_open

WRAP(void *, malloc, size_t bytes)
{
    return has_memory() ? __real_malloc(bytes) : NULL;
}

WRAP(void *, calloc, size_t count, size_t bytes)
{
    return has_memory() ? __real_calloc(count, bytes) : NULL;
}

WRAP(void *, realloc, void *old, size_t bytes)
{
    return has_memory() ? __real_realloc(old, bytes) : NULL;
}

WRAP(void *, aligned_alloc, size_t alignment, size_t bytes)
{
    return has_memory() ? __real_aligned_alloc(alignment, bytes) : NULL;
}

WRAP(void *, pages_open, size_t bytes)
{
    if (!has_memory())
        return NULL;
    pages_bytes += bytes;
    return __real_pages_open(bytes);
}
