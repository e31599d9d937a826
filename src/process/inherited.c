#include "process/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether nobody here has opened it, or taken it on. */
static bool is_nobodys(int fd)
{
    int flags = fcntl(fd, F_GETFD);

    return fd > STDERR_FILENO && flags != -1 && !(flags & FD_CLOEXEC);
}

static void add(struct inherited *inherited, int fd)
{
    int *fds = realloc(inherited->fds, (inherited->count + 1) * sizeof(*fds));

    if (!fds) {
        close(fd); /* rather than keep what is not known */
        return;
    }
    inherited->fds = fds;
    fds[inherited->count++] = fd;
}

void inherited_note(struct inherited *inherited)
{
    DIR *all = opendir("/proc/self/fd");
    const struct dirent *entry;

    *inherited = (struct inherited){.fds = NULL};
    while (all && (entry = readdir(all))) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' && is_nobodys((int)fd))
            add(inherited, (int)fd);
    }
    if (all)
        closedir(all);
}

void inherited_close(struct inherited *inherited)
{
    for (size_t i = 0; i < inherited->count; i++)
        if (is_nobodys(inherited->fds[i]))
            close(inherited->fds[i]);
    free(inherited->fds);
    *inherited = (struct inherited){.fds = NULL};
}
