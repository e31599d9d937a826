/*
 * spare_memory - whether so many connections have ended that their memory
 * should be returned to the kernel.
 *
 * An unfinished TLS handshake has some 40 KiB. When it is freed, it lies
 * between memory that stays in use, such as that kept for the next connections,
 * so free(3) returns nothing to the kernel: after a flood, a server would stay
 * large for ever. Returning it (malloc_trim(3)) takes 0.1 ms for each megabyte,
 * during which workers may wait for memory; so it is done when most of a crowd
 * has ended, and not for each connection.
 *
 * Thread: one.
 */
#ifndef PROCESS_SPARE_MEMORY_H
#define PROCESS_SPARE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SPARE_MEMORY_CROWD = 1000, /* a smaller crowd has at most 40 MiB */
    SPARE_MEMORY_SHARE = 4     /* most have ended: a quarter is left */
};

struct spare_memory {
    uint64_t height; /* most connections since the last return */
};

/* Notes how many connections are open. True: it is time to return memory. */
bool spare_memory_note(struct spare_memory *spare, uint64_t open);

#endif
