/*
 * identity - the user and group that the server runs as: --user, --group.
 *
 * A process that root has started changes its user in two steps. From
 * identity_begin() on, the kernel judges every use of a file by the new user's
 * rights, while the process remains root in everything else. Files that only
 * root may read must be opened before, or between identity_raise() and
 * identity_lower(). Once sockets are bound and logs are open, identity_assume()
 * lets the process become the new user, with the user's groups, gives up all
 * capabilities for good (no_new_privs), and checks the result.
 *
 * A server that root starts without --user runs as root, but keeps only two
 * capabilities:
 *
 *   CAP_NET_BIND_SERVICE  a reload may add a port below 1024
 *   CAP_DAC_READ_SEARCH   it serves files whoever owns them
 *
 * CAP_DAC_OVERRIDE is given up: the server need not write to other users'
 * files, and a log in another user's directory needs --user.
 *
 * Thread: the main thread, before there is another: each thread has its own
 *         capabilities and no_new_privs, and inherits them at its start.
 */
#ifndef CONFINE_IDENTITY_H
#define CONFINE_IDENTITY_H

#include <sys/types.h>

#include "base/bytes.h"

enum { IDENTITY_GROUPS_MAX = 256, IDENTITY_NAME_SIZE = 80 };

struct identity {
    bool changes; /* --user or --group was given */
    uid_t uid;
    gid_t gid;
    gid_t groups[IDENTITY_GROUPS_MAX];
    int group_count;
};

/* Finds the identity. `user` is "NAME", "NAME:GROUP", the same with numbers, or
 * NULL. If `group` is not NULL, it replaces the group in `user`. Returns EX_OK,
 * or EX_NOUSER, EX_USAGE or EX_OSERR after one line on stderr. */
MUST_USE int identity_find(struct identity *identity, const char *user,
                           const char *group);

/* The first step: from now on, the kernel judges uses of files by the
 * identity's rights. Root keeps all other rights (such as a port below 1024); a
 * process that is not root does not change. Returns EX_OK, or EX_NOPERM or
 * EX_OSERR after one line on stderr. */
MUST_USE int identity_begin(const struct identity *identity);

/* Gives the process root's rights to files until identity_lower() is called. */
void identity_raise(void);
void identity_lower(const struct identity *identity);
bool identity_is_root_for_files(void);

/* Returns the user whose rights apply to files. Must not be called in the
 * sandbox. */
uid_t identity_file_user(void);

/* The second step: the process becomes the identity's user for good. Returns
 * EX_OK; or, after one line on stderr, EX_NOPERM or EX_OSERR, with which the
 * server must exit. */
MUST_USE int identity_assume(const struct identity *identity);

/* Writes the user's name in quotes, or `uid` as a number if the user has no
 * name. */
void identity_name(char name[IDENTITY_NAME_SIZE], uid_t uid);

#endif
