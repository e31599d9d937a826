#include "io/loop.h"

#include <ev.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"

enum { TRIES_MAX = 100, PAUSE_NS = 10 * NS_PER_MS };

/* The head that lies before each block. */
struct loop_block {
    /* length of the block and of this head */
    _Alignas(max_align_t) size_t bytes;
};

static bool is_mapped(size_t bytes)
{
    return bytes >= LOOP_MAPPED_BYTES;
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void give_back(struct loop_block *block)
{
    if (block && is_mapped(block->bytes))
        munmap(block, block->bytes);
    else
        free(block);
}

/* Moves a block into a mapping, or out of one. */
static struct loop_block *move(struct loop_block *block, size_t bytes)
{
    struct loop_block *moved = is_mapped(bytes) ? map(bytes) : malloc(bytes);

    if (moved && block)
        memcpy(moved, block, block->bytes < bytes ? block->bytes : bytes);
    if (moved)
        give_back(block);
    return moved;
}

static struct loop_block *resize(struct loop_block *block, size_t bytes)
{
    void *at;

    if (is_mapped(block ? block->bytes : 0) != is_mapped(bytes))
        return move(block, bytes);
    if (!is_mapped(bytes))
        return realloc(block, bytes);
    at = mremap(block, block->bytes, bytes, MREMAP_MAYMOVE);
    return at == MAP_FAILED ? NULL : at;
}

void *loop_reallocate(void *block, long bytes)
{
    struct loop_block *whole = block ? (struct loop_block *)block - 1 : NULL;

    if (bytes == 0) {
        give_back(whole);
        return NULL;
    }
    whole = resize(whole, sizeof(*whole) + (size_t)bytes);
    if (!whole)
        return NULL;
    whole->bytes = sizeof(*whole) + (size_t)bytes;
    return whole + 1;
}

/* Allocates memory for libev, which would abort without it. libev asks for
 * little and seldom, so the thread waits a while when there is no memory. After
 * that the process ends, and logs why. */
static void *insist(void *block, long bytes)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    void *at = loop_reallocate(block, bytes);

    for (unsigned i = 0; !at && bytes != 0; i++) {
        if (i == TRIES_MAX) {
            log_error("out of memory: %ld bytes for an event loop", bytes);
            _exit(EX_OSERR);
        }
        nanosleep(&pause, NULL);
        at = loop_reallocate(block, bytes);
    }
    return at;
}

/* Sets libev's allocator before any loop is made: a loop with memory of another
 * allocator could not grow any more. */
__attribute__((constructor)) static void set_allocator(void)
{
    ev_set_allocator(insist);
}

struct ev_loop *loop_create(void)
{
    return ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
}
