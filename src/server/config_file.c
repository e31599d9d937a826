#include "server/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int config_file_read(const char *path, char **text_out, size_t *len_out)
{
    char *text = malloc(CONFIG_FILE_BYTES_MAX + 1);
    /* Not blocking: what is no file shall not make us wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t len = 0;
    ssize_t got = 1;
    struct stat st;
    int err = 0;

    if (!text)
        err = -ENOMEM;
    else if (fd == -1 || fstat(fd, &st) == -1)
        err = -errno;
    else if (!S_ISREG(st.st_mode))
        err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    while (err == 0 && got > 0) {
        got = read(fd, text + len, CONFIG_FILE_BYTES_MAX + 1 - len);
        if (got == -1 && errno != EINTR)
            err = -errno;
        else if (got == -1)
            got = 1;
        else
            len += (size_t)got;
        if (len > CONFIG_FILE_BYTES_MAX)
            err = -EFBIG;
    }
    if (fd != -1)
        close(fd);
    *text_out = text; /* the caller's, whatever it holds */
    *len_out = len;
    return err;
}

const char *config_file_folder(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    struct bytes folder = bytes_between(path, slash ? slash : path);
    char *current;
    char *whole;
    size_t len;

    if (*path == '/')
        return arena_text(arena, folder);
    current = getcwd(NULL, 0);
    if (!current)
        return NULL;
    len = strlen(current) + 1 + folder.len + 1;
    whole = arena_take(arena, len);
    if (whole)
        snprintf(whole, len, "%s%s%.*s", current, folder.len > 0 ? "/" : "",
                 (int)folder.len, folder.data);
    free(current);
    return whole;
}
