/*
 * tls_kernel - the kernel's own TLS (CONFIG_TLS), which makes records of the
 * bytes that are handed to a socket.
 *
 *   file --> sendfile(2) --> [ record, record ... ] --> client
 *
 * Bytes of a file are encrypted on their way out of the page cache, and never
 * come into this process. Bytes that the kernel has taken are sent: nothing is
 * kept or owed. What the client sends is still decrypted by this process.
 *
 * Thread: any; for a socket, its worker.
 * Owns:   nothing.
 */
#ifndef IO_TLS_TLS_KERNEL_H
#define IO_TLS_TLS_KERNEL_H

#include <stdint.h>

#include "base/bytes.h"
#include "io/tls/tls_record.h"

/* Whether the kernel has TLS. The first call finds out, which makes the kernel
 * load its TLS module if this process has the right. So the first call comes at
 * the start, before rights are given up. */
MUST_USE bool tls_kernel_is_there(void);

/* Hands the making of a TCP socket's records over to the kernel, which begins
 * with the next record of `out`. All earlier records must be in the socket
 * already. Returns false when the kernel cannot; the socket is unchanged
 * then. */
MUST_USE bool tls_kernel_begin(int fd, const struct tls_direction *out);

/* Sends a short record of another type than data. Returns false when the socket
 * has no room, or on an error (errno). */
MUST_USE bool tls_kernel_say(int fd, enum tls_content type, const char *payload,
                             size_t len);

#endif
