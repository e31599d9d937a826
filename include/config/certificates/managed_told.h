/*
 * managed_told - what sprintd-acme tells the server and its operator about a
 * certificate: when it asks for the next one, and what has failed.
 *
 *   STATE/acme/live/NAME.told     lines "word value", beside the certificate
 *
 * The server can read that folder anyway. The sprintd-acme that writes there
 * may be started by the server or by systemd, or run on another machine. A
 * damaged file reads as an empty one.
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
    int64_t next_at;   /* seconds since the epoch; 0: not told */
    uint64_t failures; /* consecutive failures */
    char error[MANAGED_TOLD_ERROR_MAX + 1]; /* the last one; "": none */
};

/* Writes the name that the file has in its folder. */
void managed_told_name(const struct managed_certificate *certificate,
                       char name[NAME_MAX + 1]);

void managed_told_put(const struct managed_told *told, struct buf *text);
void managed_told_parse(struct managed_told *told, struct bytes text);

/* Reads the file; told stays empty if there is none. */
void managed_told_read(struct managed_told *told,
                       const struct managed_certificate *certificate);

#endif
