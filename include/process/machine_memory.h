/*
 * machine_memory - how much memory this process may use: the machine's, or less
 * if control groups limit it, as in containers.
 *
 * Thread: the main thread's, at the start: it reads files of the kernel.
 * Owns:   nothing.
 */
#ifndef PROCESS_MACHINE_MEMORY_H
#define PROCESS_MACHINE_MEMORY_H

#include <stdint.h>

uint64_t machine_memory(void);

/* Returns the lowest limit of the control groups; UINT64_MAX: none. groups: the
 * file that lists the process's groups (/proc/self/cgroup); mount: their folder
 * (/sys/fs/cgroup). */
uint64_t machine_memory_group_limit(const char *groups, const char *mount);

#endif
