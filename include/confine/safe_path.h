/*
 * safe_path - checks whether another user can redirect a path to another file.
 *
 * A user who may write in a directory of the path can put a symlink, or another
 * file, where the next name is looked up. If root opened such a path, root
 * would act for that user. So the path is walked name by name, each from the
 * opened directory before it, and the targets of symlinks likewise:
 *
 *   a directory  is accepted if the user cannot write in it, by its mode or an
 *                ACL (the group's bits limit what an ACL grants). With the
 *                sticky bit (/tmp), it is accepted if the next name is a
 *                directory of somebody else, since the user cannot rename
 *                that. Group 0 counts as root if only root is in it
 *   a symlink    is accepted in an accepted directory without the sticky bit
 *   /proc        is refused: its links (/proc/self/fd) do not lead to names,
 *                but to files that are open, whoever opened them
 *
 * The result stays valid as long as the users who may write in these
 * directories change nothing there.
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
    bool has_acl; /* this and `st` are valid if `exists` */
    struct stat st;
};

/* Walks to `path`. Returns 0; after that, and only then, safe_path_close() is
 * needed. Returns -EPERM if the user `who` can redirect the path; if `who` is
 * NULL, any user but root counts. Returns another -errno on failure. */
MUST_USE int safe_path_open(struct safe_path *at, const char *path,
                            const struct identity *who);
void safe_path_close(struct safe_path *at);

struct safe_folder {
    /* Other users can create entries in the folder; only the sticky bit
     * protects the entries of its owner. */
    bool is_loose;
    /* The folder, or one above it, lies in a folder like /tmp and is not
     * root's. Anybody could have created it there, under this very name. */
    bool is_anybodys;
};

/* Walks to a folder. Only root and `owner` may be able to write in it or in the
 * folders above it. Returns its descriptor (O_PATH), -EPERM if another user can
 * redirect the path, or another -errno. */
MUST_USE int safe_path_open_folder(const char *path, uid_t owner,
                                   struct safe_folder *about_out);

/* Returns true if `who` can write to the file at the end of the path, or can
 * gain the right to write. */
bool safe_path_is_writable(const struct safe_path *at,
                           const struct identity *who);

/* Decides whether the walk may go on in the directory whose descriptor is
 * `fd`. */
typedef bool safe_path_see(void *context, int fd);

/* Walks to `path`, with `see` as the only judge of its directories. Returns 0,
 * -EPERM if `see` refused a directory, or another -errno. */
MUST_USE int safe_path_walk(const char *path, safe_path_see *see,
                            void *context);

#endif
