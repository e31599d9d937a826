/*
 * refusal - turns a client away before its request is looked at.
 *
 * Thread: any.
 * Owns:   nothing that stays.
 */
#ifndef ENGINE_REFUSAL_H
#define ENGINE_REFUSAL_H

/* Says that the server is busy (503), and closes fd. */
void refusal_send(int fd);

#endif
