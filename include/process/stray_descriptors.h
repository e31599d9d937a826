/*
 * stray_descriptors - what the server's starter had open besides, a root's shell for
 * one: nothing for whom the server will be, or for who takes it over.
 *
 * It may be named yet while the server starts (--config /dev/fd/63, which is
 * how shells write <(...)), so it is noted first and closed later. Whoever
 * takes a descriptor on, be it of systemd's sockets or of the server before,
 * marks it FD_CLOEXEC, as is everything that the server opens by itself.
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

/* Notes all descriptors but the standard three. It comes before anything is
 * opened. */
void stray_descriptors_note(struct stray_descriptors *strays);

/* Closes the noted descriptors that nobody has taken on. */
void stray_descriptors_close(struct stray_descriptors *strays);

#endif
