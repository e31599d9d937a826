#include "server/kv_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "server/safe_path.h"

/* For owners that no file of users knows: the group of nobody, who owns
 * nothing. The folder's own may be one that its owner is not in. */
enum { NO_GROUP = 65534, FOLDER_MODE = 0700 };

static int complain(const char *path, int err)
{
    fprintf(stderr, "sprintd: kv: '%s': %s\n", path, strerror(err));
    return err == EACCES ? EX_NOPERM : EX_IOERR;
}

/* For root, who goes on as root. */
static int refuse(const char *path)
{
    fprintf(stderr,
            "sprintd: kv: '%s' is root's, and others can write there or on the "
            "way, and so lead root elsewhere: run this as the user of the "
            "server\n",
            path);
    return EX_NOPERM;
}

/* Makes it the directory that one is in. 0, or an errno. */
static int enter(const char *path, int flags, struct stat *st_out)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    int err = 0;

    if (fd == -1)
        return errno;
    if (fchdir(fd) == -1 || fstat(fd, st_out) == -1)
        err = errno;
    close(fd);
    return err;
}

/* Enters where path's last name is looked up. */
static int enter_above(const char *path, struct stat *st_out)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    char above[PATH_MAX] = ".";

    if (len >= sizeof(above))
        return ENAMETOOLONG;
    if (len > 0)
        above[len] = '\0';
    memcpy(above, path, len);
    return enter(above, 0, st_out);
}

/* A directory at the end is none of a way's: -EISDIR says that it was reached.
 */
static bool is_safe_way(const char *path)
{
    struct safe_path at;
    int err = safe_path_open(&at, path, NULL);

    if (err == 0)
        safe_path_close(&at);
    return err == 0 || err == -EISDIR;
}

static int become(uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    struct identity identity;
    char text[32];
    int status;

    snprintf(text, sizeof(text), user ? "%u" : "%u:%u", (unsigned)uid,
             (unsigned)NO_GROUP);
    status = identity_find(&identity, text, NULL);
    return status == EX_OK ? identity_assume(&identity) : status;
}

/* Nobody can move what root makes where only root writes and leads, or where the
 * sticky bit is. */
static int make_as_root(const char *path, const char *name,
                        const struct stat *above, bool is_safe)
{
    bool is_shared = above->st_mode & (S_IWGRP | S_IWOTH);
    struct stat st = {0};
    int err;

    if (!(above->st_mode & S_ISVTX) && (is_shared || !is_safe))
        return refuse(path);
    if (mkdir(name, FOLDER_MODE) == -1)
        return complain(path, errno);
    err = enter(name, O_NOFOLLOW, &st);
    return err != 0 ? complain(path, err) : EX_OK;
}

static int become_maker(const char *path, bool is_safe, const char **path_out)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct stat st = {0};
    int err;

    if (*name == '\0')
        return complain(path, ENOENT);
    err = enter_above(path, &st);
    if (err != 0)
        return complain(path, err);
    if (st.st_uid == 0)
        return make_as_root(path, name, &st, is_safe);
    *path_out = name;
    return become(st.st_uid);
}

int kv_owner_become(const char *path, bool makes, const char **path_out)
{
    struct stat st = {0};
    bool is_safe;
    int err;

    *path_out = path;
    if (geteuid() != 0)
        return EX_OK;
    *path_out = ".";
    is_safe = is_safe_way(path); /* from where one still is */
    err = enter(path, 0, &st);
    if (err == ENOENT && makes)
        return become_maker(path, is_safe, path_out);
    if (err != 0)
        return complain(path, err);
    if (st.st_uid != 0)
        return become(st.st_uid);
    return !is_safe || st.st_mode & (S_IWGRP | S_IWOTH) ? refuse(path) : EX_OK;
}
