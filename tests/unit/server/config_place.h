/*
 * config_place - options as a configuration file tells them, and what is wrong
 * with it.
 */
#ifndef UNIT_CONFIG_PLACE_H
#define UNIT_CONFIG_PLACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/command_line.h"
#include "server/config.h"

static struct options options;
static struct faults faults;
static char *said; /* the report */

static inline void forget(void)
{
    options_fini(&options);
    faults_fini(&faults);
    free(said);
    said = NULL;
}

/* Reads a text as if it lay in /srv, below a command line of words. */
static inline void read_below(const char *words, struct bytes text)
{
    static char line[200];
    char *arguments[10] = {(char[]){"sprintd"}};
    int count = 1;
    size_t len;
    FILE *to;

    forget();
    memset(line, 0, sizeof(line));
    snprintf(line, sizeof(line), "%s", words);
    for (char *at = line; *at; at += strlen(at) + 1) {
        at[strcspn(at, " ")] = '\0';
        arguments[count++] = at;
    }
    assert_int_equal(command_line_read(&options, count, arguments, stderr), 0);
    options.config = "file";
    faults.file = "file";
    config_read(&options, text, "/srv", &faults);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

static inline void read_text(const char *text)
{
    read_below("", bytes_of(text));
}

static inline void read_well(const char *text)
{
    read_text(text);
    if (faults.count > 0)
        fail_msg("%s", said);
}

/* The report is those lines, and nothing else. */
static inline void expect_faults(const char *text, const char *expected)
{
    read_text(text);
    assert_string_equal(said, expected);
}

static inline int tear_down(void **state)
{
    (void)state;
    forget();
    return 0;
}

#endif
