#include "confine/landlock_domain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pages.h"

/* Debian 12's header lacks some of these rights and fields, and distributions
 * differ in how they define them, so this file has definitions of its own. A
 * kernel that does not know one of the fields accepts 0 in it. */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)     /* since ABI 3 */
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15)    /* since ABI 5 */
#define NET_CONNECT_TCP (UINT64_C(1) << 1)     /* since ABI 4 */
#define SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0) /* since ABI 6 */

struct ruleset {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

#define RIGHTS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_WRITE                                                  \
    (RIGHTS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |                    \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |      \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REFER | RIGHT_TRUNCATE)
/* The rights that the kernel accepts in a rule for a file. All other rights are
 * for directories. */
#define RIGHTS_OF_FILE                                              \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
     RIGHT_TRUNCATE)

/* --- What the kernel supports -------------------------------------------- */

/* Returns the rights that a kernel with this ABI can refuse. */
static uint64_t rights_of_abi(int abi)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_REFER - 1; /* ABI 1: all lower bits */

    if (abi >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        rights |= RIGHT_TRUNCATE;
    if (abi >= 5)
        rights |= RIGHT_IOCTL_DEV;
    return rights;
}

static size_t bytes_of_rules(const struct landlock_domain *landlock)
{
    return landlock->rules_max * sizeof(*landlock->rules);
}

int landlock_domain_open(struct landlock_domain *landlock,
                         const struct landlock_domain_options *options)
{
    struct ruleset ruleset;
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);

    *landlock = (struct landlock_domain){.fd = -1};
    if (abi == -1)
        return -errno;
    /* Signals are not scoped (ABI 6). seccomp_filter refuses them anyway, and a
     * scope would also block the signal by which the kernel tells a child
     * process that this process has ended. */
    ruleset = (struct ruleset){
        .handled_access_fs = rights_of_abi((int)abi),
        .handled_access_net = abi >= 4 && !options->connects_tcp
                                  ? NET_CONNECT_TCP
                                  : 0,
        .scoped = abi >= 6 && !options->connects_abstract ? SCOPE_ABSTRACT_UNIX
                                                          : 0};
    landlock->rules_max = options->rules_max;
    landlock->rules = pages_open(bytes_of_rules(landlock));
    if (!landlock->rules && options->rules_max > 0)
        return -ENOMEM;
    landlock->fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset,
                                sizeof(ruleset), 0);
    if (landlock->fd == -1) {
        int err = -errno;

        landlock_domain_close(landlock);
        return err;
    }
    landlock->abi = (int)abi;
    landlock->handled = ruleset.handled_access_fs;
    landlock->refuses_tcp = ruleset.handled_access_net != 0;
    return 0;
}

void landlock_domain_close(struct landlock_domain *landlock)
{
    if (landlock->fd >= 0)
        close(landlock->fd);
    landlock->fd = -1;
    pages_close(landlock->rules, bytes_of_rules(landlock));
    landlock->rules = NULL;
    landlock->rule_count = 0;
}

/* --- Rules --------------------------------------------------------------- */

/* Writes the path of the directory in which the file at `path` lies. Symlinks
 * are followed if the file exists. Returns 0 or -ENAMETOOLONG. */
static int find_directory(char directory[PATH_MAX], const char *path)
{
    char *slash;

    if (!realpath(path, directory)) {
        size_t len = strlen(path);

        if (len >= PATH_MAX)
            return -ENAMETOOLONG;
        memcpy(directory, path, len + 1);
    }
    slash = strrchr(directory, '/');
    if (!slash)
        memcpy(directory, ".", 2);
    else
        slash[slash == directory] = '\0';
    return 0;
}

static uint64_t rights_to(enum path_access access, mode_t mode)
{
    static const uint64_t rights[] = {[PATH_LIST] = LANDLOCK_ACCESS_FS_READ_DIR,
                                      [PATH_READ] = RIGHTS_READ,
                                      [PATH_WRITE] = RIGHTS_WRITE};

    return rights[access] & (S_ISDIR(mode) ? UINT64_MAX : RIGHTS_OF_FILE);
}

/* Adds a rule for the file that is open as fd. Returns 0 or -errno. */
static int add_rule(struct landlock_domain *landlock, int fd,
                    enum path_access access)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = fd};
    struct stat st;

    if (fstat(fd, &st) == -1)
        return -errno;
    rule.allowed_access = rights_to(access, st.st_mode) & landlock->handled;
    /* EBADFD means that the file is in no file tree, like a pipe behind
     * /dev/stdout. Such files are never refused, and need no rule. */
    if (syscall(SYS_landlock_add_rule, landlock->fd, LANDLOCK_RULE_PATH_BENEATH,
                &rule, 0) == -1 &&
        errno != EBADFD)
        return -errno;
    landlock->rules[landlock->rule_count++] = (struct path_rule){
        .device = st.st_dev, .inode = st.st_ino, .rights = rule.allowed_access};
    return 0;
}

int landlock_domain_permit(struct landlock_domain *landlock, const char *path,
                           enum path_access access)
{
    int fd;
    int err;

    if (landlock->rule_count == landlock->rules_max)
        return -E2BIG;
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd == -1)
        return -errno;
    err = add_rule(landlock, fd, access);
    close(fd);
    return err;
}

int landlock_domain_enter(struct landlock_domain *landlock)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
        syscall(SYS_landlock_restrict_self, landlock->fd, 0) == -1)
        return -errno;
    close(landlock->fd);
    landlock->fd = -1;
    landlock->is_entered = true;
    return 0;
}

/* --- Asking -------------------------------------------------------------- */

static uint64_t rights_by_rules(const struct landlock_domain *landlock,
                                const struct stat *st)
{
    uint64_t rights = 0;

    for (size_t i = 0; i < landlock->rule_count; i++)
        if (landlock->rules[i].device == st->st_dev &&
            landlock->rules[i].inode == st->st_ino)
            rights |= landlock->rules[i].rights;
    return rights;
}

/* Whether the rules allow access to `path`. Like the kernel, the loop goes from
 * the file up to the root, and adds up the rights of all rules on the way. */
bool landlock_domain_allows(const struct landlock_domain *landlock,
                            const char *path, enum path_access access)
{
    char directory[PATH_MAX];
    char real[PATH_MAX];
    uint64_t missing;
    struct stat st;

    if (!realpath(path, real) &&
        (find_directory(directory, path) != 0 || !realpath(directory, real)))
        return false;
    if (stat(real, &st) == -1)
        return false;
    missing = rights_to(access, st.st_mode) & landlock->handled;
    for (;;) {
        char *slash = strrchr(real, '/');

        missing &= ~rights_by_rules(landlock, &st);
        if (missing == 0)
            return true;
        if (real[1] == '\0')
            return false;
        slash[slash == real] = '\0';
        if (stat(real, &st) == -1)
            return false;
    }
}
