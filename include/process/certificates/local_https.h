/*
 * local_https - the certificate of --https if none is named: one signed by this
 * machine's own authority.
 *
 * It is a file like those that --certificate names, and is read, watched and
 * put in force like these; this module makes sure that the file exists and is
 * valid.
 *
 * Its folder and its names are found once, at the start: a confined server no
 * longer sees its home directory, nor the machine's addresses.
 *
 * Thread: the main thread's; waits for the file system.
 * Owns:   nothing but the struct's contents.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_HTTPS_H
#define PROCESS_CERTIFICATES_LOCAL_HTTPS_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "config/options.h"
#include "io/tls/tls_names.h"

/* Seconds between tries of a renewal, which is due a month before the end. */
enum { LOCAL_HTTPS_RENEW_S = 12 * 3600 };

struct local_https {
    char folder[PATH_MAX]; /* where the server reads and writes it */
    char path[PATH_MAX];   /* the file with certificate and key */
    uid_t owner;           /* whose rights to files the server uses */
    struct tls_names names;
    const char *paths[1]; /* path, as a list of options */
};

/* Whether options need such a file: --https, and no certificate anywhere. */
bool local_https_is_wanted(const struct options *options);

/* Puts the file into options, which https must outlive: where names of this
 * machine are given, or else at the top and in every site. False: no memory. */
MUST_USE bool local_https_put(struct local_https *https,
                              struct options *options);

/* Makes or renews the file. before: the previous configuration's; NULL: at the
 * start. Returns EX_OK, or a status after a line on errors. */
MUST_USE int local_https_open(struct local_https *https,
                              const struct options *options,
                              const struct local_https *before, FILE *errors);

/* Only renews the file, while the server runs. */
MUST_USE int local_https_renew(const struct local_https *https, FILE *errors);

/* Says how to trust the certificate, unless this machine's programs already
 * do. */
void local_https_tell(const struct local_https *https, FILE *to);

#endif
