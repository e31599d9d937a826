/*
 * docroot - finds files by names below one directory, and nothing outside of
 * it.
 *
 * The kernel confines every lookup: openat2(2) with RESOLVE_BENEATH refuses
 * "..", absolute symlinks and symlinks that lead out, and RESOLVE_NO_MAGICLINKS
 * refuses the links of /proc. With follow_symlinks, symlinks may lead out.
 * Anything but a regular file or a directory is refused before it is opened, so
 * that a FIFO or a device neither blocks a worker nor has a side effect.
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
    bool has_openat2; /* the kernel has openat2(2) */
};

/* Opens the directory. Returns 0 or -errno. Linux before 5.6 has no openat2.
 * There, names are opened one by one, and every symlink is refused, unless
 * follow_symlinks is true. */
MUST_USE int docroot_open(struct docroot *root, const char *directory,
                          bool follow_symlinks);
void docroot_close(struct docroot *root);

/* Opens the regular file or directory at `path`, which is relative and ends in
 * NUL ("" is the root itself). Fills *st and returns a descriptor, or returns
 * -errno: -EXDEV or -ELOOP when the path leads out of the root, -EPERM when it
 * leads to neither a regular file nor a directory. */
int docroot_open_file(const struct docroot *root, const char *path,
                      struct stat *st);

/* Stats the file that docroot_open_file() would open, by one cheap call. The
 * call does not confine the lookup, so the result must only be used to see
 * whether something has changed. Returns 0 or -errno. */
MUST_USE int docroot_stat(const struct docroot *root, const char *path,
                          struct stat *st);

#endif
