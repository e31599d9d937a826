#include "config/config_source.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "config/include_folders.h"
#include "io/small_file.h"

/* --- Files --------------------------------------------------------------- */

/* Passes a file to on_file. The file gets the next number, which is part of its
 * lines' numbers (config_line.h). */
static void read_file(struct config_source *source, const char *path,
                      struct bytes text)
{
    struct options *options = source->options;
    const char *kept = arena_text(&options->arena, bytes_of(path));

    if (!kept || !texts_add(&options->files, &options->arena, kept)) {
        faults_add(source->faults, 0, "out of memory");
        return;
    }
    source->bytes += text.len;
    source->on_file(source->context, text,
                    config_line_in(options->files.count - 1, 1));
}

static void tell_full(struct config_source *source, int line, const char *what,
                      int most)
{
    if (!source->is_full)
        faults_add(source->faults, line, "what is included is more than %d %s",
                   most, what);
    source->is_full = true;
}

static bool is_open(const struct config_source *source, const char *path)
{
    for (size_t i = 0; i < source->depth; i++)
        if (strcmp(source->open[i], path) == 0)
            return true;
    return false;
}

static void include_file(struct config_source *source, const char *path,
                         int line)
{
    struct small_file file;
    const char *fault;
    int err;

    if (is_open(source, path)) {
        faults_add(source->faults, line, "'%.300s' includes itself", path);
        return;
    }
    if (source->depth == 1 + CONFIG_DEPTH_MAX) {
        faults_add(source->faults, line,
                   "'%.300s' is included by more than %d files in one another",
                   path, CONFIG_DEPTH_MAX);
        return;
    }
    if (source->options->files.count == CONFIG_FILES_MAX) {
        tell_full(source, line, "files", CONFIG_FILES_MAX);
        return;
    }
    err = small_file_read(&file, path);
    if (err != 0) {
        fault = small_file_fault(err);
        faults_add(source->faults, line, "'%.300s' cannot be included: %s",
                   path, fault ? fault : strerror(-err));
        return;
    }
    if (source->bytes + file.len > CONFIG_BYTES_MAX) {
        tell_full(source, line, "bytes", CONFIG_BYTES_MAX);
    } else {
        source->open[source->depth++] = path;
        read_file(source, path, (struct bytes){file.text, file.len});
        source->depth--;
    }
    small_file_fini(&file);
}

/* --- Patterns ------------------------------------------------------------ */

static int list_error; /* static, since glob() passes no context on */

static int on_list_error(const char *path, int err)
{
    (void)path;
    list_error = err;
    return 1;
}

/* Appends `folder`, with its special characters escaped, and then `pattern`.
 * Returns false if there is no memory, or the path is too long. */
static bool put_path(struct buf *path, const char *folder, struct bytes pattern)
{
    for (; *pattern.data != '/' && *folder; folder++) {
        if (strchr("*?[\\", *folder))
            buf_put_literal(path, "\\");
        buf_put(path, (struct bytes){folder, 1});
    }
    if (*pattern.data != '/')
        buf_put_literal(path, "/");
    buf_put(path, pattern);
    buf_put(path, (struct bytes){"", 1});
    return !path->failed;
}

/* Returns what is wrong with a pattern; NULL if nothing is. */
static const char *judge(struct bytes pattern)
{
    if (pattern.len == 0 || pattern.len >= PATH_MAX)
        return "its name is empty or too long";
    if (memchr(pattern.data, '\\', pattern.len) ||
        memmem(pattern.data, pattern.len, "${", 2))
        return "its name has a '\\' or '${'";
    return NULL;
}

void config_source_include(struct config_source *source, struct bytes pattern,
                           int line)
{
    const char *why = judge(pattern);
    glob_t found = {0};
    struct buf path;
    int err = GLOB_NOSPACE;

    if (why) {
        faults_add(source->faults, line, "include: %s", why);
        return;
    }
    buf_init(&path, NULL, 0, 2 * PATH_MAX);
    list_error = 0;
    if (put_path(&path, source->folder, pattern) &&
        include_folders_note(source->options, source->folder, pattern,
                             path.data))
        err = glob(path.data, 0, on_list_error, &found);
    if (err == 0)
        for (size_t i = 0; i < found.gl_pathc && !source->is_full; i++)
            include_file(source, found.gl_pathv[i], line);
    else if (err != GLOB_NOMATCH || !include_is_pattern(pattern))
        faults_add(source->faults, line, "'%.*s' cannot be included: %s",
                   (int)pattern.len, pattern.data,
                   err == GLOB_NOSPACE
                       ? "out of memory"
                       : strerror(list_error ? list_error : ENOENT));
    globfree(&found);
    buf_fini(&path);
}

/* --- The first file ------------------------------------------------------ */

void config_source_read(struct config_source *source, struct bytes text)
{
    struct options *options = source->options;
    const char *slash = strrchr(options->config, '/');
    char *name; /* absolute, as in results of glob() */

    options->files = options->include_folders = (struct texts){0};
    options->include_ways = (struct texts){0};
    source->faults->files = &options->files;
    if (asprintf(&name, "%s/%s", source->folder,
                 slash ? slash + 1 : options->config) == -1) {
        faults_add(source->faults, 0, "out of memory");
        return;
    }
    source->open[source->depth++] = name;
    read_file(source, options->config, text);
    source->depth--;
    free(name);
}
