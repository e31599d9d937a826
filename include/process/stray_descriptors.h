/*
 * stray_descriptors - closes descriptors that the server has inherited by
 * accident from the program that started it, such as root's shell. Neither the
 * user that the server becomes nor an attacker who takes the server over may
 * have them.
 *
 * An option may name a stray descriptor (--config /dev/fd/63, which shells make
 * of <(...)), so stray descriptors are noted first and closed later.
 * Descriptors that are passed on intentionally, such as sockets from systemd or
 * an earlier server, are marked FD_CLOEXEC by the module that takes them
 * (activation.h, upgrade.h). All descriptors that the server itself opens are
 * marked, too. Marked descriptors are not closed.
 *
 * Thread: the main thread, before there are other threads.
 * Owns:   the list.
 */
#ifndef PROCESS_STRAY_DESCRIPTORS_H
#define PROCESS_STRAY_DESCRIPTORS_H

#include <stddef.h>

struct stray_descriptors {
    int *fds;
    size_t count;
};

/* Notes all descriptors except the standard three. To be called before anything
 * is opened. */
void stray_descriptors_note(struct stray_descriptors *strays);

/* Closes the noted descriptors that no module has taken. */
void stray_descriptors_close(struct stray_descriptors *strays);

#endif
