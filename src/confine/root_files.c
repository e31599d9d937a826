#include "confine/root_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine/safe_path.h"
#include "io/listener.h"

/* --- Files --------------------------------------------------------------- */

/* Whether root may use the file: it is a regular file of root or of the
 * identity's user, and has a single name. With a second name (a hard link),
 * another user could make root change a file of the user's choice. */
static bool is_plain(const struct safe_path *at,
                     const struct identity *identity)
{
    return S_ISREG(at->st.st_mode) && at->st.st_nlink == 1 &&
           (at->st.st_uid == 0 || at->st.st_uid == identity->uid);
}

static bool is_stream(const struct safe_path *at)
{
    return S_ISCHR(at->st.st_mode) || S_ISFIFO(at->st.st_mode);
}

static int open_existing(const struct safe_path *at, int flags)
{
    int fd = openat(at->fd, at->name,
                    flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return fd == -1 ? -errno : fd;
}

static int make(const struct safe_path *at, int flags, mode_t mode,
                const struct identity *owner)
{
    int fd = openat(at->fd, at->name,
                    flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int err;

    if (fd == -1)
        return -errno;
    if (!owner || fchown(fd, owner->uid, owner->gid) == 0)
        return fd;
    err = -errno;
    close(fd);
    return err;
}

static int open_append(const struct safe_path *at,
                       const struct identity *identity)
{
    int flags = O_WRONLY | O_APPEND;

    if (!at->exists)
        return make(at, flags | O_NONBLOCK, 0640, identity);
    return is_plain(at, identity) || is_stream(at) ? open_existing(at, flags)
                                                   : -EACCES;
}

static int open_pid(const struct safe_path *at, const struct identity *identity)
{
    if (!at->exists)
        return make(at, O_RDWR, FILE_PID_MODE, NULL);
    return is_plain(at, identity) ? open_existing(at, O_RDWR) : -EACCES;
}

static int make_private(const struct safe_path *at,
                        const struct identity *identity)
{
    int fd = at->exists && is_plain(at, identity) ? open_existing(at, O_RDONLY)
                                                  : -EACCES;
    int err = 0;

    if (fd < 0)
        return fd;
    if (fchmod(fd, FILE_PID_MODE) == -1)
        err = -errno;
    close(fd);
    return err;
}

/* Binds the socket by its path, since there is no bindat(2). This is safe, as
 * nobody else can redirect the path. */
static int open_socket(const struct safe_path *at, const char *path,
                       const struct identity *owner)
{
    struct listener listener;
    int err = owner ? listener_open_private(&listener, path)
                    : listener_open_unix(&listener, path);

    if (err != 0)
        return err;
    if (!owner || fchownat(at->fd, at->name, owner->uid, owner->gid,
                           AT_SYMLINK_NOFOLLOW) == 0)
        return listener.fd;
    err = -errno;
    listener_close(&listener);
    return err;
}

static int remove_file(const struct safe_path *at)
{
    if (!at->exists || (!S_ISSOCK(at->st.st_mode) && !S_ISREG(at->st.st_mode)))
        return -EACCES;
    return unlinkat(at->fd, at->name, 0) == -1 ? -errno : 0;
}

static int serve(const struct safe_path *at, enum file_need need,
                 const char *path, const struct identity *identity)
{
    switch (need) {
    case FILE_READ:
        return at->exists && is_plain(at, identity)
                   ? open_existing(at, O_RDONLY)
                   : -EACCES;
    case FILE_APPEND:
        return open_append(at, identity);
    case FILE_PID:
        return open_pid(at, identity);
    case FILE_LISTEN:
        return open_socket(at, path, NULL);
    case FILE_LISTEN_PRIVATE:
        return open_socket(at, path, identity);
    case FILE_PRIVATE:
        return make_private(at, identity);
    case FILE_REMOVE:
        return remove_file(at);
    case FILE_NUMBER: /* whoever has the file open can write it */
        break;
    }
    return -EACCES;
}

/* --- As root ------------------------------------------------------------- */

/* Returns true if this process, which is root, uses files with the rights of
 * another user. */
static bool is_lowered(const struct identity *identity)
{
    return identity->changes && geteuid() == 0 && !identity_is_root_for_files();
}

static int open_as_root(void *context, enum file_need need, const char *path)
{
    const struct identity *identity = context;
    struct safe_path at;
    int result;

    if (!is_lowered(identity))
        return -EACCES; /* root's rights apply already, and do not help */
    identity_raise();
    result = safe_path_open(&at, path, NULL);
    if (result == 0) {
        result = serve(&at, need, path, identity);
        safe_path_close(&at);
    } else if (result == -EPERM) {
        result = -EACCES;
    }
    identity_lower(identity);
    return result;
}

/* Creates a folder as root, and gives it to the user. With `is_way`, the folder
 * lies above the user's folder: it stays root's, and everybody may pass through
 * it. */
static int make_folder_as_root(const struct safe_path *at,
                               const struct identity *identity, bool is_way)
{
    int err = 0;
    int fd;

    if (mkdirat(at->fd, at->name, 0700) == -1)
        return -errno;
    fd = openat(at->fd, at->name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1 || (is_way ? fchmod(fd, 0755)
                            : fchown(fd, identity->uid, identity->gid)) == -1)
        err = -errno;
    if (fd != -1)
        close(fd);
    return err;
}

/* Syncs the directory entry of a new folder. Otherwise a crash could lose the
 * folder with all files in it. Does nothing if the user may not open the folder
 * above. */
static void sync_name(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int above = folder == -1
                    ? -1
                    : openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (above != -1) {
        (void)fsync(above);
        close(above);
    }
    if (folder != -1)
        close(folder);
}

static int make_folder(const struct identity *identity, const char *path,
                       bool is_way)
{
    struct safe_path at;
    int err = mkdir(path, 0700) == -1 ? -errno : 0;

    if (err == 0)
        sync_name(path);
    if ((err != -EACCES && err != -EPERM) || !is_lowered(identity))
        return err;
    identity_raise();
    err = safe_path_open(&at, path, NULL);
    if (err == 0) {
        err = make_folder_as_root(&at, identity, is_way);
        safe_path_close(&at);
    } else if (err == -EPERM) {
        err = -EACCES;
    }
    identity_lower(identity);
    if (err == 0)
        sync_name(path);
    return err;
}

int root_files_make_folder(const struct identity *identity, const char *path)
{
    return make_folder(identity, path, false);
}

void root_files_make_folders(const struct identity *identity,
                             const char *folder)
{
    char path[PATH_MAX];

    for (size_t i = 1; folder[i - 1] != '\0' && i < sizeof(path); i++) {
        if (folder[i] != '/' && folder[i] != '\0')
            continue;
        memcpy(path, folder, i);
        path[i] = '\0';
        (void)!make_folder(identity, path,
                           folder[i + strspn(folder + i, "/")] != '\0');
    }
}

void root_files_begin(const struct identity *identity)
{
    const struct file_broker broker = {.open = open_as_root,
                                       .context = (void *)(uintptr_t)identity};

    if (is_lowered(identity))
        file_broker_set(&broker);
}

void root_files_end(void)
{
    file_broker_set(NULL);
}

/* Checks that nobody but root can write in an existing folder or redirect its
 * path. Returns 0, -EPERM if others can, or another -errno. With allows_sticky,
 * a folder with the sticky bit, like /tmp, is accepted. */
static int check_folder(const char *folder, bool allows_sticky)
{
    struct safe_folder about;
    int fd = safe_path_open_folder(folder, 0, &about);

    if (fd < 0)
        return fd;
    close(fd);
    return about.is_loose && !allows_sticky ? -EPERM : 0;
}

int root_files_check_way(const char *folder)
{
    char path[PATH_MAX];
    size_t len = strlen(folder), missing = 0;
    struct stat st;

    if (!identity_is_root_for_files())
        return 0;
    if (len >= sizeof(path))
        return -ENAMETOOLONG;
    memcpy(path, folder, len + 1);
    while (stat(path, &st) == -1) {
        if (errno != ENOENT)
            return -errno;
        while (len > 0 && path[len - 1] == '/')
            len--;
        while (len > 0 && path[len - 1] != '/')
            len--;
        missing++;
        snprintf(path + len, sizeof(path) - len, "%s", len == 0 ? "." : "");
    }
    /* If only the last name is missing, a sticky folder is accepted: root then
     * creates the new folder directly in it, and nobody else can replace that
     * folder. */
    return check_folder(path, missing == 1);
}

int root_files_check_folder(const char *folder)
{
    return identity_is_root_for_files() ? check_folder(folder, false) : 0;
}

int root_files_settle_folder(const struct identity *identity,
                             const char *folder)
{
    int err = root_files_check_way(folder);

    if (err == 0)
        err = root_files_make_folder(identity, folder);
    return err == 0 || err == -EEXIST ? root_files_check_folder(folder) : err;
}

const char *root_files_explain(int err)
{
    return err == -EPERM && identity_is_root_for_files()
               ? "others than root can write there or on the way, and so lead "
                 "root elsewhere: give it, and the way to it, to root alone "
                 "(chown root, chmod go-w), or have a --user for the server"
               : strerror(-err);
}
