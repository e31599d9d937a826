/*
 * machine_memory - how much memory this process may use: the machine's memory,
 * or less if control groups limit the process, as in a container.
 *
 * Thread: used only by the main thread, at the start, since it reads files of
 *         the kernel.
 * Owns:   nothing.
 */
#ifndef PROCESS_MACHINE_MEMORY_H
#define PROCESS_MACHINE_MEMORY_H

#include <stdint.h>

uint64_t machine_memory(void);

/* Returns the lowest limit of the process's control groups; UINT64_MAX without
 * a limit. `groups` is the file that lists the groups (/proc/self/cgroup),
 * `mount` the folder of all groups (/sys/fs/cgroup). */
uint64_t machine_memory_group_limit(const char *groups, const char *mount);

#endif
