#include "files/docroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A rename anywhere in the tree may make a confined lookup fail with EAGAIN
 * (openat2(2)). The lookup is tried again, but not for ever. */
enum { LOOKUP_TRIES = 8 };

static int open_in_kernel(const struct docroot *root, const char *path,
                          int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                           .resolve = root->resolve};

    for (int tries = LOOKUP_TRIES;;) {
        long fd = syscall(SYS_openat2, root->fd, path[0] ? path : ".", &how,
                          sizeof(how));

        if (fd != -1)
            return (int)fd;
        if ((errno != EAGAIN && errno != EINTR) || --tries == 0)
            return -errno;
    }
}

static int open_freely(const struct docroot *root, const char *path, int flags)
{
    int fd = openat(root->fd, path[0] ? path : ".", flags | O_CLOEXEC);

    return fd == -1 ? -errno : fd;
}

/* Opens the name of `len` bytes in the directory `dir`. Refuses "..", and names
 * of symlinks. */
static int open_name(int dir, const char *text, size_t len, int flags)
{
    char name[NAME_MAX + 1];
    int fd;

    if (len > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, text, len);
    name[len] = '\0';
    if (strcmp(name, "..") == 0)
        return -EXDEV;
    fd = openat(dir, len > 0 ? name : ".", flags | O_NOFOLLOW | O_CLOEXEC);
    return fd == -1 ? -errno : fd;
}

/* Opens the names of a path one after the other, and follows no symlinks. This
 * is for kernels without openat2, and for tools that imitate such kernels. */
static int open_by_steps(const struct docroot *root, const char *path,
                         int flags)
{
    int dir = root->fd;

    for (;;) {
        size_t len = strcspn(path, "/");
        bool is_last = path[len] == '\0';
        int fd = open_name(dir, path, len,
                           is_last ? flags : O_PATH | O_DIRECTORY);

        if (dir != root->fd)
            close(dir);
        if (fd < 0 || is_last)
            return fd;
        dir = fd;
        path += len + 1;
    }
}

static int confined_open(const struct docroot *root, const char *path,
                         int flags)
{
    if (root->has_openat2)
        return open_in_kernel(root, path, flags);
    if (!(root->resolve & RESOLVE_BENEATH))
        return open_freely(root, path, flags);
    return open_by_steps(root, path, flags);
}

int docroot_open(struct docroot *root, const char *directory,
                 bool follow_symlinks)
{
    int fd;

    root->resolve = RESOLVE_NO_MAGICLINKS;
    if (!follow_symlinks)
        root->resolve |= RESOLVE_BENEATH;
    root->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root->fd == -1)
        return -errno;
    root->has_openat2 = true;
    fd = confined_open(root, "", O_RDONLY | O_DIRECTORY);
    if (fd == -ENOSYS) {
        root->has_openat2 = false;
        fd = confined_open(root, "", O_RDONLY | O_DIRECTORY);
    }
    if (fd < 0) {
        docroot_close(root);
        return fd;
    }
    close(fd);
    return 0;
}

void docroot_close(struct docroot *root)
{
    if (root->fd >= 0)
        close(root->fd);
    root->fd = -1;
}

static bool is_servable(const struct stat *st)
{
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

int docroot_open_file(const struct docroot *root, const char *path,
                      struct stat *st)
{
    /* The stat comes first, since it opens nothing, whatever the path leads to.
     * It may look outside of the root, but the open afterwards is confined. */
    int err = docroot_stat(root, path, st);
    int fd;

    if (err == 0 && !is_servable(st))
        err = -EPERM;
    if (err != 0)
        return err;
    fd = confined_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    if (fstat(fd, st) == -1)
        err = -errno;
    else if (!is_servable(st)) /* replaced since the stat */
        err = -EPERM;
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

int docroot_stat(const struct docroot *root, const char *path, struct stat *st)
{
    return fstatat(root->fd, path, st, AT_EMPTY_PATH) == -1 ? -errno : 0;
}
