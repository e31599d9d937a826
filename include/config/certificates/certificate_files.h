/*
 * certificate_files - the files that certificates, their keys, authorities of
 * clients, and keys of tickets are in: each is read once, and known again when
 * it has changed.
 *
 * Keys are often for root alone, and read before that right is given up. When
 * they are to be read again later and cannot be, what was read before stays.
 *
 * Thread: the main thread's.
 * Owns:   what was read; paths are borrowed of the options.
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATE_FILES_H
#define CONFIG_CERTIFICATES_CERTIFICATE_FILES_H

#include <sys/stat.h>

#include "base/texts.h"
#include "io/tls/tls_certificate.h"
#include "io/tls/tls_names.h"
#include "io/tls/tls_tickets.h"

/* A file as it was when it was read. */
struct file_mark {
    const char *path;
    uint64_t device, inode, bytes;
    struct timespec changed;
};

/* A certificate and its key. */
struct certificate_pair {
    struct file_mark chain;
    struct file_mark key; /* perhaps the same file as chain */
    struct tls_certificate *certificate;
    bool is_kept;        /* of before: it cannot be read any more */
    bool is_placeholder; /* nobody shall take it for a certificate */
    struct certificate_pair *next;
};

/* The authorities whose signature a client's certificate needs. */
struct certificate_authority {
    struct file_mark mark;
    char *text; /* ended */
    bool is_kept;
    struct certificate_authority *next;
};

/* The keys of tickets. */
struct ticket_file {
    struct file_mark mark; /* path NULL: there is none */
    struct tls_tickets *tickets;
    bool is_kept;
};

struct certificate_files {
    struct certificate_pair *pairs;
    struct certificate_authority *authorities;
    struct ticket_file tickets;
};

/* Each finds what has been read of a file, or reads it now; a file that this
 * process may not read any more stays as it was in before (NULL: nothing was
 * read before). 0; or -errno: fault then says why, as words to put behind
 * *path_out, the file; or -ENOMEM. */
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

/* A file that others than its owner and its group can read is refused, -EINVAL:
 * a user who has the keys can read what was said over connections that were
 * resumed by them. */
MUST_USE int certificate_files_read_tickets(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, char fault[TLS_FAULT_MAX]);

/* Reads a file that is managed (managed.h), with its key: what is not there, or
 * is damaged, stays as it was before; else a placeholder for names, which no
 * client has reason to trust, stands for it, until the file has changed.
 * fault says what is wrong with a file that is there; "": nothing. 0 or
 * -ENOMEM. */
MUST_USE int certificate_files_read_managed(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, const struct tls_names *names,
    struct certificate_pair **pair_out, char fault[TLS_FAULT_MAX]);

void certificate_files_fini(struct certificate_files *files);

/* Whether a file is another than it was; one that cannot be looked at, or is
 * not there, has not changed. */
bool file_mark_is_old(const struct file_mark *mark);
void file_mark_set(struct file_mark *mark, const char *path,
                   const struct stat *st);

/* Whether any of the files is old. */
bool certificate_files_are_old(const struct certificate_files *files);

/* A number that is another one when a file has changed, or another can be
 * looked at. */
uint64_t certificate_files_look(const struct certificate_files *files);

/* A file that this process may not read; NULL: it may read them all. */
const char *certificate_files_find_closed(const struct certificate_files
                                              *files);

#endif
