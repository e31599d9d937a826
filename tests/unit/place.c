#include "unit/place.h"

#include <stdbool.h>
#include <string.h>

int place_open(struct place *place)
{
    const char *temp = getenv("TMPDIR");

    snprintf(place->name, sizeof(place->name), "%s/unit.XXXXXX",
             temp && strlen(temp) < 40 ? temp : "/tmp");
    place->fd = mkdtemp(place->name)
                    ? open(place->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                    : -1;
    place->fds = place_count_fds();
    return place->fd == -1 ? -1 : 0;
}

int place_close(struct place *place)
{
    close(place->fd);
    return tree_remove(place->name);
}

int place_close_tidy(struct place *place)
{
    bool is_tidy = place_count_fds() == place->fds;

    return place_close(place) == 0 && is_tidy ? 0 : -1;
}

struct place test_place;

int place_begin(void **state)
{
    (void)state;
    return place_open(&test_place);
}

int place_end(void **state)
{
    (void)state;
    return place_close(&test_place);
}

const char *place_path(const struct place *place, const char *name)
{
    static char paths[4][PLACE_NAME_MAX + 4096];
    static unsigned at;
    char *path = paths[at++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", place->name, name);
    return path;
}

int place_write_bytes(const struct place *place, const char *name,
                      const void *data, size_t len)
{
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                    0644);
    bool ok = fd != -1 && write(fd, data, len) == (ssize_t)len;

    if (fd != -1)
        close(fd);
    return ok ? 0 : -1;
}

int place_write(const struct place *place, const char *name, const char *text)
{
    return place_write_bytes(place, name, text, strlen(text));
}

int place_set_time(const struct place *place, const char *name, time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    return utimensat(place->fd, name, times, 0);
}

unsigned place_count_fds(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            count++;
    return count;
}
