/*
 * config_line - represents a line of a configuration's files as one number,
 * which grows from line to line and from file to file. For the first file, it
 * is the usual line number.
 *
 * Thread: any; values only.
 */
#ifndef CONFIG_CONFIG_LINE_H
#define CONFIG_CONFIG_LINE_H

#include <stddef.h>

enum {
    CONFIG_FILES_MAX = 256,
    /* A file has at most 1 MiB, and so at most 2^20 + 1 lines. */
    CONFIG_LINE_BITS = 21
};

static inline int config_line_in(size_t file, int number)
{
    return (int)(file << CONFIG_LINE_BITS) + number;
}

static inline size_t config_line_file(int line)
{
    return (size_t)line >> CONFIG_LINE_BITS;
}

static inline int config_line_number(int line)
{
    return line & ((1 << CONFIG_LINE_BITS) - 1);
}

#endif
