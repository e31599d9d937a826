#include "config/certificates/managed_told.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "io/small_file.h"

/* The last second of the year 9999, after which times are invalid. */
#define LATEST_S INT64_C(253402300799)

void managed_told_name(const struct managed_certificate *certificate,
                       char name[NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%.250s.told", certificate->name);
}

void managed_told_put(const struct managed_told *told, struct buf *text)
{
    buf_printf(text, "next %" PRId64 "\nfailures %" PRIu64 "\nerror %s\n",
               told->next_at, told->failures, told->error);
}

/* Finds the line that begins with `word`, and returns the rest of the line. The
 * result's `data` is NULL if there is no such line. */
static struct bytes find(struct bytes text, struct bytes word)
{
    const char *end = text.data + text.len;

    while (text.data && text.data < end) {
        struct bytes rest = bytes_between(text.data, end);
        const char *line_end = memchr(rest.data, '\n', rest.len);
        struct bytes line = line_end ? bytes_between(rest.data, line_end)
                                     : rest;

        if (line.len > word.len && line.data[word.len] == ' ' &&
            memcmp(line.data, word.data, word.len) == 0)
            return bytes_between(line.data + word.len + 1,
                                 line.data + line.len);
        text.data = line_end ? line_end + 1 : end;
    }
    return (struct bytes){NULL, 0};
}

/* Reads a number. Returns -1 if `text` is no number, or above LATEST_S. */
static int64_t read_number(struct bytes text)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || number > LATEST_S)
            return -1;
        number = number * 10 + (text.data[i] - '0');
    }
    return text.len > 0 && number <= LATEST_S ? number : -1;
}

void managed_told_parse(struct managed_told *told, struct bytes text)
{
    int64_t next_at = read_number(find(text, BYTES("next")));
    int64_t failures = read_number(find(text, BYTES("failures")));
    struct bytes error = find(text, BYTES("error"));

    *told = (struct managed_told){.next_at = 0};
    if (next_at < 0 || failures < 0)
        return;
    told->next_at = next_at;
    told->failures = (uint64_t)failures;
    if (error.len > MANAGED_TOLD_ERROR_MAX)
        error.len = MANAGED_TOLD_ERROR_MAX;
    if (error.len > 0)
        memcpy(told->error, error.data, error.len);
    told->error[error.len] = '\0';
    utf8_disarm(told->error, error.len, false);
}

void managed_told_read(struct managed_told *told,
                       const struct managed_certificate *certificate)
{
    const char *slash = strrchr(certificate->path, '/');
    char name[NAME_MAX + 1];
    char path[PATH_MAX];
    struct small_file file;
    int fd;

    *told = (struct managed_told){.next_at = 0};
    managed_told_name(certificate, name);
    if (!slash || snprintf(path, sizeof(path), "%.*s/%s",
                           (int)(slash - certificate->path), certificate->path,
                           name) >= (int)sizeof(path))
        return;
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1)
        return;
    if (small_file_read_open(&file, fd, MANAGED_TOLD_BYTES_MAX) == 0) {
        managed_told_parse(told, (struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    close(fd);
}
