#include "tools/kv_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "confine/folder_files.h"
#include "confine/folder_owner.h"
#include "confine/narrow_terminal.h"
#include "kv/lmdb/kv_lmdb.h"

enum { FOLDER_MODE = 0700 };

static int complain(const char *path, int err)
{
    fprintf(stderr, "sprintd: kv: '%s': %s\n", path, strerror(err));
    return err == EACCES ? EX_NOPERM : EX_IOERR;
}

/* Refuses a folder, and names its owner. The message does not advise to run the
 * command as the owner, since others may have chosen where the path leads. */
static int refuse(const char *path, uid_t owner)
{
    char name[IDENTITY_NAME_SIZE];

    identity_name(name, owner);
    fprintf(stderr,
            "sprintd: kv: '%s': others than root%s%s can write there or on the "
            "way, and so lead root elsewhere: run this as the user of the "
            "server, or take that right from them\n",
            path, owner != 0 ? " and " : "", owner != 0 ? name : "");
    return EX_NOPERM;
}

/* Refuses to make a store in a folder that another user has made, since this
 * user could read everything that is written there. */
static int refuse_gift(const char *path, uid_t owner)
{
    char name[IDENTITY_NAME_SIZE];

    identity_name(name, owner);
    fprintf(stderr,
            "sprintd: kv: '%s' stands where anybody can make a folder, and is "
            "of user %s: when that is the user of the server, run this as "
            "that user\n",
            path, name);
    return EX_NOPERM;
}

/* Copies the folder that contains `path` into `above`, and returns the last
 * name of `path`. Returns NULL if `path` is too long. */
static const char *split(const char *path, char above[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;

    if (len >= PATH_MAX)
        return NULL;
    snprintf(above, PATH_MAX, "%.*s", (int)len, path);
    if (len == 0)
        memcpy(above, ".", sizeof("."));
    return path + len;
}

/* Enters `folder`, if only root and the folder's owner can make its path lead
 * elsewhere. `path` is for messages. Returns EX_OK, or a status after one line
 * on stderr. */
static int enter(const char *path, const char *folder, struct stat *st_out,
                 struct safe_folder *about_out)
{
    int fd = folder_owner_open(folder, st_out, about_out);
    int status = EX_OK;

    if (fd < 0)
        return fd == -EPERM ? refuse(path, st_out->st_uid)
                            : complain(path, -fd);
    if (fchdir(fd) == -1)
        status = complain(path, errno);
    close(fd);
    return status;
}

/* Becomes the user `uid` before the store is read, since the store's data might
 * take this process over. */
static int become(uid_t uid, bool reads)
{
    int err = narrow_terminal_leave(reads);

    return err == 0 ? folder_owner_become(uid) : complain("the terminal", -err);
}

/* Makes the folder as root, in a folder of root's. No other user can replace
 * the new folder: even if others can write there, the sticky bit prevents a
 * replacement. */
static int make_as_root(const char *path, const char *name)
{
    int status = EX_OK;
    int fd;

    if (mkdir(name, FOLDER_MODE) == -1)
        return complain(path, errno);
    fd = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1 || fchdir(fd) == -1)
        status = complain(path, errno);
    if (fd != -1)
        close(fd);
    return status;
}

static int become_maker(const char *path, const char **path_out)
{
    char above[PATH_MAX];
    const char *name = split(path, above);
    struct safe_folder about;
    struct stat st;
    int status;

    if (!name || *name == '\0')
        return complain(path, name ? ENOENT : ENAMETOOLONG);
    status = enter(path, above, &st, &about);
    if (status != EX_OK)
        return status;
    if (st.st_uid == 0)
        return make_as_root(path, name);
    if (about.is_anybodys)
        return refuse_gift(path, st.st_uid);
    /* The store will be made by its name. In a folder where only the sticky bit
     * protects entries, others could take the name first. */
    if (about.is_loose)
        return refuse(path, st.st_uid);
    *path_out = name;
    return become(st.st_uid, true);
}

