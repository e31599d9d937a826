/*
 * docroot - names below one directory, and never outside of it.
 *
 * The kernel confines every lookup: openat2(2) with RESOLVE_BENEATH refuses
 * "..", absolute symlinks and symlinks that lead out; RESOLVE_NO_MAGICLINKS
 * those of /proc. What is neither a regular file nor a directory is refused
 * before it is opened, so that a FIFO or a device neither blocks a worker nor
 * notices.
 *
 * Thread: any; the struct does not change after opening.
 * Owns:   the directory's descriptor.
 */
#ifndef FILES_DOCROOT_H
#define FILES_DOCROOT_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/bytes.h"

struct docroot {
    int fd;
    uint64_t resolve; /* flags for openat2 */
    bool has_openat2; /* else names are opened one by one, without symlinks */
};

/* 0 or -errno. Before Linux 5.6 (no openat2) lookups go name by name and
 * refuse every symlink. */
MUST_USE int docroot_open(struct docroot *root, const char *directory,
                          bool follow_symlinks);
void docroot_close(struct docroot *root);

/* Opens the regular file or directory called path, which is relative and
 * ends in NUL ("" is the root itself). Returns a descriptor and fills *st, or
 * -errno: -EXDEV and -ELOOP for what leads out, -EPERM for what is neither
 * file nor directory. */
int docroot_open_file(const struct docroot *root, const char *path,
                      struct stat *st);

/* Stats path as docroot_open_file() would find it, but through one cheap
 * call that does not confine: only good to learn whether anything changed.
 * 0 or -errno. */
MUST_USE int docroot_stat(const struct docroot *root, const char *path,
                          struct stat *st);

#endif
