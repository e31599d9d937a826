/*
 * config_line - a place in a configuration: the number of a line, and which of
 * the files it is in, as one number that grows along both. In the first file
 * it is the line's own.
 *
 * Thread: any; values only.
 */
#ifndef CONFIG_CONFIG_LINE_H
#define CONFIG_CONFIG_LINE_H

#include <stddef.h>

enum {
    CONFIG_FILES_MAX = 256,
    /* A file of a MiB has a line more than that of bytes, at most. */
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
