/*
 * managed_told - the file by which sprintd-acme tells the server and its
 * operator about a certificate: when the next one will be requested, and what
 * has failed.
 *
 *   STATE/acme/live/NAME.told     lines "word value", beside the certificate
 *
 * sprintd-acme may be started by the server or by systemd, or run on another
 * machine. In all three cases the server can read the certificates' folder, so
 * a file in this folder is used. A damaged file is read as an empty one.
 *
 * Thread: any; functions wait for the file system.
 */
#ifndef CONFIG_CERTIFICATES_MANAGED_TOLD_H
#define CONFIG_CERTIFICATES_MANAGED_TOLD_H

#include <limits.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/certificates/managed.h"

enum { MANAGED_TOLD_ERROR_MAX = 255, MANAGED_TOLD_BYTES_MAX = 4096 };

struct managed_told {
    int64_t next_at;   /* next request, in s since the epoch; 0: unknown */
    uint64_t failures; /* consecutive failures */
    char error[MANAGED_TOLD_ERROR_MAX + 1]; /* last failure, or "" */
};

/* Makes the file's name, NAME.told, without its folder. */
void managed_told_name(const struct managed_certificate *certificate,
                       char name[NAME_MAX + 1]);

void managed_told_put(const struct managed_told *told, struct buf *text);
void managed_told_parse(struct managed_told *told, struct bytes text);

/* Reads the certificate's NAME.told. Without such a file, *told is empty. */
void managed_told_read(struct managed_told *told,
                       const struct managed_certificate *certificate);

#endif
