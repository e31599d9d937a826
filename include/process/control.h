/*
 * control - the socket by which an operator speaks to the running server.
 *
 * One line with a command in, one answer out, and the connection ends:
 *
 *   reload\n     ok\n and more lines, or error: why\n and more lines
 *   cache ls\n   the same: words for the cache (cache_command.h)
 *
 * Only root and the user the server runs as are heard: the socket's file is
 * theirs alone (0600), and the kernel is asked who called. A client that is
 * slow, silent or gone costs one of a few places for a moment, and nothing
 * else waits for it.
 *
 * Thread: the main thread's, from its poll loop:
 *           control_fds(), poll for at most control_pause_ms(),
 *           control_handle()
 * Owns:   the listener it was given, the clients. Borrows commands.
 */
#ifndef PROCESS_CONTROL_H
#define PROCESS_CONTROL_H

#include <poll.h>

#include "base/buf.h"
#include "io/listener.h"

enum {
    CONTROL_CLIENTS_MAX = 8,
    CONTROL_FDS_MAX = CONTROL_CLIENTS_MAX + 1,
    CONTROL_REQUEST_MAX = 16384,  /* an address may be in it */
    CONTROL_ANSWER_MAX = 1 << 20, /* a thousand faults of a configuration */
    CONTROL_WAIT_MS = 2000 /* for a request, and for an answer to be read */
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

/* "reload" */
const char *control_name(enum control_command command);

enum control_result {
    CONTROL_OK,    /* what was written into answer follows "ok\n" */
    CONTROL_ERROR, /* what was written says why */
    CONTROL_LATER  /* control_finish() will be called */
};

typedef enum control_result control_fn(void *context, struct buf *answer);

struct control_commands {
    control_fn *on[CONTROL_COUNT]; /* NULL: refused */
    /* "cache", with the words behind that; NULL: refused. It is never later. */
    enum control_result (*on_cache)(void *context, struct bytes words,
                                    struct buf *answer);
    void *context;
};

struct control; /* opaque */

/* listener: of listener_open_private(); it becomes control's own, and *listener
 * is closed. NULL: no memory; then it stays the caller's. */
MUST_USE struct control *control_create(
    struct listener *listener, const struct control_commands *commands);

/* Waiting clients are told that the server has ended, as CONTROL_STOP wants
 * it; to the others that is an error. */
void control_destroy(struct control *control);

/* Hears nobody new from now on: another process is at the other end of the
 * socket. The clients stay. */
void control_leave(struct control *control);

/* The socket, to hand it over; -1: left. */
int control_listener_fd(const struct control *control);

/* Fills all places; those that need no attention have fd -1. */
void control_fds(const struct control *control,
                 struct pollfd fds[CONTROL_FDS_MAX]);

/* The ms after which control_handle() has to be called in any case; INT_MAX: it
 * need not be. */
int control_pause_ms(const struct control *control, uint64_t now_ms);

/* Does what there is to do, after poll, with the same fds. Commands are called
 * from here. */
void control_handle(struct control *control,
                    const struct pollfd fds[CONTROL_FDS_MAX], uint64_t now_ms);

/* Answers all who wait for the command. */
void control_finish(struct control *control, enum control_command command,
                    enum control_result result, struct bytes text,
                    uint64_t now_ms);

#endif
