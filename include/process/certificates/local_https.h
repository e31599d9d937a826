/*
 * local_https - what --https shows to clients where no certificate is told: one
 * that this machine's own authority has signed.
 *
 * It is a file like any that --certificate names, so that it is read, watched
 * and put in force as those are; what is here makes sure that the file is there
 * and good.
 *
 * Where it lies, and for which names it is, is found once, at the start: a
 * server that confines itself cannot see its home any more, nor the addresses
 * of the machine.
 *
 * Thread: the main thread's; waits for the file system.
 * Owns:   nothing but what is in the struct.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_HTTPS_H
#define PROCESS_CERTIFICATES_LOCAL_HTTPS_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "config/options.h"
#include "io/tls/tls_names.h"

/* How often to renew it where that is due: it has a month left then. */
enum { LOCAL_HTTPS_RENEW_S = 12 * 3600 };

struct local_https {
    char folder[PATH_MAX]; /* the server reads and writes there */
    char path[PATH_MAX];   /* of the file with certificate and key */
    uid_t owner;           /* as whom the server uses files */
    struct tls_names names;
    const char *paths[1]; /* as a list of options has it */
};

/* Whether options ask for it: --https, and no certificate anywhere. */
bool local_https_is_wanted(const struct options *options);

/* Has it in options: where names of this machine are said, or else at the top
 * and in every site. It outlives them. False: no memory. */
MUST_USE bool local_https_put(struct local_https *https,
                              struct options *options);

/* Makes or renews the file. before: of the configuration before; NULL: at the
 * start. EX_OK, or a status after a line on errors. */
MUST_USE int local_https_open(struct local_https *https,
                              const struct options *options,
                              const struct local_https *before, FILE *errors);

/* Renews the file alone, while the server runs. */
MUST_USE int local_https_renew(const struct local_https *https, FILE *errors);

/* Says how the certificate is trusted, unless the programs of this machine do
 * already. */
void local_https_tell(const struct local_https *https, FILE *to);

#endif
