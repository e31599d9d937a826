/*
 * local_https - the certificate of --https if no certificate is named. This
 * machine's own authority signs it.
 *
 * The certificate lies in a file, which is read, watched and put in force like
 * the files that --certificate names. This module makes sure that the file
 * exists and is valid.
 *
 * The file's folder and the certificate's names are found once, at the start: a
 * confined server no longer sees its home directory and the machine's
 * addresses.
 *
 * Thread: used only by the main thread; waits for the file system.
 * Owns:   only the struct's contents.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_HTTPS_H
#define PROCESS_CERTIFICATES_LOCAL_HTTPS_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "config/options.h"
#include "io/tls/tls_names.h"

/* Seconds between two tries to renew the certificate. A renewal is due a month
 * before the certificate ends. */
enum { LOCAL_HTTPS_RENEW_S = 12 * 3600 };

struct local_https {
    char folder[PATH_MAX]; /* the folder of the file */
    char path[PATH_MAX];   /* the file with certificate and key */
    uid_t owner;           /* the user whose rights to files are used */
    struct tls_names names;
    const char *paths[1]; /* points to `path`, as a list for the options */
};

/* Whether the options need this file, because --https is on and no option names
 * a certificate, or because an option gives names of this machine. */
bool local_https_is_wanted(const struct options *options);

/* Adds the file's path to *options. *https must outlive the options. If options
 * give names of this machine, the path is added where the names are given;
 * otherwise at the top and in every site. Returns false if there is no
 * memory. */
MUST_USE bool local_https_put(struct local_https *https,
                              struct options *options);

/* Makes or renews the file. `before` is the struct of the previous
 * configuration, or NULL at the start. Returns EX_OK, or a status of sysexits.h
 * after writing one line to `errors`. */
MUST_USE int local_https_open(struct local_https *https,
                              const struct options *options,
                              const struct local_https *before, FILE *errors);

/* Renews the file if needed, while the server runs. Returns like
 * local_https_open(). */
MUST_USE int local_https_renew(const struct local_https *https, FILE *errors);

/* Writes how to make this machine's programs trust the certificate, unless they
 * trust it already. */
void local_https_tell(const struct local_https *https, FILE *to);

#endif
