/*
 * control - the socket through which an operator commands the running server.
 *
 * A client sends one line with a command and gets one answer; then the
 * connection ends:
 *
 *   reload\n     ok\n and more lines, or error: why\n and more lines
 *   cache ls\n   the same answers; the words are for cache_command.h
 *
 * Only root and the server's user may command: only they can open the socket's
 * file (0600), and the kernel tells a client's user. A slow or silent client
 * occupies one of CONTROL_CLIENTS_MAX places for CONTROL_WAIT_MS, and delays
 * nothing else.
 *
 * Thread: used only by the main thread, in its poll loop: control_fds(), then
 *         poll() for at most control_pause_ms(), then control_handle().
 * Owns:   the listener and the clients. Borrows commands.
 */
#ifndef PROCESS_CONTROL_H
#define PROCESS_CONTROL_H

#include <poll.h>

#include "base/buf.h"
#include "io/listener.h"

enum {
    CONTROL_CLIENTS_MAX = 8,
    CONTROL_FDS_MAX = CONTROL_CLIENTS_MAX + 1,
    /* maximum bytes of a command's line */
    CONTROL_REQUEST_MAX = 16384,
    CONTROL_ANSWER_MAX = 1 << 20, /* bytes; enough for a thousand faults */
    /* time limit for reading a request, and for sending its answer */
    CONTROL_WAIT_MS = 2000
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

/* Returns a name like "reload". */
const char *control_name(enum control_command command);

enum control_result {
    CONTROL_OK,    /* "ok\n" and the text in `answer` are sent */
    CONTROL_ERROR, /* the text in `answer` says why */
    CONTROL_LATER  /* control_finish() will answer */
};

typedef enum control_result control_fn(void *context, struct buf *answer);

struct control_commands {
    control_fn *on[CONTROL_COUNT]; /* the command is refused if NULL */
    /* Runs "cache"; `words` are the rest of the line. Must not return
     * CONTROL_LATER. If this is NULL, the command is refused. */
    enum control_result (*on_cache)(void *context, struct bytes words,
                                    struct buf *answer);
    void *context;
};

struct control; /* opaque */

/* Takes over the listener, which listener_open_private() has opened, and clears
 * *listener. Returns NULL if there is no memory; the listener then stays the
 * caller's. */
MUST_USE struct control *control_create(
    struct listener *listener, const struct control_commands *commands);

/* Answers waiting clients, and closes everything. Clients that sent
 * CONTROL_STOP get ok, since the server has ended; other clients get an
 * error. */
void control_destroy(struct control *control);

/* Accepts no new clients, since another process now has the socket. The present
 * clients stay. */
void control_leave(struct control *control);

/* Returns the listening socket, which an upgrade hands over; -1 after
 * control_leave(). */
int control_listener_fd(const struct control *control);

/* Fills all elements of `fds` for poll(). Unneeded elements get fd -1. */
void control_fds(const struct control *control,
                 struct pollfd fds[CONTROL_FDS_MAX]);

/* Returns the ms after which control_handle() must be called even without
 * events; INT_MAX if it need not be called. */
int control_pause_ms(const struct control *control, uint64_t now_ms);

/* Handles the events that poll() has written to `fds`. Calls the functions of
 * struct control_commands. */
void control_handle(struct control *control,
                    const struct pollfd fds[CONTROL_FDS_MAX], uint64_t now_ms);

/* Sends the result of a command to all clients that wait for the result. */
void control_finish(struct control *control, enum control_command command,
                    enum control_result result, struct bytes text,
                    uint64_t now_ms);

#endif
