#include "harness.h"

#include <sys/stat.h>
#include <time.h>

enum { BLOCK_BYTES = 65536 };

static void make_folders(const char *name)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s", name);
    for (char *slash = strchr(path, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(site_open(), path, 0755) == -1 && errno != EEXIST)
            flunk("mkdir '%s': %s", path, strerror(errno));
        *slash = '/';
    }
}

static int open_new(const char *name)
{
    int fd;

    make_folders(name);
    fd = openat(site_open(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                0644);
    if (fd == -1)
        flunk("open '%s': %s", name, strerror(errno));
    return fd;
}

static void put(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n == -1)
            flunk("write: %s", strerror(errno));
        data += n;
        len -= (size_t)n;
    }
}

void site_write(const char *name, const void *data, size_t len)
{
    int fd = open_new(name);

    put(fd, data, len);
    close(fd);
}

void site_text(const char *name, const char *text)
{
    site_write(name, text, strlen(text));
}

void site_seeded(const char *name, uint64_t seed, size_t len)
{
    int fd = open_new(name);
    char block[BLOCK_BYTES];

    for (size_t at = 0; at < len; at += sizeof(block)) {
        size_t step = len - at < sizeof(block) ? len - at : sizeof(block);

        seeded_fill(seed, at, block, step);
        put(fd, block, step);
    }
    close(fd);
}

void site_replace(const char *name, const void *data, size_t len)
{
    char fresh[512];

    snprintf(fresh, sizeof(fresh), "%s.new", name);
    site_write(fresh, data, len);
    if (renameat(site_open(), fresh, site_open(), name) == -1)
        flunk("rename to '%s': %s", name, strerror(errno));
}

void site_remove(const char *name)
{
    if (unlinkat(site_open(), name, 0) == -1)
        flunk("unlink '%s': %s", name, strerror(errno));
}

void site_folder(const char *name)
{
    make_folders(name);
    if (mkdirat(site_open(), name, 0755) == -1 && errno != EEXIST)
        flunk("mkdir '%s': %s", name, strerror(errno));
}

void site_link(const char *name, const char *target)
{
    make_folders(name);
    if (symlinkat(target, site_open(), name) == -1)
        flunk("symlink '%s': %s", name, strerror(errno));
}

void site_mode(const char *name, unsigned mode)
{
    if (fchmodat(site_open(), name, (mode_t)mode, 0) == -1)
        flunk("mode of '%s': %s", name, strerror(errno));
}

void site_date(const char *name, int64_t seconds, long nanoseconds)
{
    struct timespec times[2] = {{(time_t)seconds, nanoseconds},
                                {(time_t)seconds, nanoseconds}};

    if (utimensat(site_open(), name, times, 0) == -1)
        flunk("date of '%s': %s", name, strerror(errno));
}

/* The last steps of splitmix64: eight bytes from their number and a seed. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

void seeded_fill(uint64_t seed, uint64_t offset, char *out, size_t len)
{
    while (len > 0) {
        uint64_t word = mix((seed << 40) + offset / 8 + 1);
        size_t skip = offset % 8;
        size_t step = len < 8 - skip ? len : 8 - skip;

        memcpy(out, (const char *)&word + skip, step);
        out += step;
        offset += step;
        len -= step;
    }
}

bool seeded_is(uint64_t seed, uint64_t offset, const char *data, size_t len)
{
    char block[BLOCK_BYTES];

    for (size_t at = 0; at < len; at += sizeof(block)) {
        size_t step = len - at < sizeof(block) ? len - at : sizeof(block);

        seeded_fill(seed, offset + at, block, step);
        if (memcmp(block, data + at, step) != 0)
            return false;
    }
    return true;
}

char *read_text(const char *path, size_t *len_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t cap = BLOCK_BYTES;
    size_t len = 0;
    char *text;
    ssize_t n;

    if (fd == -1)
        flunk("open '%s': %s", path, strerror(errno));
    text = scratch(cap + 1);
    while ((n = read(fd, text + len, cap - len)) > 0) {
        len += (size_t)n;
        if (len == cap) {
            char *larger = scratch(2 * cap + 1);

            memcpy(larger, text, len);
            text = larger;
            cap *= 2;
        }
    }
    close(fd);
    text[len] = '\0';
    if (len_out)
        *len_out = len;
    return text;
}
