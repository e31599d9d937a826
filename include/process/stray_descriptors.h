/*
 * stray_descriptors - closes the descriptors that the server's starter, such as
 * root's shell, happened to have open: they are nothing for the user that the
 * server becomes, or for whoever takes the server over.
 *
 * A stray descriptor may still be named while the server starts (--config
 * /dev/fd/63, which is how shells write <(...)), so strays are noted first and
 * closed later. Descriptors that are handed on by purpose, as systemd's sockets
 * and those of the server before, are marked FD_CLOEXEC by the module that
 * takes them on (activation.h, upgrade.h), as is everything that the server
 * opens by itself. What is marked is no stray.
 *
 * Thread: the main thread, while there is no other.
 * Owns:   the list.
 */
#ifndef PROCESS_STRAY_DESCRIPTORS_H
#define PROCESS_STRAY_DESCRIPTORS_H

#include <stddef.h>

struct stray_descriptors {
    int *fds;
    size_t count;
};

/* Notes all descriptors but the standard three. It is called before anything is
 * opened. */
void stray_descriptors_note(struct stray_descriptors *strays);

/* Closes the noted descriptors that no module has taken on. */
void stray_descriptors_close(struct stray_descriptors *strays);

#endif
