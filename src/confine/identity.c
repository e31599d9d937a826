#include "confine/identity.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

enum {
    NAME_MAX_BYTES = 256,
    ENTRY_BYTES_MAX = 65536, /* large, since groups can have many members */
    CAPABILITIES_MAX = 64
};

/* --- Looking up ----------------------------------------------------------- */

/* Reads a decimal number that is a valid uid or gid. (uint32_t)-1 is invalid,
 * since the kernel takes it for "unchanged". */
static bool read_id(const char *text, uint32_t *id_out)
{
    unsigned long long id;
    char *end;

    if (!byte_is_digit(*text) || strlen(text) > 10)
        return false;
    id = strtoull(text, &end, 10);
    *id_out = (uint32_t)id;
    return *end == '\0' && id < UINT32_MAX;
}

static int complain(const char *option, const char *name, int err)
{
    if (err == 0) {
        fprintf(stderr, "sprintd: %s: there is no '%s' on this machine\n",
                option, name);
        return EX_NOUSER;
    }
    fprintf(stderr, "sprintd: %s '%s': %s\n", option, name, strerror(err));
    return EX_OSERR;
}

/* Finds the user with the name or number `name`, and sets identity->uid and
 * identity->gid. Copies the user's name to known_as, or "" if the user has
 * none. */
static int find_user(struct identity *identity, const char *name,
                     bool needs_group, char known_as[NAME_MAX_BYTES],
                     char *entry)
{
    struct passwd user, *found = NULL;
    uint32_t id = 0;
    bool is_number = read_id(name, &id);
    int err = is_number
                  ? getpwuid_r(id, &user, entry, ENTRY_BYTES_MAX, &found)
                  : getpwnam_r(name, &user, entry, ENTRY_BYTES_MAX, &found);

    known_as[0] = '\0';
    if (found) {
        identity->uid = user.pw_uid;
        identity->gid = user.pw_gid;
        snprintf(known_as, NAME_MAX_BYTES, "%s", user.pw_name);
        return EX_OK;
    }
    if (!is_number || err != 0)
        return complain("--user", name, err);
    identity->uid = id;
    if (!needs_group)
        return EX_OK;
    fprintf(stderr,
            "sprintd: --user: no user has the number %s, so name a group: "
            "%s:GROUP\n",
            name, name);
    return EX_NOUSER;
}

static int find_group(struct identity *identity, const char *name, char *entry)
{
    struct group group, *found = NULL;
    uint32_t id;
    int err;

    if (read_id(name, &id)) {
        identity->gid = id;
        return EX_OK;
    }
    err = getgrnam_r(name, &group, entry, ENTRY_BYTES_MAX, &found);
    if (!found)
        return complain("--group", name, err);
    identity->gid = group.gr_gid;
    return EX_OK;
}

static int find_groups(struct identity *identity, const char *known_as)
{
    identity->group_count = IDENTITY_GROUPS_MAX;
    if (known_as[0] == '\0') {
        identity->groups[0] = identity->gid;
        identity->group_count = 1;
    } else if (getgrouplist(known_as, identity->gid, identity->groups,
                            &identity->group_count) == -1) {
        fprintf(stderr, "sprintd: --user '%s' is in more than %d groups\n",
                known_as, IDENTITY_GROUPS_MAX);
        return EX_NOUSER;
    }
    return EX_OK;
}

static int find(struct identity *identity, const char *user, const char *group,
                char *entry)
{
    char name[NAME_MAX_BYTES];
    char known_as[NAME_MAX_BYTES] = "";
    const char *colon = user ? strchr(user, ':') : NULL;
    size_t len = colon ? (size_t)(colon - user) : user ? strlen(user) : 0;
    int status = EX_OK;

    if (!group && colon)
        group = colon + 1;
    if ((user && len == 0) || len >= sizeof(name) ||
        (group && *group == '\0')) {
        fprintf(stderr, "sprintd: --user '%s': give NAME or NAME:GROUP\n",
                user ? user : "");
        return EX_USAGE;
    }
    identity->uid = geteuid();
    identity->gid = getegid();
    if (user) {
        memcpy(name, user, len);
        name[len] = '\0';
        status = find_user(identity, name, !group, known_as, entry);
    }
    if (status == EX_OK && group)
        status = find_group(identity, group, entry);
    return status == EX_OK ? find_groups(identity, known_as) : status;
}

int identity_find(struct identity *identity, const char *user,
                  const char *group)
{
    char *entry;
    int status;

    *identity = (struct identity){.changes = user || group};
    if (!identity->changes)
        return EX_OK;
    entry = malloc(ENTRY_BYTES_MAX);
    if (!entry) {
        fputs("sprintd: out of memory\n", stderr);
        return EX_OSERR;
    }
    status = find(identity, user, group, entry);
    free(entry);
    return status;
}

/* --- Changing the user ---------------------------------------------------- */

/* All capability sets; the kernel splits each into two halves of 32 bits. */
struct capabilities {
    struct __user_cap_data_struct half[2];
};

static int get_capabilities(struct capabilities *capabilities)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3};

    return (int)syscall(SYS_capget, &header, capabilities->half);
}

/* Limits the permitted and effective capabilities to those in `kept` that are
 * permitted now. */
static int keep_capabilities(uint64_t kept)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3};
    struct capabilities capabilities, before;

    if (get_capabilities(&capabilities) == -1)
        return -1;
    before = capabilities;
    for (int i = 0; i < 2; i++) {
        struct __user_cap_data_struct *half = &capabilities.half[i];

        half->permitted &= (uint32_t)(kept >> 32 * i);
        half->effective = half->permitted;
        half->inheritable = 0;
    }
    /* If nothing changes, capset() is not called: the system call filter of a
     * service manager may refuse it. */
    if (memcmp(&capabilities, &before, sizeof(before)) == 0)
        return 0;
    return (int)syscall(SYS_capset, &header, capabilities.half);
}

