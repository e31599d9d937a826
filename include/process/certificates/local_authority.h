/*
 * local_authority - HTTPS on this machine without preparation. An authority is
 * made once, and signs and renews a certificate for the names of this machine.
 *
 *   FOLDER/authority.pem   the authority: certificate and key; never replaced
 *   FOLDER/authority.crt   the authority's certificate alone, for browsers
 *   FOLDER/localhost.pem   certificate and key that the server shows to clients
 *
 * Only the folder's owner can use the folder. A file gets its name only when it
 * is whole. If two servers start at once, one makes the authority, and both use
 * it. A damaged file of the authority is reported and not replaced: a trusted
 * authority must not change unnoticed.
 *
 * Thread: any; waits for the file system.
 * Owns:   only the files.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H
#define PROCESS_CERTIFICATES_LOCAL_AUTHORITY_H

#include <limits.h>
#include <sys/types.h>

#include "io/tls/tls_authority.h"

/* The name of the file in FOLDER with the server's certificate and key. */
#define LOCAL_AUTHORITY_LEAF "localhost.pem"

enum { LOCAL_AUTHORITY_FAULT_MAX = PATH_MAX + 256 };

/* A text that names a file and what is wrong with it. The text continues a
 * message that begins with "sprintd: --https: ". */
struct local_authority_fault {
    char text[LOCAL_AUTHORITY_FAULT_MAX];
};

/* Finds the path of the folder: `tls` in systemd's state directory. Without a
 * state directory, `tls` lies in $XDG_DATA_HOME/sprintd. Without XDG_DATA_HOME,
 * `tls` lies in ~/.local/share/sprintd of the user whose rights to files are
 * used. Returns 0 or -errno. */
MUST_USE int local_authority_find_folder(char folder[PATH_MAX],
                                         struct local_authority_fault *fault);

/* Makes the folder and missing folders above it. Returns 0, -EPERM if the
 * process is root and other users could make the path lead elsewhere, or
 * another -errno. */
MUST_USE int local_authority_make_folder(const char *folder,
                                         struct local_authority_fault *fault);

/* Gets a certificate for `names` together with its key, in one text. A valid
 * certificate in the folder is used; otherwise a new certificate is signed and
 * saved. If the folder has no authority, an authority is made. `owner` is the
 * user whose rights to files are used. This function works in the sandbox, too.
 * Returns 0 or -errno. */
MUST_USE int local_authority_leaf(const char *folder, uid_t owner,
                                  const struct tls_names *names, int64_t now_s,
                                  struct tls_pem *leaf_out,
                                  struct local_authority_fault *fault);

/* Reads the authority's certificate in `folder`; any user may own the folder.
 * facts_out may be NULL. Returns 0, -ENOENT if there is no certificate, -EACCES
 * if users other than the folder's owner can write the file, or another
 * -errno. */
MUST_USE int local_authority_read(const char *folder,
                                  struct tls_authority_facts *facts_out,
                                  struct tls_pem *certificate_out,
                                  struct local_authority_fault *fault);

/* Like local_authority_read(), but reads in the folder that is open as `fd`.
 * `folder` is used only in messages. */
MUST_USE int local_authority_read_at(int fd, const char *folder,
                                     struct tls_authority_facts *facts_out,
                                     struct tls_pem *certificate_out,
                                     struct local_authority_fault *fault);

#endif
