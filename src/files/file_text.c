#include "files/file_text.h"

#include <errno.h>
#include <unistd.h>

static bool is_of_version(int fd, const struct file_stamp *stamp)
{
    struct stat st;
    struct file_stamp found;

    if (fstat(fd, &st) == -1)
        return false;
    found = file_stamp_of(&st);
    return file_stamp_eq(&found, stamp);
}

static bool read_all(int fd, char *to, size_t len, const atomic_bool *stops)
{
    size_t at = 0;

    while (at < len && !atomic_load_explicit(stops, memory_order_relaxed)) {
        ssize_t n = pread(fd, to + at, len - at, (off_t)at);

        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return at == len;
}

char *file_text_read(int fd, const struct file_stamp *stamp,
                     const atomic_bool *stops, struct codec_meter *meter)
{
    size_t len = (size_t)stamp->bytes;
    char *text = codec_meter_allocate(meter, len);

    if (text && is_of_version(fd, stamp) && read_all(fd, text, len, stops) &&
        is_of_version(fd, stamp))
        return text;
    codec_meter_free(meter, text);
    return NULL;
}