/* Drops the bounding set, so that exec cannot give capabilities back. This
 * needs CAP_SETPCAP; if it fails, no_new_privs still has the same effect. */
static void drop_bounding_set(void)
{
    for (unsigned long i = 0; i < CAPABILITIES_MAX; i++)
        if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 &&
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == -1)
            return;
}

static bool is_already(const struct identity *identity)
{
    return getuid() == identity->uid && geteuid() == identity->uid &&
           getgid() == identity->gid && getegid() == identity->gid &&
           geteuid() != 0;
}

/* Sets the process's user and groups. Returns the name of the call that failed,
 * or NULL. */
static const char *set_ids(const struct identity *identity)
{
    if (is_already(identity))
        return NULL; /* not root: groups cannot be changed */
    if (setgroups((size_t)identity->group_count, identity->groups) == -1)
        return "setgroups";
    if (setresgid(identity->gid, identity->gid, identity->gid) == -1)
        return "setresgid";
    if (setresuid(identity->uid, identity->uid, identity->uid) == -1)
        return "setresuid";
    return NULL;
}

static bool has_ids(const struct identity *identity)
{
    uid_t uid[3];
    gid_t gid[3];

    if (getresuid(&uid[0], &uid[1], &uid[2]) == -1 ||
        getresgid(&gid[0], &gid[1], &gid[2]) == -1)
        return false;
    for (int i = 0; i < 3; i++)
        if (uid[i] != identity->uid || gid[i] != identity->gid)
            return false;
    /* A process that gave up root must not be able to become root again. */
    return identity->uid == 0 || setresuid((uid_t)-1, 0, (uid_t)-1) == -1;
}

/* Checks that the process has become the identity, and has given up all
 * capabilities except those in `kept`. Returns what is wrong, or NULL. */
static const char *find_fault(const struct identity *identity, uint64_t kept)
{
    struct capabilities capabilities;

    if (identity->changes && !has_ids(identity))
        return "the user has not changed";
    if (get_capabilities(&capabilities) == -1)
        return "capabilities cannot be read";
    for (int i = 0; i < 2; i++) {
        const struct __user_cap_data_struct *half = &capabilities.half[i];

        if (((half->permitted | half->effective) &
             ~(uint32_t)(kept >> 32 * i)) != 0 ||
            half->inheritable != 0)
            return "capabilities have stayed";
    }
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return "no_new_privs is not set";
    return NULL;
}

/* --- Rights to files ----------------------------------------------------- */

/* Sets the ids that the kernel uses for files. setfsuid() and setfsgid() do not
 * report failure, so a second call reads the id back. */
static bool set_file_ids(uid_t uid, gid_t gid)
{
    setfsgid(gid);
    setfsuid(uid);
    return (gid_t)setfsgid((gid_t)-1) == gid &&
           (uid_t)setfsuid((uid_t)-1) == uid;
}

bool identity_is_root_for_files(void)
{
    return setfsuid((uid_t)-1) == 0;
}

uid_t identity_file_user(void)
{
    return (uid_t)setfsuid((uid_t)-1);
}

void identity_raise(void)
{
    /* Only the user becomes root: new files shall get the identity's group. */
    setfsuid(0);
}

void identity_lower(const struct identity *identity)
{
    if (!set_file_ids(identity->uid, identity->gid))
        abort(); /* the process must not go on with root's rights */
}

int identity_begin(const struct identity *identity)
{
    if (!identity->changes || geteuid() != 0)
        return EX_OK;
    if (setgroups((size_t)identity->group_count, identity->groups) == -1) {
        int err = errno;

        fprintf(stderr, "sprintd: --user: setgroups: %s\n", strerror(err));
        return err == EPERM ? EX_NOPERM : EX_OSERR;
    }
    if (set_file_ids(identity->uid, identity->gid))
        return EX_OK;
    fputs("sprintd: --user: setfsuid: it is refused\n", stderr);
    return EX_NOPERM;
}

/* --- Giving up privileges ------------------------------------------------ */

int identity_assume(const struct identity *identity)
{
    uint64_t kept = identity->changes || geteuid() != 0
                        ? 0
                        : UINT64_C(1) << CAP_NET_BIND_SERVICE |
                              UINT64_C(1) << CAP_DAC_READ_SEARCH;
    const char *failed;

    drop_bounding_set();
    failed = identity->changes ? set_ids(identity) : NULL;
    if (failed) {
        int err = errno;

        fprintf(stderr, "sprintd: --user: %s: %s%s\n", failed, strerror(err),
                err == EPERM ? "; only root may become another user" : "");
        return err == EPERM ? EX_NOPERM : EX_OSERR;
    }
    /* Kernels before 4.3 lack the ambient set. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 &&
        errno != EINVAL)
        failed = "ambient capabilities";
    else if (keep_capabilities(kept) == -1)
        failed = "capset";
    else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
        failed = "no_new_privs";
    if (failed) {
        fprintf(stderr, "sprintd: giving up privileges: %s: %s\n", failed,
                strerror(errno));
        return EX_OSERR;
    }
    failed = find_fault(identity, kept);
    if (failed) {
        fprintf(stderr, "sprintd: giving up privileges: %s\n", failed);
        return EX_OSERR;
    }
    return EX_OK;
}

void identity_name(char name[IDENTITY_NAME_SIZE], uid_t uid)
{
    const struct passwd *user = getpwuid(uid);

    if (user)
        snprintf(name, IDENTITY_NAME_SIZE, "'%s'", user->pw_name);
    else
        snprintf(name, IDENTITY_NAME_SIZE, "%u", (unsigned)uid);
}
