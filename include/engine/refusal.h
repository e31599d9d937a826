/*
 * refusal - turns a client away before its request is looked at.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef ENGINE_REFUSAL_H
#define ENGINE_REFUSAL_H

/* Tells the client that the server is busy (503), and closes `fd`. */
void refusal_send(int fd);

#endif
