#include "server/config_source.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "io/small_file.h"
#include "server/include_places.h"

struct source_reading {
    struct buf out;
    struct config_piece *pieces;
    size_t piece_count;
    const char *folder;
    struct options *options;
    struct arena *arena;
    struct faults *faults;
    const char *open[1 + CONFIG_DEPTH_MAX]; /* that include one another now */
    size_t depth;
    bool is_full; /* which has been told */
    bool has_failed;
};

/* --- Pieces ---------------------------------------------------------------- */

/* Text that begins at that line. Nobody reads what a line end or a space in
 * front of it keeps apart as one word. */
static void put_piece(struct source_reading *reading, struct bytes text,
                      int line)
{
    struct config_piece *pieces = arena_grow(reading->arena, reading->pieces,
                                             reading->piece_count,
                                             sizeof(*pieces));

    if (!pieces) {
        reading->has_failed = true;
        return;
    }
    reading->pieces = pieces;
    pieces[reading->piece_count++] = (struct config_piece){
        .offset = reading->out.len, .line = line};
    buf_put(&reading->out, text);
    buf_put_literal(&reading->out, " ");
}

/* --- Files ----------------------------------------------------------------- */

static void append(struct source_reading *reading, struct bytes text,
                   size_t file);

/* The number of a file that is read from now on. */
static size_t note_file(struct source_reading *reading, const char *path)
{
    struct options *options = reading->options;
    const char *kept = arena_text(&options->arena, bytes_of(path));

    if (!kept || !texts_add(&options->files, &options->arena, kept)) {
        reading->has_failed = true;
        return 0;
    }
    return options->files.count - 1;
}

static void tell_full(struct source_reading *reading, int line,
                      const char *what, int most)
{
    if (!reading->is_full)
        faults_add(reading->faults, line, "what is included is more than %d %s",
                   most, what);
    reading->is_full = true;
}

static bool is_open(const struct source_reading *reading, const char *path)
{
    for (size_t i = 0; i < reading->depth; i++)
        if (strcmp(reading->open[i], path) == 0)
            return true;
    return false;
}

static void include_file(struct source_reading *reading, const char *path,
                         int line)
{
    struct small_file file;
    int err;

    if (is_open(reading, path)) {
        faults_add(reading->faults, line, "'%.300s' includes itself", path);
        return;
    }
    if (reading->depth == 1 + CONFIG_DEPTH_MAX) {
        faults_add(reading->faults, line,
                   "'%.300s' is included by more than %d files in one another",
                   path, CONFIG_DEPTH_MAX);
        return;
    }
    if (reading->options->files.count == CONFIG_FILES_MAX) {
        tell_full(reading, line, "files", CONFIG_FILES_MAX);
        return;
    }
    err = small_file_read(&file, path);
    if (err == 0) {
        reading->open[reading->depth++] = path;
        append(reading, (struct bytes){file.text, file.len},
               note_file(reading, path));
        reading->depth--;
        small_file_fini(&file);
    } else {
        const char *fault = small_file_fault(err);

        faults_add(reading->faults, line, "'%.300s' cannot be included: %s",
                   path, fault ? fault : strerror(-err));
    }
    if (reading->out.failed)
        tell_full(reading, line, "bytes", CONFIG_BYTES_MAX);
}

/* --- Patterns -------------------------------------------------------------- */

static int list_error; /* glob() hands its callback nothing of ours */

static int on_list_error(const char *path, int err)
{
    (void)path;
    list_error = err;
    return 1;
}

/* The pattern below the folder, whose name stands for itself. False: no
 * memory, or too long. */
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

static void include_all(struct source_reading *reading, struct bytes pattern,
                        int line)
{
    glob_t found = {0};
    struct buf path;
    int err = GLOB_NOSPACE;

    buf_init(&path, NULL, 0, 2 * PATH_MAX);
    list_error = 0;
    if (put_path(&path, reading->folder, pattern)) {
        if (!include_places_note(reading->options, reading->folder, pattern,
                                 path.data))
            reading->has_failed = true;
        err = glob(path.data, 0, on_list_error, &found);
    }
    if (err == 0)
        for (size_t i = 0; i < found.gl_pathc && !reading->is_full; i++)
            include_file(reading, found.gl_pathv[i], line);
    else if (err != GLOB_NOMATCH || !include_is_pattern(pattern))
        faults_add(reading->faults, line, "'%.*s' cannot be included: %s",
                   (int)pattern.len, pattern.data,
                   err == GLOB_NOSPACE
                       ? "out of memory"
                       : strerror(list_error ? list_error : ENOENT));
    globfree(&found);
    buf_fini(&path);
}

/* --- Statements ------------------------------------------------------------ */

/* What is wrong with a pattern; NULL: nothing. */
static const char *judge(struct bytes pattern)
{
    if (pattern.len == 0 || pattern.len >= PATH_MAX)
        return "its name is empty or too long";
    if (memchr(pattern.data, '\\', pattern.len) ||
        memmem(pattern.data, pattern.len, "${", 2))
        return "its name has a '\\' or '${'";
    return NULL;
}

