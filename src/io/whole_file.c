#include "io/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

static int write_all(int fd, struct bytes text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.data, text.len);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1)
            return -errno;
        text.data += n;
        text.len -= (size_t)n;
    }
    return 0;
}

/* Chooses a hidden name, a new one each time, so that a file left by a crash is
 * in nobody's way. */
static int choose_name(char other[NAME_MAX + 1], const char *name)
{
    uint64_t number;
    int len;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return -errno;
    len = snprintf(other, NAME_MAX + 1, ".%s.%016llx", name,
                   (unsigned long long)number);
    return len <= NAME_MAX ? 0 : -ENAMETOOLONG;
}

/* Writes `text` to a new file. fchmod() sets the file's mode, because open()
 * leaves out the bits of the umask. */
static int write_other(int folder, const char *other, struct bytes text,
                       mode_t mode)
{
    int err = 0;
    int fd = openat(folder, other,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);

    if (fd == -1)
        return -errno;
    err = write_all(fd, text);
    if (err == 0 && (fchmod(fd, mode) == -1 || fsync(fd) == -1))
        err = -errno;
    if (close(fd) == -1 && err == 0)
        err = -errno;
    if (err != 0)
        unlinkat(folder, other, 0);
    return err;
}

/* Writes the text into a file with another name; then `settle` gives the file
 * its own name. */
static int write_whole(int folder, const char *name, struct bytes text,
                       mode_t mode,
                       int (*settle)(int folder, const char *other,
                                     const char *name))
{
    char other[NAME_MAX + 1];
    int err = choose_name(other, name);

    if (err == 0)
        err = write_other(folder, other, text, mode);
    if (err != 0)
        return err;
    if (settle(folder, other, name) == 0)
        return whole_file_sync_folder(folder);
    err = -errno;
    unlinkat(folder, other, 0);
    return err;
}

/* Gives the new file its name by link(), which unlike rename() takes no name
 * away from another file. */
static int settle_new(int folder, const char *other, const char *name)
{
    if (linkat(folder, other, folder, name, 0) == -1)
        return -1;
    unlinkat(folder, other, 0);
    return 0;
}

static int settle_over(int folder, const char *other, const char *name)
{
    return renameat(folder, other, folder, name);
}

int whole_file_sync_folder(int folder)
{
    /* Some file systems cannot sync folders. */
    return fsync(folder) == -1 && errno != EINVAL ? -errno : 0;
}

int whole_file_sync_folder_name(int folder)
{
    int above = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = above == -1 ? 0 : whole_file_sync_folder(above);

    if (above != -1)
        close(above);
    return err;
}

int whole_file_create(int folder, const char *name, struct bytes text,
                      mode_t mode)
{
    return write_whole(folder, name, text, mode, settle_new);
}

int whole_file_replace(int folder, const char *name, struct bytes text,
                       mode_t mode)
{
    return write_whole(folder, name, text, mode, settle_over);
}

int whole_file_read(int folder, const char *name, uid_t owner, size_t bytes_max,
                    struct small_file *file)
{
    int fd = openat(folder, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int err;

    *file = (struct small_file){0};
    if (fd == -1)
        return errno == ELOOP ? -EACCES : -errno;
    err = small_file_read_open(file, fd, bytes_max);
    close(fd);
    if (err == -EISDIR || err == -EINVAL)
        return -EACCES;
    if (err != 0 || file->seen.st_uid == owner)
        return err;
    small_file_fini(file);
    return -EACCES;
}
