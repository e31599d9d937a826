/*
 * local_authority - HTTPS on this machine without any preparation: an authority
 * that is made once, and a certificate for the names of this machine, which it
 * signs and renews.
 *
 *   FOLDER/authority.pem   the authority: certificate and key; never replaced
 *   FOLDER/authority.crt   its certificate alone, to be handed to browsers
 *   FOLDER/localhost.pem   what clients are shown: certificate and key
 *
 * The folder is its owner's alone, and a file in it comes to its name when it
 * is whole. Of two servers that start at once, one makes the authority, and
 * both use it. What is damaged is told and left as it is: who has trusted an
 * authority shall not find another in its place.
 *
 * Thread: any; waits for the file system.
 * Owns:   nothing but the files.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H
#define PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H

#include <limits.h>
#include <sys/types.h>

#include "io/tls/tls_authority.h"

/* The file of the leaf, in its folder. */
#define LOCAL_AUTHORITY_LEAF "localhost.pem"

enum { LOCAL_AUTHORITY_FAULT_MAX = PATH_MAX + 256 };

/* What is wrong, and with what, to be put behind "sprintd: --https: ". */
struct local_authority_fault {
    char text[LOCAL_AUTHORITY_FAULT_MAX];
};

/* `tls` below the state directory that systemd has made, else below
 * $XDG_DATA_HOME/sprintd, else ~/.local/share/sprintd; that of the user as whom
 * files are used. 0 or -errno. */
MUST_USE int local_authority_find_folder(char folder[PATH_MAX],
                                         struct local_authority_fault *fault);

/* Makes the folder and the way to it, unless they are there. 0; -EPERM: others
 * could lead root elsewhere; or another -errno. */
MUST_USE int local_authority_make_folder(const char *folder,
                                         struct local_authority_fault *fault);

/* A certificate for names, with its key, in one text: that which is there, or a
 * new one, by an authority that is there, or a new one. It is in the folder
 * then, too. owner: as whom files are used. A server that has confined itself
 * may ask for it. 0 or -errno. */
MUST_USE int local_authority_leaf(const char *folder, uid_t owner,
                                  const struct tls_names *names, int64_t now_s,
                                  struct tls_pem *leaf_out,
                                  struct local_authority_fault *fault);

/* The certificate of the authority in a folder, whoever owns it; facts_out may
 * be NULL. 0; -ENOENT: there is none; -EACCES: others than the folder's owner
 * can write it; or another -errno. */
MUST_USE int local_authority_read(const char *folder,
                                  struct tls_authority_facts *facts_out,
                                  struct tls_pem *certificate_out,
                                  struct local_authority_fault *fault);

/* Reads it in a folder that is open, whose name is for what is said of it. */
MUST_USE int local_authority_read_at(int fd, const char *folder,
                                     struct tls_authority_facts *facts_out,
                                     struct tls_pem *certificate_out,
                                     struct local_authority_fault *fault);

#endif
