#include "confine/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINKS_MAX = 40 /* the kernel's limit */ };

/* The state of a walk: the directory that it has reached, and the rest of the
 * path. */
struct walk {
    const struct identity *who;
    uid_t trusted;      /* if `who` is NULL, this user is trusted like root */
    safe_path_see *see; /* NULL: the rights of `who` decide */
    void *context;
    int fd;            /* the directory reached so far */
    bool is_loose;     /* only the sticky bit protects entries of fd */
    bool is_anybodys;  /* see struct safe_folder */
    bool is_to_folder; /* the last directory is judged, too */
    unsigned links;
    char rest[PATH_MAX];
};

/* --- Rights -------------------------------------------------------------- */

static bool has_group(const struct identity *who, gid_t gid)
{
    for (int i = 0; i < who->group_count; i++)
        if (who->groups[i] == gid)
            return true;
    return who->gid == gid;
}

/* Returns true if an ACL may let others write the file. The mode's group bits
 * are the mask of an ACL, which limits the rights of all users and groups in
 * the ACL. An ACL that cannot be read counts as one that lets others write. */
static bool has_acl(int fd, const struct stat *st)
{
    char path[sizeof("/proc/self/fd/") + 11];

    if (!(st->st_mode & S_IWGRP))
        return false;
    /* fgetxattr() does not accept descriptors opened by O_PATH. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return getxattr(path, "system.posix_acl_access", NULL, 0) != -1 ||
           (errno != ENODATA && errno != ENOTSUP);
}

/* With `who`, returns true if `who` owns the file that `st` describes. If `who`
 * is NULL, returns true if the owner is neither root nor `trusted`. */
static bool is_owned(const struct stat *st, const struct identity *who,
                     uid_t trusted)
{
    return who ? st->st_uid == who->uid
               : st->st_uid != 0 && st->st_uid != trusted;
}

/* Whether `gid` is group 0, and only root is in that group. Returns false if
 * the group's members are unknown. */
static bool is_roots_group(gid_t gid)
{
    const struct group *group = gid == 0 ? getgrgid(gid) : NULL;

    if (!group)
        return false;
    for (char *const *name = group->gr_mem; *name; name++)
        if (strcmp(*name, "root") != 0)
            return false;
    return true;
}

static bool is_writable(const struct stat *st, bool by_acl,
                        const struct identity *who, uid_t trusted)
{
    if (!who)
        return is_owned(st, who, trusted) || (st->st_mode & S_IWOTH) ||
               ((st->st_mode & S_IWGRP) &&
                (by_acl || !is_roots_group(st->st_gid)));
    return st->st_uid == who->uid || (st->st_mode & S_IWOTH) ||
           ((st->st_mode & S_IWGRP) && (by_acl || has_group(who, st->st_gid)));
}

bool safe_path_is_writable(const struct safe_path *at,
                           const struct identity *who)
{
    return is_writable(&at->st, at->has_acl, who, 0);
}

/* --- Walking ------------------------------------------------------------- */

/* Judges a directory of the walk by the rights of `who`. Returns 0 or
 * -errno. */
static int judge(struct walk *walk, int fd, const struct stat *st)
{
    struct statfs system;

    if (fstatfs(fd, &system) == -1)
        return -errno;
    if (system.f_type == PROC_SUPER_MAGIC ||
        is_owned(st, walk->who, walk->trusted))
        return -EPERM;
    walk->is_loose = is_writable(st, has_acl(fd, st), walk->who, walk->trusted);
    return walk->is_loose && !(st->st_mode & S_ISVTX) ? -EPERM : 0;
}

/* Moves the walk to the directory `fd` if it is accepted, and otherwise closes
 * `fd`. Returns 0 or -errno. */
static int enter(struct walk *walk, int fd)
{
    struct stat st;
    int err = 0;

    if (fd == -1)
        return -errno;
    if (fstat(fd, &st) == -1)
        err = -errno;
    else if (!S_ISDIR(st.st_mode))
        err = -ENOTDIR;
    else if (!walk->see)
        err = judge(walk, fd, &st);
    else if (!walk->see(walk->context, fd))
        err = -EPERM;
    if (err != 0) {
        close(fd);
        return err;
    }
    if (walk->fd != -1)
        close(walk->fd);
    walk->fd = fd;
    return 0;
}

static int enter_start(struct walk *walk, const char *path)
{
    return enter(walk, open(*path == '/' ? "/" : ".",
                            O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Whether the rest of the path is empty, or only slashes. Slashes mean that the
 * last name is a directory. */
static bool has_ended(const struct walk *walk)
{
    return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* Removes the next name from the rest of the path. Returns false if there is
 * none, or if it is too long. */
static bool take_name(struct walk *walk, char name[NAME_MAX + 1])
{
    size_t skip = strspn(walk->rest, "/");
    size_t len = strcspn(walk->rest + skip, "/");

    if (len == 0 || len > NAME_MAX)
        return false;
    memcpy(name, walk->rest + skip, len);
    name[len] = '\0';
    memmove(walk->rest, walk->rest + skip + len,
            strlen(walk->rest + skip + len) + 1);
    return true;
}

/* Puts the target of a symlink before the rest of the path. Returns 0 or
 * -errno. */
static int follow(struct walk *walk, const char *name)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(walk->fd, name, target, sizeof(target) - 1);
    size_t rest_len = strlen(walk->rest);

    if (len == -1)
        return -errno;
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    if ((size_t)len + rest_len >= sizeof(walk->rest))
        return -ENAMETOOLONG;
    memmove(walk->rest + len, walk->rest, rest_len + 1);
    memcpy(walk->rest, target, (size_t)len);
    return *target == '/' ? enter_start(walk, target) : 0;
}

/* Returns true if, in the directory that the walk has reached, no other user
 * can replace the file that `st` describes. */
static bool is_fixed(const struct walk *walk, const struct stat *st)
{
    return !walk->is_loose ||
           (S_ISDIR(st->st_mode) && !is_owned(st, walk->who, walk->trusted));
}

/* Follows the next name. Returns 0 if the walk goes on, 1 if it has ended and
 * `at` is set, -EISDIR if it has ended in a directory, or another -errno. */
static int step(struct walk *walk, struct safe_path *at)
{
    bool is_last;
    int fd;

    if (!take_name(walk, at->name))
        return has_ended(walk) ? -EISDIR : -ENAMETOOLONG;
    if (strcmp(at->name, ".") == 0 || strcmp(at->name, "..") == 0)
        return enter(walk, openat(walk->fd, at->name,
                                  O_PATH | O_DIRECTORY | O_CLOEXEC));
    is_last = has_ended(walk);
    fd = openat(walk->fd, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1) {
        at->exists = false;
        return errno != ENOENT  ? -errno
               : walk->is_loose ? -EPERM /* anybody could create it */
               : !is_last       ? -ENOENT
                                : 1;
    }
    if (fstat(fd, &at->st) == -1 || !is_fixed(walk, &at->st)) {
        close(fd);
        return -EPERM;
    }
    walk->is_anybodys |= walk->is_loose && at->st.st_uid != 0;
    at->exists = true;
    at->has_acl = !walk->see && !S_ISLNK(at->st.st_mode) &&
                  has_acl(fd, &at->st);
    if (!S_ISLNK(at->st.st_mode) && (!is_last || walk->is_to_folder))
        return enter(walk, fd);
    close(fd);
    return S_ISLNK(at->st.st_mode) ? follow(walk, at->name) : 1;
}

/* Walks the whole path. Returns 0 with `at` open, or -errno. */
static int go(struct walk *walk, struct safe_path *at, const char *path)
{
    size_t len = strlen(path);
    int err;

    if (len == 0 || len >= sizeof(walk->rest))
        return len == 0 ? -ENOENT : -ENAMETOOLONG;
    memcpy(walk->rest, path, len + 1);
    err = enter_start(walk, path);
    while (err == 0)
        err = step(walk, at);
    if (err == -EISDIR && walk->is_to_folder)
        err = 0;
    else if (err == 1 && walk->is_to_folder)
        err = -ENOENT;
    if (err < 0) {
        if (walk->fd != -1)
            close(walk->fd);
        return err;
    }
    at->fd = walk->fd;
    return 0;
}

int safe_path_open(struct safe_path *at, const char *path,
                   const struct identity *who)
{
    struct walk walk = {.who = who, .fd = -1};

    return go(&walk, at, path);
}

int safe_path_open_folder(const char *path, uid_t owner,
                          struct safe_folder *about_out)
{
    struct walk walk = {.trusted = owner, .is_to_folder = true, .fd = -1};
    struct safe_path at;
    int err = go(&walk, &at, path);

    *about_out = (struct safe_folder){.is_loose = walk.is_loose,
                                      .is_anybodys = walk.is_anybodys};
    return err != 0 ? err : at.fd;
}

int safe_path_walk(const char *path, safe_path_see *see, void *context)
{
    struct walk walk = {.see = see, .context = context, .fd = -1};
    struct safe_path at;
    int err = go(&walk, &at, path);

    if (err == 0)
        safe_path_close(&at);
    return err;
}

void safe_path_close(struct safe_path *at)
{
    close(at->fd);
    at->fd = -1;
}
