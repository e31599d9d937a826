/*
 * landlock_domain - which files the process can reach at all, by Landlock.
 *
 * A rule belongs to the file or directory that its path names when it is
 * given, not to the name: a directory that is renamed takes its rule along,
 * and what is put in its place is out of reach. So a file that others replace
 * by a rename is only kept in reach through its directory, or by somebody
 * outside (broker.h).
 *
 * What is open stays usable. Out of Landlock's hands are: a look by stat(2)
 * or readlink(2), connecting to a unix socket by its path, and attributes
 * (chmod, chown, times), which seccomp_filter refuses.
 *
 * Thread: the main thread's. The domain holds for the calling thread and for
 *         what that starts later, so enter before there is a second one.
 * Owns:   the ruleset's descriptor until it is entered, and a list of rules.
 */
#ifndef CONFINE_LANDLOCK_DOMAIN_H
#define CONFINE_LANDLOCK_DOMAIN_H

#include <stdint.h>

#include "base/bytes.h"

enum path_access {
    PATH_LIST, /* names in path, and in all directories below */
    PATH_READ, /* path, and all below when it is a directory */
    /* As PATH_READ; and files, directories and sockets may be written, made and
     * removed */
    PATH_WRITE
};

struct path_rule {
    uint64_t device;
    uint64_t inode;
    uint64_t rights;
};

struct landlock_domain {
    int fd;
    int abi;          /* what the kernel's Landlock can do; 0: there is none */
    uint64_t handled; /* rights that are refused unless a rule gives them */
    struct path_rule *rules;
    size_t rule_count;
    size_t rules_max;
    bool is_entered;
};

struct landlock_domain_options {
    size_t rules_max;
    bool connects_tcp; /* false: connecting over TCP is refused (ABI 4) */
    /* False: connecting to abstract unix sockets is refused (ABI 6). */
    bool connects_abstract;
};

/* 0, -ENOSYS (not in this kernel), -EOPNOTSUPP (not switched on in it), or
 * another -errno; then there is nothing to close. */
MUST_USE int landlock_domain_open(struct landlock_domain *landlock,
                                  const struct landlock_domain_options
                                      *options);

/* Gives access to path. 0; -errno: why it could not be reached; -E2BIG: more
 * than rules_max. */
MUST_USE int landlock_domain_permit(struct landlock_domain *landlock,
                                    const char *path, enum path_access access);

/* From here on nothing else can be opened; there is no way back. Also sets
 * no_new_privs. 0 or -errno. */
MUST_USE int landlock_domain_enter(struct landlock_domain *landlock);

/* Whether the domain would let path be used so; also before it is entered.
 * Where path does not exist, its directory is asked. */
bool landlock_domain_allows(const struct landlock_domain *landlock,
                            const char *path, enum path_access access);

/* Forgets the rules; a domain that was entered stays in force. */
void landlock_domain_close(struct landlock_domain *landlock);

#endif