/* Checks the store's files in `folder`, a descriptor or AT_FDCWD. LMDB would
 * hang when it opens a FIFO. Root must not read a store that another user has
 * written in root's folder. */
static int check_files(const char *path, int folder, bool is_roots)
{
    struct folder_files_fault fault;

    if (folder_files_check(folder, kv_lmdb_files, is_roots, &fault))
        return EX_OK;
    fprintf(stderr, "sprintd: kv: '%s/%s': %s\n", path, fault.name, fault.text);
    return fault.status;
}

static int check_own(const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int status;

    if (fd == -1)
        return EX_OK; /* opening the store will report the error */
    status = check_files(path, fd, false);
    close(fd);
    return status;
}

int kv_owner_become(const char *path, bool makes, const char **path_out)
{
    struct safe_folder about;
    struct stat st;
    int status;

    *path_out = path;
    if (geteuid() != 0)
        return check_own(path);
    *path_out = ".";
    if (makes && stat(path, &st) == -1 && errno == ENOENT)
        return become_maker(path, path_out);
    status = enter(path, path, &st, &about);
    if (status != EX_OK)
        return status;
    /* LMDB would follow links that others have put into the folder. */
    if (about.is_loose)
        return refuse(path, st.st_uid);
    if (makes && about.is_anybodys)
        return refuse_gift(path, st.st_uid);
    status = check_files(path, AT_FDCWD, st.st_uid == 0);
    if (status != EX_OK)
        return status;
    return st.st_uid != 0 ? become(st.st_uid, makes) : EX_OK;
}

/* --- Where a copy goes --------------------------------------------------- */

/* Opens the folder of a copy for root, if only root can change its path. A path
 * that the store's owner can change, too, must lead to a folder of this owner,
 * who could write any copy there anyway. Returns a descriptor or -errno. */
static int open_by_root(const char *store, const char *folder,
                        struct safe_folder *about_out)
{
    struct stat st, there;
    int fd = safe_path_open_folder(folder, 0, about_out);

    if (fd != -EPERM || stat(store, &st) == -1)
        return fd;
    fd = safe_path_open_folder(folder, st.st_uid, about_out);
    if (fd < 0 || (fstat(fd, &there) == 0 && there.st_uid == st.st_uid))
        return fd;
    close(fd);
    return -EPERM;
}

static int open_target(const char *store, const char *folder,
                       const struct kv_target *target)
{
    struct safe_folder about;
    int fd;

    if (geteuid() != 0) {
        fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd == -1 ? -errno : fd;
    }
    fd = open_by_root(store, folder, &about);
    /* Others may be able to write to the folder. If it has the sticky bit, they
     * cannot move a file or folder of root's. */
    if (fd < 0 || !about.is_loose || *target->new)
        return fd;
    close(fd);
    return -EPERM;
}

static int refuse_target(const char *to)
{
    fprintf(stderr,
            "sprintd: kv: '%s': others than root can write there or on the "
            "way, and so lead root elsewhere: run this as the user of the "
            "server, or name a folder where only root can write\n",
            to);
    return EX_NOPERM;
}

int kv_owner_open_target(struct kv_target *target, const char *store,
                         const char *to)
{
    char folder[PATH_MAX], above[PATH_MAX];
    const char *name;
    size_t len = strlen(to);
    struct stat st;

    *target = (struct kv_target){.to = to};
    while (len > 1 && to[len - 1] == '/')
        len--;
    if (len >= sizeof(folder))
        return complain(to, ENAMETOOLONG);
    snprintf(folder, sizeof(folder), "%.*s", (int)len, to);
    if (stat(to, &st) == -1 && errno == ENOENT) {
        name = split(folder, above);
        if (!name || *name == '\0' || strlen(name) > NAME_MAX)
            return complain(to, name && *name == '\0' ? ENOENT : ENAMETOOLONG);
        memcpy(target->new, name, strlen(name) + 1);
    }
    target->folder = open_target(store, *target->new ? above : folder, target);
    if (target->folder < 0)
        return target->folder == -EPERM ? refuse_target(to)
                                        : complain(to, -target->folder);
    return EX_OK;
}
