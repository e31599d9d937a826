/*
 * volley - many short connections in flight at once, each saying its piece in
 * one way or another, and what came of each.
 *
 * A shot is sent whole, in two parts with a moment between them, or byte by
 * byte; then all is read until the server ends the connection. Whatever is
 * shot should therefore end in something that makes the server do so.
 *
 * Thread: the test's.
 * Owns:   its sockets and what it reads, until the judge has seen it.
 */
#ifndef E2E_VOLLEY_H
#define E2E_VOLLEY_H

#include "harness.h"

enum { SHOT_WHOLE = 0, SHOT_DRIPS = -1 };

struct shot {
    const char *data;
    size_t len;
    int split;        /* SHOT_WHOLE, SHOT_DRIPS, or bytes of the first part */
    const void *what; /* for the judge */
    bool ends;        /* the client says that no more will come */
};

/* data is NUL-terminated, the NUL not counted; it may be written to. was_reset:
 * the connection ended by a reset. It fails a shot by flunk(). */
typedef void volley_judge_fn(const struct shot *shot, char *data, size_t len,
                             bool was_reset);

void volley_fire(const struct server *server, const struct shot *shots,
                 size_t count, volley_judge_fn *judge);

/* Fires each shot whole, byte by byte, and split at every byte: that is, after
 * 1, 2, ... split - 1 bytes. */
void volley_fire_split(const struct server *server, const struct shot *shots,
                       size_t count, volley_judge_fn *judge);

#endif
