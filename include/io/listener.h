/*
 * listener - listening sockets: TCP over IPv4 and IPv6, and unix sockets.
 *
 * TCP listeners carry the options that accepted sockets inherit: TCP_NODELAY
 * (answers leave at once) and TCP_DEFER_ACCEPT (a connection is handed over
 * when its first request is already there, which saves a second wait and an
 * epoll_ctl).
 *
 * Sockets may also be opened by somebody else: by systemd, or by the server
 * that this one takes over from.
 *
 * Thread: opened and closed by the main thread, accepted from by the acceptor.
 * Owns:   the socket, and the file of a unix socket: closing removes the file,
 *         unless the socket was adopted without its file.
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include <sys/socket.h>

#include "base/address.h"

enum { LISTENER_TEXT_MAX = 160 };

struct listener {
    int fd;
    /* "http://[::1]:80/" or "unix:/path"; "https://[::1]:443/" if is_tls is
     * set. */
    char text[LISTENER_TEXT_MAX];
    char path[108]; /* a unix socket's file; else empty */
    /* `device` and `inode` tell whether the file at `path` is still ours. */
    uint64_t device;
    uint64_t inode;
    unsigned port; /* TCP port; 0: a unix socket */
    bool is_tcp;
    bool is_tls; /* connections speak TLS; set by listener_mark_tls() */
};

/* Opens a TCP listener. `address` is numeric IPv4 or IPv6 (without brackets),
 * or NULL for all addresses, dual stack where the machine has IPv6. Port 0
 * stands for any free port; listener->text names the real one. Returns 0 or
 * -errno; -EINVAL when `address` is not numeric. */
MUST_USE int listener_open_tcp(struct listener *listener, const char *address,
                               unsigned port);

/* Opens a unix socket. A socket left behind by a server that is gone (nobody
 * accepts there) is replaced. Returns 0 or -errno: -EADDRINUSE when a server
 * accepts there, -EEXIST when `path` names something that is not a socket,
 * -ENAMETOOLONG, or -EINVAL when the path is empty. */
MUST_USE int listener_open_unix(struct listener *listener, const char *path);

/* Opens a unix socket. From the moment that its file appears, only the file's
 * owner may connect to it. */
MUST_USE int listener_open_private(struct listener *listener, const char *path);

/* Makes a listener of a socket that somebody else has opened, and sets the
 * options that other listeners have. If owns_file is true, closing a unix
 * socket removes its file. Returns 0, and `fd` belongs to the listener; or
 * -errno, and `fd` stays the caller's: -ENOTSOCK, -EPROTOTYPE (not a stream
 * socket), -EAFNOSUPPORT, or -EINVAL (the socket does not listen). */
MUST_USE int listener_adopt(struct listener *listener, int fd, bool owns_file);

/* Whether the listener has the address that listener_open_tcp() or
 * listener_open_unix() would open; port 0 stands for any port. */
bool listener_is_at(const struct listener *listener, const char *address,
                    unsigned port);
bool listener_is_at_path(const struct listener *listener, const char *path);

/* Notes whether connections speak TLS, also in listener->text. The socket is
 * not changed. */
void listener_mark_tls(struct listener *listener, bool is_tls);

void listener_close(struct listener *listener);

/* Closes the listener in this process only. Another process goes on listening
 * at the same address, so that the file of a unix socket stays. */
void listener_leave(struct listener *listener);

/* Accepts one connection, non-blocking and close-on-exec. Returns its
 * descriptor and sets *peer_out, or returns -errno. */
int listener_accept(const struct listener *listener, struct address *peer_out);

#endif
