/*
 * certificate_files - reads the files of certificates, of their keys, of
 * clients' authorities and of ticket keys. It reads each file once, and notices
 * when a file changes.
 *
 * Often only root may read keys, so they are read before root's rights are
 * given up. A file that cannot be read again later keeps its earlier content.
 *
 * Thread: the main thread's.
 * Owns:   what was read; paths are borrowed from the options.
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATE_FILES_H
#define CONFIG_CERTIFICATES_CERTIFICATE_FILES_H

#include <sys/stat.h>

#include "base/texts.h"
#include "io/tls/tls_certificate.h"
#include "io/tls/tls_names.h"
#include "io/tls/tls_tickets.h"

/* Identifies the version of a file that was read. */
struct file_mark {
    const char *path;
    uint64_t device, inode, bytes;
    struct timespec changed;
};

/* A certificate and its key. */
struct certificate_pair {
    struct file_mark chain;
    struct file_mark key; /* may be the same file as `chain` */
    struct tls_certificate *certificate;
    bool is_kept;        /* still in use, though its file is unreadable */
    bool is_placeholder; /* stands in for a missing certificate */
    struct certificate_pair *next;
};

/* The authorities that may sign clients' certificates. */
struct certificate_authority {
    struct file_mark mark;
    char *text; /* ends with NUL */
    bool is_kept;
    struct certificate_authority *next;
};

/* The file with the keys of session tickets. */
struct ticket_file {
    struct file_mark mark; /* mark.path is NULL if no file is named */
    struct tls_tickets *tickets;
    bool is_kept;
};

struct certificate_files {
    struct certificate_pair *pairs;
    struct certificate_authority *authorities;
    struct ticket_file tickets;
};

/* certificate_files_read_pair() and the next two functions read a file, unless
 * `files` has it already. If this process may no longer read the file, they
 * take its content from `before`, the earlier reading, which may be NULL. They
 * return 0, -ENOMEM, or another -errno. In the last case, `fault` gets the end
 * of an error message, and *path_out the name of the file, with which the
 * message begins. */
MUST_USE int certificate_files_read_pair(struct certificate_files *files,
                                         const struct certificate_files *before,
                                         const char *chain, const char *key,
                                         struct certificate_pair **pair_out,
                                         const char **path_out,
                                         char fault[TLS_FAULT_MAX]);
MUST_USE int certificate_files_read_authority(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, struct certificate_authority **authority_out,
    char fault[TLS_FAULT_MAX]);

/* If users other than its owner and group can read the file,
 * certificate_files_read_tickets() returns -EINVAL: with the keys in the file,
 * they could decrypt recorded connections that were resumed. */
MUST_USE int certificate_files_read_tickets(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, char fault[TLS_FAULT_MAX]);

/* Reads a managed file (managed.h), which has a certificate and its key. If the
 * file is missing or damaged, the earlier reading stays in use until the file
 * changes. If there is no earlier reading, a placeholder for `names` is made.
 * `fault` says what is wrong with an existing file, or is "". Returns 0 or
 * -ENOMEM. */
MUST_USE int certificate_files_read_managed(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, const struct tls_names *names,
    struct certificate_pair **pair_out, char fault[TLS_FAULT_MAX]);

void certificate_files_fini(struct certificate_files *files);

/* Whether the file was changed or replaced since `mark` was set. Returns false
 * if the file is missing or inaccessible. */
bool file_mark_is_old(const struct file_mark *mark);
void file_mark_set(struct file_mark *mark, const char *path,
                   const struct stat *st);

/* Whether any of the files was changed or replaced. */
bool certificate_files_are_old(const struct certificate_files *files);

/* Returns a number that changes when any file changes, or becomes
 * accessible. */
uint64_t certificate_files_look(const struct certificate_files *files);

/* Returns the path of a file that this process may not read; NULL if there is
 * none. */
const char *certificate_files_find_closed(const struct certificate_files
                                              *files);

#endif
