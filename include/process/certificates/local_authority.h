/*
 * local_authority - HTTPS on this machine without preparation: makes an
 * authority once, which signs and renews a certificate for the names of this
 * machine.
 *
 *   FOLDER/authority.pem   the authority: certificate and key; never replaced
 *   FOLDER/authority.crt   its certificate alone, to be handed to browsers
 *   FOLDER/localhost.pem   for clients: certificate and key
 *
 * Only its owner can use the folder; a file gets its name when it is whole. If
 * two servers start at once, one makes the authority, and both use it. A
 * damaged file is reported and not replaced: a trusted authority must not
 * change unnoticed.
 *
 * Thread: any; waits for the file system.
 * Owns:   nothing but the files.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H
#define PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H

#include <limits.h>
#include <sys/types.h>

#include "io/tls/tls_authority.h"

/* Name of the certificate's file in the folder. */
#define LOCAL_AUTHORITY_LEAF "localhost.pem"

enum { LOCAL_AUTHORITY_FAULT_MAX = PATH_MAX + 256 };

/* What is wrong with which file, to be put behind "sprintd: --https: ". */
struct local_authority_fault {
    char text[LOCAL_AUTHORITY_FAULT_MAX];
};

/* Finds `tls` below systemd's state directory, else below
 * $XDG_DATA_HOME/sprintd, else ~/.local/share/sprintd of the user whose rights
 * to files are used. Returns 0 or -errno. */
MUST_USE int local_authority_find_folder(char folder[PATH_MAX],
                                         struct local_authority_fault *fault);

/* Makes the folder and those above it, if missing. Returns 0; -EPERM: others
 * could redirect root; or another -errno. */
MUST_USE int local_authority_make_folder(const char *folder,
                                         struct local_authority_fault *fault);

/* Returns a certificate for names with its key, in one text: the existing one
 * or a new one, signed by the existing authority or a new one, and saved in the
 * folder. owner: whose rights to files are used. Works in the sandbox, too.
 * Returns 0 or -errno. */
MUST_USE int local_authority_leaf(const char *folder, uid_t owner,
                                  const struct tls_names *names, int64_t now_s,
                                  struct tls_pem *leaf_out,
                                  struct local_authority_fault *fault);

/* Reads the certificate of the authority in a folder, whoever owns it;
 * facts_out may be NULL. 0; -ENOENT: there is none; -EACCES: others than the
 * folder's owner can write it; or another -errno. */
MUST_USE int local_authority_read(const char *folder,
                                  struct tls_authority_facts *facts_out,
                                  struct tls_pem *certificate_out,
                                  struct local_authority_fault *fault);

/* Like local_authority_read(), in the open folder fd, named for messages. */
MUST_USE int local_authority_read_at(int fd, const char *folder,
                                     struct tls_authority_facts *facts_out,
                                     struct tls_pem *certificate_out,
                                     struct local_authority_fault *fault);

#endif