static bool is_include(const struct config_token *token,
                       enum config_token_kind before)
{
    return token->kind == CONFIG_STRING && before != CONFIG_EQUALS &&
           before != CONFIG_COMMA &&
           bytes_eq(token->text, BYTES(CONFIG_INCLUDE));
}

/* Goes to the next `include "..."`, which *token_out begins and *name_out
 * ends. False: there is none. What else the word may stand before is for the
 * outline to refuse. */
static bool find_include(struct config_cursor *cursor,
                         struct config_token *token_out,
                         struct config_token *name_out)
{
    enum config_token_kind before = CONFIG_CLOSE;

    for (;;) {
        *token_out = config_token_next(cursor);
        if (token_out->kind == CONFIG_END)
            return false;
        if (is_include(token_out, before)) {
            struct config_cursor ahead = *cursor;

            *name_out = config_token_next(&ahead);
            if (name_out->kind == CONFIG_STRING &&
                name_out->line == token_out->line) {
                *cursor = ahead;
                return true;
            }
        }
        before = token_out->kind;
    }
}

/* Whether what is opened in a file is closed there, too: else its end would
 * close something of another. */
static bool is_whole(const struct source_reading *reading, struct bytes text,
                     int line)
{
    struct config_cursor cursor = {
        .at = text.data, .end = text.data + text.len, .line = line};
    size_t depth = 0;
    int opened = line;

    for (;;) {
        struct config_token token = config_token_next(&cursor);

        if (token.kind == CONFIG_END)
            break;
        if (token.kind == CONFIG_OPEN && depth++ == 0)
            opened = token.line;
        if (token.kind == CONFIG_CLOSE && depth-- == 0) {
            faults_add(reading->faults, token.line, "this '}' closes nothing");
            return false;
        }
    }
    if (depth > 0)
        faults_add(reading->faults, opened,
                   "what is opened here is not closed in this file");
    return depth == 0;
}

/* The first file, as a pattern finds it. */
static const char *name_first(struct source_reading *reading)
{
    const char *path = reading->options->config;
    const char *slash = strrchr(path, '/');
    size_t len = strlen(reading->folder) + strlen(path) + 2;
    char *name = arena_take(reading->arena, len);

    if (!name) {
        reading->has_failed = true;
        return "";
    }
    snprintf(name, len, "%s/%s", reading->folder, slash ? slash + 1 : path);
    return name;
}

/* Puts the text of a file behind what there is, with what it includes. */
static void append(struct source_reading *reading, struct bytes text,
                   size_t file)
{
    struct config_cursor cursor = {.line = config_line_in(file, 1)};
    struct config_token token, name;
    char *copy = arena_take(reading->arena, text.len + 1);
    const char *begin = copy;
    int line = cursor.line;

    if (!copy) {
        reading->has_failed = true;
        return;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\n'; /* fmemopen() takes no empty text */
    text = (struct bytes){copy, text.len + 1};
    config_text_clean(copy, text.len, line, reading->faults);
    if (file > 0 && !is_whole(reading, text, line))
        return;
    cursor.at = copy;
    cursor.end = copy + text.len;
    while (find_include(&cursor, &token, &name)) {
        struct bytes pattern = config_token_inside(&name);
        const char *why = judge(pattern);

        put_piece(reading, bytes_between(begin, token.text.data), line);
        begin = cursor.at;
        line = cursor.line;
        if (*name.text.data == CONFIG_REPLACED)
            continue; /* which has been told */
        if (why)
            faults_add(reading->faults, token.line, CONFIG_INCLUDE ": %s", why);
        else
            include_all(reading, pattern, token.line);
    }
    put_piece(reading, bytes_between(begin, cursor.end), line);
}

bool config_source_read(struct config_source *source, struct bytes text,
                        const char *folder, struct options *options,
                        struct arena *arena, struct faults *faults)
{
    struct source_reading reading = {
        .folder = folder, .options = options, .arena = arena, .faults = faults};

    reading.open[reading.depth++] = name_first(&reading);
    buf_init(&reading.out, NULL, 0, CONFIG_BYTES_MAX);
    options->files = options->include_places = (struct texts){0};
    options->include_ways = (struct texts){0};
    faults->files = &options->files;
    append(&reading, text, note_file(&reading, options->config));
    put_piece(&reading, BYTES(""), 0); /* what ends them */
    source->len = reading.out.len;
    source->text = arena_take(arena, source->len + 1);
    source->pieces = reading.pieces;
    if (source->text && !reading.has_failed)
        memcpy(source->text, reading.out.data, source->len);
    buf_fini(&reading.out);
    return source->text && !reading.has_failed;
}

/* --- Places ---------------------------------------------------------------- */

struct config_cursor config_source_cursor(const struct config_source *source)
{
    return (struct config_cursor){.begin = source->text,
                                  .at = source->text,
                                  .end = source->text + source->len,
                                  .next = source->pieces,
                                  .line = 1};
}

int config_source_line(const struct config_source *source, int number)
{
    const struct config_piece *piece = source->pieces;
    size_t at = 0;
    int line = 1;

    for (int count = 1; at < source->len; at++) {
        for (; piece[1].line != 0 && at >= piece->offset; piece++)
            line = piece->line;
        if (count == number)
            break;
        if (source->text[at] == '\n') {
            count++;
            line++;
        }
    }
    return line;
}
