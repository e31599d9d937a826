#include "http/name_glob.h"

const char *name_glob_read(struct name_glob *glob, struct bytes text)
{
    glob->is_path = memchr(text.data, '/', text.len);
    return glob_read(&glob->glob, text);
}

static struct bytes last_segment(struct bytes path)
{
    const char *slash = memrchr(path.data, '/', path.len);

    return slash ? bytes_between(slash + 1, path.data + path.len) : path;
}

bool name_glob_matches(const struct name_glob *glob, struct bytes path)
{
    return glob_matches(&glob->glob, glob->is_path ? path : last_segment(path),
                        NULL);
}

struct bytes name_glob_take(struct bytes *text)
{
    struct bytes rest = bytes_trim(*text);
    struct bytes pattern = {rest.data, 0};

    while (pattern.len < rest.len && rest.data[pattern.len] != ' ' &&
           rest.data[pattern.len] != '\t')
        pattern.len++;
    *text = bytes_trim((struct bytes){rest.data + pattern.len,
                                      rest.len - pattern.len});
    return pattern;
}
