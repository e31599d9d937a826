#include "process/stray_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether the server has neither opened nor taken the descriptor. */
static bool is_nobodys(int fd)
{
    int flags = fcntl(fd, F_GETFD);

    return fd > STDERR_FILENO && flags != -1 && !(flags & FD_CLOEXEC);
}

static void add(struct stray_descriptors *strays, int fd)
{
    int *fds = realloc(strays->fds, (strays->count + 1) * sizeof(*fds));

    if (!fds) {
        close(fd); /* there is no memory to note `fd` for later */
        return;
    }
    strays->fds = fds;
    fds[strays->count++] = fd;
}

void stray_descriptors_note(struct stray_descriptors *strays)
{
    DIR *all = opendir("/proc/self/fd");
    const struct dirent *entry;

    *strays = (struct stray_descriptors){.fds = NULL};
    while (all && (entry = readdir(all))) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' && is_nobodys((int)fd))
            add(strays, (int)fd);
    }
    if (all)
        closedir(all);
}

void stray_descriptors_close(struct stray_descriptors *strays)
{
    for (size_t i = 0; i < strays->count; i++)
        if (is_nobodys(strays->fds[i]))
            close(strays->fds[i]);
    free(strays->fds);
    *strays = (struct stray_descriptors){.fds = NULL};
}
