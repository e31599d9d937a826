/*
 * safe_path - whether somebody can redirect a path to another file.
 *
 * A user who may write in a directory of the path can put a symlink, or another
 * file, where the next name is looked up. If root opened such a path, it would
 * act for that user. The path is walked name by name, from opened directories,
 * and so are its symlinks:
 *
 *   a directory  must not be writable for that user, by its mode or an ACL
 *                (whose limit the group's bits are); or it has the sticky bit
 *                (/tmp), and the next name is a directory of somebody else,
 *                which that user cannot rename. Group 0 counts as root if
 *                only root is in it
 *   a symlink    lies in such a directory without the sticky bit
 *   /proc        is refused: its links lead to open files (/proc/self/fd),
 *                whoever opened them, not to names
 *
 * The answer stays true as long as those who may write there change nothing.
 *
 * Thread: any.
 * Owns:   the descriptor.
 */
#ifndef CONFINE_SAFE_PATH_H
#define CONFINE_SAFE_PATH_H

#include <limits.h>
#include <sys/stat.h>

#include "confine/identity.h"

struct safe_path {
    int fd;                  /* the last directory of the path */
    char name[NAME_MAX + 1]; /* the last name, which is no symlink */
    bool exists;
    bool has_acl; /* this, st: only if it exists */
    struct stat st;
};

/* Walks to path. who: the user who must not be able to redirect it; NULL:
 * anybody but root. Returns 0; -EPERM: that user can; or another -errno. Only 0
 * leaves something to close. */
MUST_USE int safe_path_open(struct safe_path *at, const char *path,
                            const struct identity *who);
void safe_path_close(struct safe_path *at);

struct safe_folder {
    bool is_loose;    /* others can make entries in it; only the sticky bit
                      protects those of its owner */
    bool is_anybodys; /* it, or a folder above, was made where anybody may make
                         one: only its owner chose it */
};

/* Walks to a folder that, like all above it, only root and owner can write in
 * or redirect. Returns its descriptor (O_PATH); -EPERM: somebody else can; or
 * another -errno. */
MUST_USE int safe_path_open_folder(const char *path, uid_t owner,
                                   struct safe_folder *about_out);

/* Whether who can write to the file at the end, or take the right to. */
bool safe_path_is_writable(const struct safe_path *at,
                           const struct identity *who);

/* Whether the walk may go on in the directory that is open as fd. */
typedef bool safe_path_see(void *context, int fd);

/* Walks to path, with see as the only judge of directories. Returns 0; -EPERM:
 * one was refused; or another -errno. */
MUST_USE int safe_path_walk(const char *path, safe_path_see *see,
                            void *context);

#endif
