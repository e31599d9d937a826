/*
 * landlock_domain - limits which files the process can reach, by Landlock.
 *
 * A rule belongs to the file or directory that its path names when it is given,
 * not to the name: a directory that is renamed keeps its rule, and what takes
 * its place is out of reach. So a file that others replace by a rename stays in
 * reach only through its directory, or by the broker outside (broker.h).
 *
 * Open files stay usable. Landlock does not control stat(2), readlink(2),
 * connecting to a unix socket by its path, and attributes (chmod, chown,
 * times), which seccomp_filter refuses.
 *
 * Thread: the main thread's. The domain covers the calling thread and those
 *         that it starts later, so it is entered before there is a second one.
 * Owns:   the ruleset's descriptor until it is entered, and a list of rules.
 */
#ifndef CONFINE_LANDLOCK_DOMAIN_H
#define CONFINE_LANDLOCK_DOMAIN_H

#include <stdint.h>

#include "base/bytes.h"

enum path_access {
    PATH_LIST, /* names in path, and in all directories below */
    PATH_READ, /* path; a directory with all below */
    /* As PATH_READ; files, directories and sockets may also be written, made
     * and removed. */
    PATH_WRITE
};

struct path_rule {
    uint64_t device;
    uint64_t inode;
    uint64_t rights;
};

struct landlock_domain {
    int fd;
    int abi;          /* version of the kernel's Landlock; 0: none */
    uint64_t handled; /* rights that are refused unless a rule gives them */
    struct path_rule *rules;
    size_t rule_count;
    size_t rules_max;
    bool is_entered;
};

struct landlock_domain_options {
    size_t rules_max;
    bool connects_tcp; /* false: no connections over TCP (ABI 4) */
    /* False: no connections to abstract unix sockets (ABI 6). */
    bool connects_abstract;
};

/* Returns 0, -ENOSYS (the kernel has no Landlock), -EOPNOTSUPP (it is switched
 * off), or another -errno; then there is nothing to close. */
MUST_USE int landlock_domain_open(struct landlock_domain *landlock,
                                  const struct landlock_domain_options
                                      *options);

/* Gives access to path. Returns 0 or -errno: that of opening path, or -E2BIG
 * for more than rules_max. */
MUST_USE int landlock_domain_permit(struct landlock_domain *landlock,
                                    const char *path, enum path_access access);

/* From now on, nothing else can be opened, for good. Also sets no_new_privs.
 * Returns 0 or -errno. */
MUST_USE int landlock_domain_enter(struct landlock_domain *landlock);

/* Whether the domain, entered or not, allows this access to path. If path does
 * not exist, its directory is judged. */
bool landlock_domain_allows(const struct landlock_domain *landlock,
                            const char *path, enum path_access access);

/* Frees the rules; a domain that was entered stays in force. */
void landlock_domain_close(struct landlock_domain *landlock);

#endif
