/*
 * place - a temporary folder of a test's own, removed with all that is in it.
 */
#ifndef UNIT_PLACE_H
#define UNIT_PLACE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_NAME_MAX = 64 };

struct place {
    char name[PLACE_NAME_MAX];
    int fd;
};

/* 0 or -1. */
static inline int place_open(struct place *place)
{
    const char *temp = getenv("TMPDIR");

    snprintf(place->name, sizeof(place->name), "%s/unit.XXXXXX",
             temp && strlen(temp) < 40 ? temp : "/tmp");
    place->fd = mkdtemp(place->name)
                    ? open(place->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                    : -1;
    return place->fd == -1 ? -1 : 0;
}

static inline int place_remove_one(const char *path, const struct stat *st,
                                   int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline int place_close(struct place *place)
{
    close(place->fd);
    return nftw(place->name, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The full path of a name in it; good until the next but three. */
static inline const char *place_path(const struct place *place,
                                     const char *name)
{
    static char paths[4][PLACE_NAME_MAX + 4096];
    static unsigned at;
    char *path = paths[at++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", place->name, name);
    return path;
}

/* Writes len bytes into a file, made or cut off before. The same inode stays
 * when it is there. 0 or -1. */
static inline int place_write_bytes(const struct place *place, const char *name,
                                    const void *data, size_t len)
{
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                    0644);
    bool ok = fd != -1 && write(fd, data, len) == (ssize_t)len;

    if (fd != -1)
        close(fd);
    return ok ? 0 : -1;
}

static inline int place_write(const struct place *place, const char *name,
                              const char *text)
{
    return place_write_bytes(place, name, text, strlen(text));
}

/* Sets when a file was last modified. 0 or -1. */
static inline int place_set_time(const struct place *place, const char *name,
                                 time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    return utimensat(place->fd, name, times, 0);
}

/* How many descriptors the process has open. */
static inline unsigned place_count_fds(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            count++;
    return count;
}

#endif
