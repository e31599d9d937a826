/*
 * safe_path - whether a path can be led elsewhere by somebody.
 *
 * A user who may write in a directory on the way can put a symlink, or another
 * file, where the next name is looked up. So root must not open what such a
 * path names: it would do so on behalf of that user. The way is walked name by
 * name, from opened directories, and so are the symlinks on it:
 *
 *   a directory  must be out of reach for writing, be it by an ACL, of which
 *                the group's bits tell the most; or it has the sticky bit
 *                (/tmp), and the next name is somebody else's directory, which
 *                can then not be renamed; a group 0 that only root is in is
 *   root
 *   a symlink    lies in such a directory, and without the sticky bit
 *   /proc        is refused: its links lead where no name does, to the files
 *                that are open (/proc/self/fd), whoever opened them
 *
 * The answer stays true for as long as those who may write there leave it so.
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
    int fd;                  /* of the directory where the way ends */
    char name[NAME_MAX + 1]; /* in it, and no symlink */
    bool exists;
    bool has_acl; /* both when it exists */
    struct stat st;
};

/* Walks to path. who is the user who might lead it elsewhere; NULL: anybody but
 * root. 0; -EPERM: that user can; or another -errno. Only after 0 is there
 * something to close. */
MUST_USE int safe_path_open(struct safe_path *at, const char *path,
                            const struct identity *who);
void safe_path_close(struct safe_path *at);

struct safe_folder {
    bool is_loose; /* others make entries in it, and only the sticky bit keeps
                         them from changing those that are not theirs */
    bool is_anybodys; /* it, or one on the way, is its owner's in a folder where
                         anybody makes one: nobody else has had a say in that */
};

/* Walks to a folder, itself one of the way's, that nobody but root and owner
 * may lead it from or write in. A descriptor of it (O_PATH); -EPERM: somebody
 * else can; or another -errno. */
MUST_USE int safe_path_open_folder(const char *path, uid_t owner,
                                   struct safe_folder *about_out);

/* Whether that user (who) can write what is there, or take the right to. */
bool safe_path_is_writable(const struct safe_path *at,
                           const struct identity *who);

/* Whether the way may go on in a directory, which fd is. */
typedef bool safe_path_see(void *context, int fd);

/* Walks the same way, with see as the only judge of the directories. 0; -EPERM:
 * one was refused; or another -errno. */
MUST_USE int safe_path_walk(const char *path, safe_path_see *see,
                            void *context);

#endif
