/*
 * landlock_domain - limits which files the process can reach, by Landlock.
 *
 * A rule belongs to the file or directory that a path names when the rule is
 * made, not to the path itself. A renamed directory keeps its rule, and a new
 * one at the old path is out of reach. So a file that others replace by
 * renaming stays in reach only through a rule for its directory, or by the
 * broker outside of the sandbox (broker.h).
 *
 * Open files stay usable. Landlock does not control stat(2), readlink(2),
 * connecting to a unix socket by its path, or changes of attributes (chmod,
 * chown, times); the last are refused by seccomp_filter.
 *
 * Thread: the main thread's. The domain covers the calling thread and those
 *         that it starts later, so it is entered before there is a second one.
 * Owns:   the ruleset's descriptor until the domain is entered, and a list of
 *         rules.
 */
#ifndef CONFINE_LANDLOCK_DOMAIN_H
#define CONFINE_LANDLOCK_DOMAIN_H

#include <stdint.h>

#include "base/bytes.h"

enum path_access {
    PATH_LIST, /* list a directory and all directories below */
    PATH_READ, /* read a file, or all files below a directory */
    /* The same as PATH_READ; also write, create and remove files, directories
     * and sockets. */
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
    uint64_t handled; /* rights refused unless a rule grants them */
    struct path_rule *rules;
    size_t rule_count;
    size_t rules_max;
    bool refuses_tcp; /* connections over TCP are refused */
    bool is_entered;
};

struct landlock_domain_options {
    size_t rules_max;
    bool connects_tcp; /* if false, refuse TCP connections (needs ABI 4) */
    /* If false, refuse connections to abstract unix sockets (needs ABI 6). */
    bool connects_abstract;
};

/* Prepares a domain without rules. Returns 0, -ENOSYS if the kernel has no
 * Landlock, -EOPNOTSUPP if Landlock is switched off, or another -errno. After
 * an error, landlock_domain_close() is not needed. */
MUST_USE int landlock_domain_open(struct landlock_domain *landlock,
                                  const struct landlock_domain_options
                                      *options);

/* Allows access to `path` by a rule. Returns 0, -E2BIG if there are rules_max
 * rules already, or another -errno if `path` cannot be opened or the rule
 * cannot be added. */
MUST_USE int landlock_domain_permit(struct landlock_domain *landlock,
                                    const char *path, enum path_access access);

/* Enters the domain for good: from now on, the process can open only what a
 * rule allows. Also sets no_new_privs. Returns 0 or -errno. */
MUST_USE int landlock_domain_enter(struct landlock_domain *landlock);

/* Whether the domain, entered or not, allows this access to `path`. If nothing
 * has that path yet, its directory is judged. */
bool landlock_domain_allows(const struct landlock_domain *landlock,
                            const char *path, enum path_access access);

/* Frees the rules; a domain that was entered stays in force. */
void landlock_domain_close(struct landlock_domain *landlock);

#endif
