#include "unit/memory.h"

#include <stddef.h>

_Atomic long allocations_left = -1;
_Atomic bool fails_once;
_Atomic unsigned allocations;
_Atomic unsigned allocation_failures;

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
#define WRAPPED __attribute__((weak))

WRAPPED void *__real_malloc(size_t bytes);
WRAPPED void *__real_calloc(size_t count, size_t bytes);
WRAPPED void *__real_realloc(void *old, size_t bytes);
WRAPPED void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return has_memory() ? __real_malloc(bytes) : NULL;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return has_memory() ? __real_calloc(count, bytes) : NULL;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return has_memory() ? __real_realloc(old, bytes) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return has_memory() ? __real_aligned_alloc(alignment, bytes) : NULL;
}
