/*
 * listener - listening sockets: TCP over IPv4 and IPv6, and unix sockets.
 *
 * TCP listeners carry the options that accepted sockets inherit: TCP_NODELAY
 * (answers leave at once) and TCP_DEFER_ACCEPT (a connection is handed over
 * with its first request already there: no second wait, one epoll_ctl less).
 *
 * Sockets may also come from elsewhere: opened by systemd, or by the server
 * that this one takes over from.
 *
 * Thread: opened and closed by the main thread, accepted from by the
 *         acceptor.
 * Owns:   the socket; of a unix socket also its file, removed on close, unless
 *         it was adopted without.
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include <sys/socket.h>

#include "base/address.h"

enum { LISTENER_TEXT_MAX = 160 };

struct listener {
    int fd;
    /* "http://[::1]:80/", "unix:/path"; "https://[::1]:443/" once that is
     * marked. */
    char text[LISTENER_TEXT_MAX];
    char path[108];  /* a unix socket's file; else empty */
    uint64_t device; /* of that file, to know it again */
    uint64_t inode;
    unsigned port; /* TCP port; 0: a unix socket */
    bool is_tcp;
    bool is_tls; /* connections speak TLS: listener_mark_tls() */
};

/* Opens a TCP listener. address: numeric IPv4 or IPv6 (without brackets), or
 * NULL for all addresses, dual stack where the machine has IPv6. port 0: any
 * free one; listener->text names the real one. 0 or -errno (-EINVAL: no such
 * address form). */
MUST_USE int listener_open_tcp(struct listener *listener, const char *address,
                               unsigned port);

/* Opens a unix socket. A file left behind by a server that is gone (nobody
 * accepts there) is replaced; a live one is -EADDRINUSE; what is no socket
 * stays, -EEXIST. -ENAMETOOLONG; -EINVAL when path is empty. */
MUST_USE int listener_open_unix(struct listener *listener, const char *path);

/* Opens a socket that only its owner may connect to, from the moment the file
 * is there. */
MUST_USE int listener_open_private(struct listener *listener, const char *path);

/* Makes a listener of a socket that somebody else has opened, and sets what
 * the others have set. owns_file: a unix socket's file is removed on close.
 * 0, and fd belongs to the listener; or -errno, and it does not: -ENOTSOCK,
 * -EPROTOTYPE (no stream), -EAFNOSUPPORT, -EINVAL (it does not listen). */
MUST_USE int listener_adopt(struct listener *listener, int fd, bool owns_file);

/* Whether the listener is what listener_open_tcp(), listener_open_unix() would
 * open; port 0 is any. */
bool listener_is_at(const struct listener *listener, const char *address,
                    unsigned port);
bool listener_is_at_path(const struct listener *listener, const char *path);

/* Notes whether connections speak TLS, in text, too. The socket stays. */
void listener_mark_tls(struct listener *listener, bool is_tls);

void listener_close(struct listener *listener);

/* Closes the listener for us alone: another process goes on listening there, so
 * the file stays. */
void listener_leave(struct listener *listener);

/* Accepts one connection, non-blocking and close-on-exec. Returns its
 * descriptor, or -errno. *peer_out is set on success. */
int listener_accept(const struct listener *listener, struct address *peer_out);

#endif
