#include "config/faults.h"

#include <stdarg.h>

#include "config/config_line.h"

/* Returns the position for a new fault: behind the others of the same line. */
static size_t find_position(const struct faults *faults, int line)
{
    size_t at = faults->count;

    while (at > 0 && faults->items[at - 1].line > line)
        at--;
    return at;
}

void faults_add(struct faults *faults, int line, const char *format, ...)
{
    char text[FAULT_BYTES_MAX];
    const char *kept;
    size_t at;
    va_list arguments;

    if (faults->count++ >= FAULTS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    kept = arena_text(&faults->arena, bytes_of(text));
    faults->count--;
    at = find_position(faults, line);
    memmove(&faults->items[at + 1], &faults->items[at],
            (faults->count - at) * sizeof(faults->items[0]));
    faults->items[at] = (struct fault){.line = line,
                                       .text = kept ? kept : "out of memory"};
    faults->count++;
}

static const char *file_of(const struct faults *faults, int line)
{
    size_t file = config_line_file(line);

    return faults->files && file < faults->files->count
               ? faults->files->items[file]
               : faults->file;
}

void faults_name_line(const struct faults *faults, int line, int from,
                      char name_out[FAULT_POSITION_MAX + 1])
{
    if (config_line_file(line) == config_line_file(from))
        snprintf(name_out, FAULT_POSITION_MAX + 1, "line %d",
                 config_line_number(line));
    else
        snprintf(name_out, FAULT_POSITION_MAX + 1, "%.180s:%d",
                 file_of(faults, line), config_line_number(line));
}

void faults_print(const struct faults *faults, FILE *to)
{
    size_t kept = faults->count < FAULTS_MAX ? faults->count : FAULTS_MAX;

    for (size_t i = 0; i < kept; i++) {
        const struct fault *fault = &faults->items[i];

        if (!faults->file || fault->line < 0)
            fputs("sprintd: ", to);
        else if (fault->line == 0)
            fprintf(to, "%s: ", faults->file);
        else
            fprintf(to, "%s:%d: ", file_of(faults, fault->line),
                    config_line_number(fault->line));
        fprintf(to, "%s%s\n", faults->kind ? faults->kind : "", fault->text);
    }
    if (faults->count > kept)
        fprintf(to, "%s: and %zu more\n",
                faults->file ? faults->file : "sprintd", faults->count - kept);
}

void faults_fini(struct faults *faults)
{
    arena_fini(&faults->arena);
    *faults = (struct faults){.file = faults->file};
}
