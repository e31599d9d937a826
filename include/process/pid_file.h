/*
 * pid_file - a file that names the process, locked while it lives.
 *
 * The lock tells a server that runs from a file left behind: it belongs to the
 * open file, not to the process, so an upgrade hands it over by handing over
 * the descriptor, and there is no moment without it. Whose number is in the
 * file removes it.
 *
 * Scripts of root's kill whom the file names. So the lock is held by a
 * descriptor that only reads, and the one that writes goes to the broker
 * (broker.h), which writes the number of its server and no other.
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
    int fd;        /* for the lock and to read; -1: none */
    int number_fd; /* to write; -1: the broker has it */
    const char *path;
};

/* Opens or makes the file and locks it; takes it over when the environment
 * names a descriptor of it (the variable is unset). 0 or -errno: -EWOULDBLOCK,
 * another server holds it, *holder_out (0: unknown); -EEXIST, it is no pid
 * file, or has another name, and stays as it is; -EPERM, it is neither root's
 * nor the server's user's. */
MUST_USE int pid_file_open(struct pid_file *file, const char *path,
                           pid_t *holder_out);

/* From now on the broker writes the number, when it is asked for FILE_NUMBER.
 */
void pid_file_close_number(struct pid_file *file);

/* Writes our number: when the server serves, and again when it goes on after
 * an upgrade that failed. 0 or -errno. */
MUST_USE int pid_file_write(const struct pid_file *file);

/* Removes the file, if our number is in it; where that is forbidden, leaves
 * it empty. */
void pid_file_close(struct pid_file *file);

/* What is done with a number_fd: 0 or -errno; and, if that is the number in it,
 * no number any more. */
MUST_USE int pid_file_put(int number_fd, pid_t pid);
void pid_file_empty(int number_fd, pid_t pid);

/* Unsets the variable and closes what it names, for a server without a pid
 * file. */
void pid_file_refuse(void);

#endif
