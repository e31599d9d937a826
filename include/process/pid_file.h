/*
 * pid_file - a file with the process's number, locked while it runs.
 *
 * The lock tells a running server from a file left behind. It belongs to the
 * open file, not to the process: an upgrade hands over the descriptor with the
 * lock, and there is no moment without it. The process whose number is in the
 * file removes it.
 *
 * Root's scripts may kill the process that the file names. So the server keeps
 * only a descriptor for reading, which holds the lock; the one for writing goes
 * to the broker (broker.h), which writes only its server's number.
 *
 * Thread: the main thread's.
 * Owns:   the descriptor; the file while our number is in it. Borrows path.
 */
#ifndef PROCESS_PID_FILE_H
#define PROCESS_PID_FILE_H

#include <sys/types.h>

#include "base/bytes.h"

#define PID_FILE_VARIABLE "SPRINTD_PID_FILE"

struct pid_file {
    int fd;        /* for reading, with the lock; -1: none */
    int number_fd; /* for writing; -1: the broker has it */
    const char *path;
};

/* Opens or makes the file and locks it, or takes over a descriptor that the
 * environment names (the variable is unset). 0 or -errno: -EWOULDBLOCK, another
 * server holds the lock: *holder_out (0: unknown); -EEXIST, it is no pid file,
 * or has a second name, and stays as it is; -EPERM, neither root nor the
 * server's user owns it. */
MUST_USE int pid_file_open(struct pid_file *file, const char *path,
                           pid_t *holder_out);

/* Leaves writing the number to the broker, by FILE_NUMBER. */
void pid_file_close_number(struct pid_file *file);

/* Writes this process's number: when it serves, and again after a failed
 * upgrade. Returns 0 or -errno. */
MUST_USE int pid_file_write(const struct pid_file *file);

/* Removes the file if it has this process's number; empties it if removing is
 * forbidden. */
void pid_file_close(struct pid_file *file);

/* Write pid through number_fd, with 0 or -errno; and empty the file if pid is
 * the number in it. */
MUST_USE int pid_file_put(int number_fd, pid_t pid);
void pid_file_empty(int number_fd, pid_t pid);

/* For a server without a pid file: unsets the variable and closes its
 * descriptor. */
void pid_file_refuse(void);

#endif
