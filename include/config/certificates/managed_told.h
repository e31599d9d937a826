/*
 * managed_told - what sprintd-acme tells the server, and its operator, of a
 * certificate that it sees to: when it asks for another one, and what has
 * failed.
 *
 *   STATE/acme/live/NAME.told     lines "word value", beside the certificate
 *
 * The server reads that folder anyway. What writes there may be a program of
 * its own, one that systemd starts, or one of another machine. A damaged file
 * reads as one that tells nothing.
 *
 * Thread: any; waits for the file system.
 */
#ifndef CONFIG_CERTIFICATES_MANAGED_TOLD_H
#define CONFIG_CERTIFICATES_MANAGED_TOLD_H

#include <limits.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/certificates/managed.h"

enum { MANAGED_TOLD_ERROR_MAX = 255, MANAGED_TOLD_BYTES_MAX = 4096 };

struct managed_told {
    int64_t next_at;   /* seconds of the epoch; 0: not told */
    uint64_t failures; /* in a row */
    char error[MANAGED_TOLD_ERROR_MAX + 1]; /* the last; "": none */
};

/* The name of the file in its folder. */
void managed_told_name(const struct managed_certificate *certificate,
                       char name[NAME_MAX + 1]);

void managed_told_put(const struct managed_told *told, struct buf *text);
void managed_told_parse(struct managed_told *told, struct bytes text);

/* Reads the file; told is empty where there is none. */
void managed_told_read(struct managed_told *told,
                       const struct managed_certificate *certificate);

#endif
