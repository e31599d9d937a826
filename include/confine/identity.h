/*
 * identity - as whom the server runs, and what it may do: --user, --group.
 *
 * This goes in two steps. From identity_begin() on the kernel judges every use
 * of a file by the rights of that user, although the process is root in all
 * else; what root alone may read has to be opened before, or between
 * identity_raise() and identity_lower(). Once sockets are bound and logs are
 * open, identity_assume() makes the process that user, with that user's groups,
 * gives up all capabilities for good (no_new_privs), and checks that this is
 * so.
 *
 * A server that root starts without --user runs as root, and keeps two
 * capabilities:
 *   CAP_NET_BIND_SERVICE  a reload may add a port below 1024
 *   CAP_DAC_READ_SEARCH   it serves files whoever owns them, as before
 * but not CAP_DAC_OVERRIDE: the server need not write what root does not own,
 * and a log in another user's directory wants --user.
 *
 * Thread: the main thread, before there is another: capabilities and
 *         no_new_privs are each thread's own, and inherited.
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

/* user: "NAME", "NAME:GROUP" or NULL, numbers too; group: overrides the one
 * behind the colon, or NULL. EX_OK; EX_NOUSER, EX_USAGE or EX_OSERR after one
 * line on stderr. */
MUST_USE int identity_find(struct identity *identity, const char *user,
                           const char *group);

/* The first step: from here on the kernel asks what that user may do with
 * files. A process that is root stays so in all else (a port below 1024), and
 * one that is not root stays as it is. EX_OK; EX_NOPERM or EX_OSERR after one
 * line on stderr. */
MUST_USE int identity_begin(const struct identity *identity);

/* Makes the process root again where files are concerned, for a moment; and
 * back. */
void identity_raise(void);
void identity_lower(const struct identity *identity);
bool identity_is_root_for_files(void);

/* The user by whose rights files are used. It must not be called within the
 * sandbox. */
uid_t identity_file_user(void);

/* The second step: becomes the identity for good. EX_OK; EX_NOPERM or EX_OSERR
 * after one line on stderr: then the server must not go on. */
MUST_USE int identity_assume(const struct identity *identity);

/* Writes the name of the user uid for people: in quotes, or the number where it
 * has none. */
void identity_name(char name[IDENTITY_NAME_SIZE], uid_t uid);

#endif
