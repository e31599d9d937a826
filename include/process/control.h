/*
 * control - the socket through which an operator commands the running server.
 *
 * A client sends one line with a command, gets one answer, and the connection
 * ends:
 *
 *   reload\n     ok\n and more lines, or error: why\n and more lines
 *   cache ls\n   the same: words for the cache (cache_command.h)
 *
 * Only root and the server's user may command: only they can open the socket's
 * file (0600), and the kernel tells who called. A slow or silent client takes
 * one of a few places for a moment, and nothing else waits for it.
 *
 * Thread: the main thread's, from its poll loop:
 *           control_fds(), poll for at most control_pause_ms(),
 *           control_handle()
 * Owns:   the listener, the clients. Borrows commands.
 */
#ifndef PROCESS_CONTROL_H
#define PROCESS_CONTROL_H

#include <poll.h>

#include "base/buf.h"
#include "io/listener.h"

enum {
    CONTROL_CLIENTS_MAX = 8,
    CONTROL_FDS_MAX = CONTROL_CLIENTS_MAX + 1,
    CONTROL_REQUEST_MAX = 16384,  /* bytes; may contain an address */
    CONTROL_ANSWER_MAX = 1 << 20, /* bytes; room for a thousand faults */
    CONTROL_WAIT_MS = 2000        /* for a request, and to read an answer */
};

enum control_command {
    CONTROL_RELOAD,
    CONTROL_STATUS,
    CONTROL_STOP,
    CONTROL_UPGRADE,
    CONTROL_REOPEN,
    CONTROL_REPORT,
    CONTROL_COUNT
};

/* Returns "reload" and such. */
const char *control_name(enum control_command command);

enum control_result {
    CONTROL_OK,    /* "ok\n" and the text in answer are sent */
    CONTROL_ERROR, /* the text in answer says why */
    CONTROL_LATER  /* control_finish() will answer */
};

typedef enum control_result control_fn(void *context, struct buf *answer);

struct control_commands {
    control_fn *on[CONTROL_COUNT]; /* NULL: the command is refused */
    /* For "cache", with the words behind it, never later; NULL: refused. */
    enum control_result (*on_cache)(void *context, struct bytes words,
                                    struct buf *answer);
    void *context;
};

struct control; /* opaque */

/* Takes over listener, from listener_open_private(), and clears *listener.
 * NULL: no memory; the listener stays the caller's. */
MUST_USE struct control *control_create(
    struct listener *listener, const struct control_commands *commands);

/* Tells waiting clients that the server has ended, which answers CONTROL_STOP;
 * for other commands that is an error. */
void control_destroy(struct control *control);

/* Accepts no new clients, since another process now has the socket. The present
 * clients stay. */
void control_leave(struct control *control);

/* Returns the socket, to be handed over; -1: control has left it. */
int control_listener_fd(const struct control *control);

/* Fills all of fds; those that are not needed have fd -1. */
void control_fds(const struct control *control,
                 struct pollfd fds[CONTROL_FDS_MAX]);

/* Returns the ms after which control_handle() must be called even without
 * events; INT_MAX: never. */
int control_pause_ms(const struct control *control, uint64_t now_ms);

/* Handles what poll() has found in fds. Commands are called from here. */
void control_handle(struct control *control,
                    const struct pollfd fds[CONTROL_FDS_MAX], uint64_t now_ms);

/* Answers all clients that wait for the command. */
void control_finish(struct control *control, enum control_command command,
                    enum control_result result, struct bytes text,
                    uint64_t now_ms);

#endif
