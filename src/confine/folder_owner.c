#include "confine/folder_owner.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

/* The group for an owner who is not in the user database. It is the group of
 * the user nobody, which owns nothing. The folder's own group would be wrong,
 * since the owner need not be a member of it. */
enum { NO_GROUP = 65534 };

/* Returns the folder's path from the root on; NULL, with errno set, if the
 * working directory is gone, or the path is too long or empty. */
static const char *from_root(const char *folder, char absolute[PATH_MAX])
{
    size_t len;

    if (*folder == '/')
        return folder;
    if (*folder == '\0') { /* open(2) does the same for an empty path */
        errno = ENOENT;
        return NULL;
    }
    if (!getcwd(absolute, PATH_MAX))
        return NULL;
    len = strlen(absolute);
    if (snprintf(absolute + len, PATH_MAX - len, "/%s", folder) <
        (int)(PATH_MAX - len))
        return absolute;
    errno = ENAMETOOLONG;
    return NULL;
}

int folder_owner_open(const char *folder, struct stat *st_out,
                      struct safe_folder *about_out)
{
    char absolute[PATH_MAX];
    struct stat there;
    int err = 0;
    int fd;

    *st_out = (struct stat){0};
    folder = from_root(folder, absolute);
    if (!folder || stat(folder, st_out) == -1)
        return -errno;
    fd = safe_path_open_folder(folder, st_out->st_uid, about_out);
    if (fd < 0)
        return fd;
    /* The folder may have been replaced since stat(2): its owner must still be
     * the one for whom the path was judged. */
    if (fstat(fd, &there) == -1)
        err = -errno;
    else if (there.st_uid != st_out->st_uid)
        err = -EPERM;
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

int folder_owner_become(uid_t uid)
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
