#include "tools/acme_tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "process/companion/steward.h"

int acme_tool_run(int count, char **arguments)
{
    char **words = calloc((size_t)count + 2, sizeof(*words));
    char path[PATH_MAX];
    int err = words ? steward_find_program(path) : -ENOMEM;

    if (err == 0) {
        words[0] = path;
        for (int i = 0; i < count; i++)
            words[i + 1] = arguments[i];
        execv(path, words);
        err = -errno;
    }
    free(words);
    fprintf(stderr, "sprintd: acme: " STEWARD_PROGRAM ": %s\n", strerror(-err));
    return EX_UNAVAILABLE;
}
