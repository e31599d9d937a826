#include "server/config_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
