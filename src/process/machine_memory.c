#include "process/machine_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/small_file.h"

enum { NUMBER_BYTES_MAX = 31 };

/* Reads a limit from a file of the kernel. Without a limit, the file has "max",
 * or nearly 2^63 in version 1 of control groups. */
static uint64_t read_limit(const char *path)
{
    char text[NUMBER_BYTES_MAX + 1] = "";
    struct small_file file;
    uint64_t limit;

    if (small_file_read(&file, path) != 0)
        return UINT64_MAX;
    memcpy(text, file.text,
           file.len < NUMBER_BYTES_MAX ? file.len : NUMBER_BYTES_MAX);
    limit = strtoull(text, NULL, 10);
    small_file_fini(&file);
    return limit > 0 ? limit : UINT64_MAX;
}

/* Returns the lowest limit of a group and its parents. In a container, the
 * mount itself may be the container's group, whose name outside is unknown. */
static uint64_t find_least(const char *mount, struct bytes group,
                           const char *name)
{
    uint64_t least = UINT64_MAX;
    char path[PATH_MAX];

    for (;;) {
        int len = snprintf(path, sizeof(path), "%s%.*s/%s", mount,
                           (int)group.len, group.data, name);
        uint64_t limit = len < (int)sizeof(path) ? read_limit(path)
                                                 : UINT64_MAX;

        if (limit < least)
            least = limit;
        if (group.len == 0)
            return least;
        while (group.len > 0 && group.data[--group.len] != '/')
            ;
    }
}

/* Returns the limit of the group in a line of /proc/self/cgroup: "0::/a/b"
 * (version 2) or "7:cpu,memory:/a/b" (version 1). */
static uint64_t read_group(struct bytes line, const char *mount)
{
    const char *end = line.data + line.len;
    const char *kind = memchr(line.data, ':', line.len);
    const char *group = kind ? memchr(kind + 1, ':', (size_t)(end - (kind + 1)))
                             : NULL;
    char memory_mount[PATH_MAX];
    struct bytes kinds, path;

    if (!group)
        return UINT64_MAX;
    kinds = bytes_between(kind + 1, group);
    path = bytes_between(group + 1, end);
    /* With "/..", the group does not lie below the mount. */
    if (memmem(path.data, path.len, "/..", 3))
        path.len = 0;
    if (kinds.len == 0)
        return find_least(mount, path, "memory.max");
    if (!memmem(kinds.data, kinds.len, "memory", 6))
        return UINT64_MAX;
    snprintf(memory_mount, sizeof(memory_mount), "%s/memory", mount);
    return find_least(memory_mount, path, "memory.limit_in_bytes");
}

uint64_t machine_memory_group_limit(const char *groups, const char *mount)
{
    uint64_t least = UINT64_MAX;
    struct small_file file;
    const char *at, *end;

    if (small_file_read(&file, groups) != 0)
        return least;
    end = file.text + file.len;
    for (at = file.text; at < end; at++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct bytes line = bytes_between(at, newline ? newline : end);
        uint64_t limit = read_group(line, mount);

        if (limit < least)
            least = limit;
        at += line.len;
    }
    small_file_fini(&file);
    return least;
}

uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page_bytes > 0
                       ? (uint64_t)pages * (uint64_t)page_bytes
                       : UINT64_C(1) << 30;
    uint64_t limit = machine_memory_group_limit("/proc/self/cgroup",
                                                "/sys/fs/cgroup");

    return limit < all ? limit : all;
}
