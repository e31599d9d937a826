#include "config/include_folders.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const char wild[] = "*?[";

/* Returns the length of the part before the first wildcard, or of the whole
 * text. */
static size_t literal_len(struct bytes text)
{
    size_t len = 0;

    while (len < text.len && !strchr(wild, text.data[len]))
        len++;
    return len;
}

bool include_is_pattern(struct bytes text)
{
    return literal_len(text) < text.len;
}

static struct bytes folder_of(struct bytes path)
{
    const char *slash = memrchr(path.data, '/', path.len);

    return slash ? bytes_between(path.data, slash) : BYTES("");
}

/* Adds a copy of `text` to `list`, and frees `text`. Returns false if there is
 * no memory, or if `text` is NULL because there was none for it. */
static bool keep(struct options *options, struct texts *list, char *text)
{
    const char *kept = text ? arena_text(&options->arena, bytes_of(text))
                            : NULL;

    free(text);
    return kept && texts_add(list, &options->arena, kept);
}

/* Joins `folder`, `below` and `end`. The caller frees the result, which is NULL
 * if there is no memory. */
static char *join(const char *folder, struct bytes below, const char *end)
{
    bool has_slash = below.len > 0 && *below.data == '/';
    char *text;

    if (asprintf(&text, "%s%s%.*s%s", folder,
                 below.len > 0 && !has_slash ? "/" : "", (int)below.len,
                 below.data, end) == -1)
        return NULL;
    return text;
}

/* Finds the directories that match `pattern`, which ends in a slash. For each,
 * records a pattern that all its entries match. Returns false if there is no
 * memory. */
static bool note_ways_below(struct options *options, struct bytes pattern)
{
    char *text = strndup(pattern.data, pattern.len);
    bool is_noted = text != NULL;
    glob_t found = {0};

    if (text && glob(text, GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE)
        is_noted = false;
    for (size_t i = 0; i < found.gl_pathc && is_noted; i++)
        is_noted = keep(options, &options->include_ways,
                        join(found.gl_pathv[i], BYTES(""), "*"));
    globfree(&found);
    free(text);
    return is_noted;
}

/* Records patterns for the entries of the folder in front of the first
 * wildcard, and for the entries of each directory that matches a longer part of
 * `pattern`. A new file that matches `pattern`, or a new directory above one,
 * would be such an entry. Returns false if there is no memory. */
static bool note_ways(struct options *options, const char *folder,
                      struct bytes pattern, const char *path)
{
    size_t skip = literal_len(pattern);
    struct bytes literal = folder_of((struct bytes){pattern.data, skip});
    const char *slash = path + strlen(path) - (pattern.len - skip);

    if (!keep(options, &options->include_ways, join(folder, literal, "/*")))
        return false;
    while ((slash = strchr(slash, '/')))
        if (!note_ways_below(options, bytes_between(path, ++slash)))
            return false;
    return true;
}

bool include_folders_note(struct options *options, const char *folder,
                          struct bytes pattern, const char *path)
{
    struct bytes below = folder_of(pattern);

    if (*pattern.data == '/')
        folder = "";
    if (!include_is_pattern(pattern))
        return keep(options, &options->include_folders,
                    join(folder, pattern, ""));
    if (!note_ways(options, folder, pattern, path))
        return false;
    /* A later reload looks in this folder for new files. */
    return include_is_pattern(below) ||
           keep(options, &options->include_folders, join(folder, below, ""));
}
