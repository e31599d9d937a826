#include "tools/authority_folder.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine/safe_path.h"

static int complain(struct local_authority_fault *fault, const char *folder,
                    int err)
{
    snprintf(fault->text, sizeof(fault->text), "'%s': %s", folder,
             strerror(-err));
    return err;
}

/* Refuses a folder that belongs to `owner`. In the message, `why` follows the
 * owner's name. */
static int refuse(struct local_authority_fault *fault, const char *folder,
                  uid_t owner, const char *why)
{
    char name[IDENTITY_NAME_SIZE];

    identity_name(name, owner);
    snprintf(fault->text, sizeof(fault->text), "'%s' is of user %s%s", folder,
             name, why);
    return -EPERM;
}

static const char by_others[] = ", and others than root and that user can "
                                "write there or on the way, and so "
                                "lead this elsewhere";

/* Returns the user who called sudo, or else the user of this process. */
static uid_t find_caller(void)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    char *end = NULL;
    unsigned long uid = text ? strtoul(text, &end, 10) : 0;

    return text && byte_is_digit(*text) && *end == '\0' && uid < UINT32_MAX
               ? (uid_t)uid
               : geteuid();
}

bool authority_folder_is_own(uid_t owner)
{
    return owner == 0 || owner == geteuid() || owner == find_caller();
}

static bool is_called(uid_t owner, const char *name)
{
    const struct passwd *user = getpwuid(owner);
    char number[16];

    snprintf(number, sizeof(number), "%u", (unsigned)owner);
    return strcmp(name, number) == 0 ||
           (user && strcmp(name, user->pw_name) == 0);
}

/* Checks that the owner is allowed. Returns 0 or -errno. */
static int expect_owner(const struct authority_folder *folder, uid_t owner,
                        struct local_authority_fault *fault)
{
    if (folder->owner && !is_called(owner, folder->owner))
        return refuse(fault, folder->path, owner, ", and not of the one named");
    if (folder->owner || (folder->is_named && authority_folder_is_own(owner)) ||
        owner == 0 || owner == geteuid())
        return 0;
    return refuse(fault, folder->path, owner,
                  ", who could be any web site for those who trust it: where "
                  "that is meant, name its folder, and that user behind it");
}

int authority_folder_open(const struct authority_folder *folder,
                          uid_t *owner_out, struct local_authority_fault *fault)
{
    struct stat named, opened;
    struct safe_folder about;
    uid_t trusted;
    int err;
    int fd;

    if (stat(folder->path, &named) == -1)
        return complain(fault, folder->path, -errno);
    *owner_out = named.st_uid;
    err = expect_owner(folder, named.st_uid, fault);
    if (err != 0)
        return err;
    /* Folders above root's folder may belong to the user who runs this
     * program. */
    trusted = named.st_uid == 0 ? geteuid() : named.st_uid;
    fd = safe_path_open_folder(folder->path, trusted, &about);
    if (fd < 0)
        return fd == -EPERM
                   ? refuse(fault, folder->path, named.st_uid, by_others)
                   : complain(fault, folder->path, fd);
    /* The path was judged for the owner that stat() has found. So the opened
     * folder must have the same owner. */
    if (!about.is_loose && fstat(fd, &opened) == 0 &&
        opened.st_uid == named.st_uid)
        return fd;
    close(fd);
    return refuse(fault, folder->path, named.st_uid, by_others);
}
