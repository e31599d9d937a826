#include "io/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_broker.h"

/* Reads the file. `room` is one byte more than the file may have. If that byte
 * is read, the file is too long; otherwise the NUL goes there. */
static int read_all(struct small_file *file, int fd, size_t room)
{
    while (file->len < room) {
        ssize_t n = read(fd, file->text + file->len, room - file->len);

        if (n == -1 && errno == EINTR)
            continue;
        if (n == -1)
            return -errno;
        if (n == 0) {
            file->text[file->len] = '\0';
            return 0;
        }
        file->len += (size_t)n;
    }
    return -EFBIG;
}

int small_file_read_open(struct small_file *file, int fd, size_t bytes_max)
{
    char *shorter;
    int err;

    *file = (struct small_file){0};
    if (fstat(fd, &file->seen) == -1)
        return -errno;
    if (!S_ISREG(file->seen.st_mode))
        return S_ISDIR(file->seen.st_mode) ? -EISDIR : -EINVAL;
    if ((uint64_t)file->seen.st_size > bytes_max)
        return -EFBIG;
    file->text = malloc(bytes_max + 1);
    if (!file->text)
        return -ENOMEM;
    err = read_all(file, fd, bytes_max + 1);
    if (err != 0) {
        small_file_fini(file);
        return err;
    }
    shorter = realloc(file->text, file->len + 1);
    if (shorter)
        file->text = shorter;
    return 0;
}

/* Reads a file. O_NONBLOCK keeps open() from waiting for the writer of a pipe;
 * the pipe is refused afterwards. */
int small_file_read(struct small_file *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int err;

    *file = (struct small_file){0};
    if (fd == -1)
        fd = file_broker_ask(FILE_READ, path, -errno);
    if (fd < 0)
        return fd;
    err = small_file_read_open(file, fd, SMALL_FILE_BYTES_MAX);
    close(fd);
    return err;
}

const char *small_file_fault(int err)
{
    switch (err) {
    case -EINVAL:
    case -EISDIR:
        return "it is no file";
    case -EFBIG:
        return "it has more than 1 MiB";
    default:
        return NULL;
    }
}

void small_file_fini(struct small_file *file)
{
    if (file->text)
        explicit_bzero(file->text, file->len);
    free(file->text);
    *file = (struct small_file){0};
}
