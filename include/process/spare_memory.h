/*
 * spare_memory - whether so many connections have gone that what was theirs is
 * to be given back to the kernel.
 *
 * A handshake of TLS that is not over has some 40 KiB. What is freed of it lies
 * among what stays, such as the memory of connections that is kept for the next
 * ones, so free(3) gives nothing back: after a flood a server would be large
 * for good. To give it back (malloc_trim(3)) takes a tenth of a millisecond for
 * each megabyte, in which a worker may wait that wants memory, so it is done
 * when most of a crowd has gone, and not for each connection.
 *
 * Thread: one.
 */
#ifndef PROCESS_SPARE_MEMORY_H
#define PROCESS_SPARE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SPARE_MEMORY_CROWD = 1000, /* fewer have had 40 MiB at most */
    SPARE_MEMORY_SHARE = 4     /* most have gone: a quarter is left */
};

struct spare_memory {
    uint64_t height; /* connections, since memory was given back */
};

/* Takes note of how many connections are open. Whether it is time. */
bool spare_memory_note(struct spare_memory *spare, uint64_t open);

#endif
