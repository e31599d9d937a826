/*
 * tls_kernel - the kernel's own TLS (CONFIG_TLS), which makes records of what
 * is handed to a socket.
 *
 *   file --> sendfile(2) --> [ record, record ... ] --> client
 *
 * Bytes of a file are encrypted on their way out of the page cache, and are
 * never in this process. What the kernel has taken is sent: nothing is kept,
 * and nothing owed. Receiving remains ours.
 *
 * Thread: any; a socket's, its worker.
 * Owns:   nothing.
 */
#ifndef IO_TLS_TLS_KERNEL_H
#define IO_TLS_TLS_KERNEL_H

#include <stdint.h>

#include "base/bytes.h"
#include "io/tls/tls_record.h"

/* Whether the kernel has TLS. The first call finds out, and has the kernel load
 * its module, where this process may: so it comes at the start, and before
 * rights are given up. */
MUST_USE bool tls_kernel_is_there(void);

/* Has the kernel make the records of a TCP socket from here on, beginning with
 * the next one of out. All that was sealed before is in the socket. False: it
 * cannot, and the socket is as it was. */
MUST_USE bool tls_kernel_begin(int fd, const struct tls_direction *out);

/* Sends a record of another type than data, of few bytes. False: there is no
 * room, or an error (errno). */
MUST_USE bool tls_kernel_say(int fd, enum tls_content type, const char *payload,
                             size_t len);

#endif
