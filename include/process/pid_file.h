/*
 * pid_file - a file with the server's process number. The file is locked while
 * the server runs.
 *
 * The lock distinguishes the file of a running server from a file that was left
 * behind. The lock belongs to the open file, not to the process. So an upgrade
 * hands over the descriptor together with the lock, and the file is locked at
 * every moment. The process whose number is in the file removes the file.
 *
 * Root's scripts may kill the process that the file names. So the server keeps
 * only a descriptor for reading, which holds the lock. The descriptor for
 * writing goes to the broker (broker.h), which writes only the number of its
 * own server.
 *
 * Thread: used only by the main thread.
 * Owns:   the descriptor, and the file while this process's number is in the
 *         file. Borrows `path`.
 */
#ifndef PROCESS_PID_FILE_H
#define PROCESS_PID_FILE_H

#include <sys/types.h>

#include "base/bytes.h"

#define PID_FILE_VARIABLE "SPRINTD_PID_FILE"

struct pid_file {
    int fd;        /* open for reading, holds the lock; -1 if not open */
    int number_fd; /* open for writing; -1 if only the broker can write */
    const char *path;
};

/* Opens or makes the file and locks it, or takes over the descriptor that
 * PID_FILE_VARIABLE names; the variable is unset. Returns 0 or -errno.
 * -EWOULDBLOCK: another server holds the lock; *holder_out is its number, or 0
 * if unknown. -EEXIST: the file is no pid file, or has a second name, and is
 * not touched. -EPERM: neither root nor the server's user owns the file. */
MUST_USE int pid_file_open(struct pid_file *file, const char *path,
                           pid_t *holder_out);

/* Closes the descriptor for writing. From now on the broker writes the number
 * (FILE_NUMBER). */
void pid_file_close_number(struct pid_file *file);

/* Writes this process's number. To be called when the process serves, and again
 * after a failed upgrade. Returns 0 or -errno. */
MUST_USE int pid_file_write(const struct pid_file *file);

/* Closes the file. If the file has this process's number, the file is removed,
 * or emptied if removing is forbidden. */
void pid_file_close(struct pid_file *file);

/* pid_file_put() writes `pid` through number_fd, and returns 0 or -errno.
 * pid_file_empty() empties the file if the number in the file is `pid`. */
MUST_USE int pid_file_put(int number_fd, pid_t pid);
void pid_file_empty(int number_fd, pid_t pid);

/* For a server without a pid file: unsets PID_FILE_VARIABLE and closes the
 * descriptor that the variable names. */
void pid_file_refuse(void);

#endif
