/*
 * spare_memory - decides when so many connections have ended that their memory
 * should be returned to the kernel.
 *
 * An unfinished TLS handshake has some 40 KiB of memory. When this memory is
 * freed, it lies between memory that stays in use, so free(3) returns nothing
 * to the kernel: after a flood, a server would stay large for ever.
 * malloc_trim(3) returns the memory, but takes 0.1 ms for each megabyte, during
 * which workers may wait for memory. So the memory is returned only when most
 * connections of a crowd have ended.
 *
 * Thread: one thread.
 */
#ifndef PROCESS_SPARE_MEMORY_H
#define PROCESS_SPARE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SPARE_MEMORY_CROWD = 1000, /* so many connections have about 40 MiB */
    SPARE_MEMORY_SHARE = 4     /* memory is returned when 1/4 is left */
};

struct spare_memory {
    uint64_t height; /* most connections since memory was last returned */
};

/* Notes how many connections are open. Returns true if memory should now be
 * given back to the kernel. */
bool spare_memory_note(struct spare_memory *spare, uint64_t open);

#endif
