/*
 * machine_memory - how much memory there is for this process: the machine's, or
 * less where control groups say so, as those of containers do.
 *
 * Thread: the main thread's, at start: files of the kernel are read.
 * Owns:   nothing.
 */
#ifndef PROCESS_MACHINE_MEMORY_H
#define PROCESS_MACHINE_MEMORY_H

#include <stdint.h>

uint64_t machine_memory(void);

/* The least limit that control groups set; UINT64_MAX: none does. groups: what
 * lists the process's (/proc/self/cgroup); mount: where they lie
 * (/sys/fs/cgroup). */
uint64_t machine_memory_group_limit(const char *groups, const char *mount);

#endif
