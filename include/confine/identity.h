/*
 * identity - as whom the server runs, and what it may do: --user, --group.
 *
 * In two steps: files are used as that user from the beginning; once sockets
 * are bound and logs are open, the server becomes that user, with the groups of
 * that user, and gives up all capabilities, for good (no_new_privs); then it
 * looks whether that is so.
 *
 * Who starts it as root without --user gets what was asked for, a server that
 * runs as root; it keeps two capabilities:
 *   CAP_NET_BIND_SERVICE  a reload may add a port below 1024
 *   CAP_DAC_READ_SEARCH   it serves files whoever owns them, as before
 * but not CAP_DAC_OVERRIDE: it has no business in writing what root does not
 * own, and a log in another user's directory wants --user.
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

/* Becomes it where files are concerned: from here on the kernel asks what that
 * user may do with them. A process that is root stays so in all else (a port
 * below 1024), and one that is not root stays as it is. EX_OK; EX_NOPERM or
 * EX_OSERR after one line on stderr. */
MUST_USE int identity_begin(const struct identity *identity);

/* Root again where files are concerned, for a moment; and back. */
void identity_raise(void);
void identity_lower(const struct identity *identity);
bool identity_is_root_for_files(void);

/* The user by whose rights files are used. Not to be asked within the sandbox.
 */
uid_t identity_file_user(void);

/* Becomes the identity for good. EX_OK; EX_NOPERM or EX_OSERR after one line on
 * stderr: then the server must not go on. */
MUST_USE int identity_assume(const struct identity *identity);

/* Writes the name of the user uid for people: in quotes, or the number where it
 * has none. */
void identity_name(char name[IDENTITY_NAME_SIZE], uid_t uid);

#endif
