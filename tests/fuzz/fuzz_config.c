/*
 * fuzz_config - whatever a configuration file holds, it is read or refused;
 * and what was read is printed so that it is read again as the same.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/command_line.h"
#include "config/config.h"
#include "config/config_dump.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

static FILE *nowhere;
static char folder[PATH_MAX] = "/srv"; /* whose files a text may include */

/* Reads text into options; whether there was no fault. */
static bool read_text(struct options *options, const char *text, size_t len)
{
    struct faults faults = {.file = "fuzz"};
    char *arguments[] = {(char[]){"sprintd"}, NULL};
    bool is_sound;

    CHECK(command_line_read(options, 1, arguments, nowhere) == 0);
    options->config = "fuzz";
    config_read(options, (struct bytes){text, len}, folder, &faults);
    faults_print(&faults, nowhere);
    for (size_t i = 1; i < faults.count && i < FAULTS_MAX; i++)
        CHECK(faults.items[i - 1].line <= faults.items[i].line);
    is_sound = faults.count == 0;
    faults_fini(&faults);
    return is_sound;
}

/* What is in force, without where it is from. */
static char *dump(const struct options *options)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    char *end;

    CHECK(to);
    config_dump(to, options);
    fclose(to);
    end = text;
    for (const char *line = text; *line;) {
        size_t whole = strcspn(line, "\n");
        size_t kept = whole;

        while (kept > 0 && strncmp(line + kept, " # ", 3) != 0)
            kept--;
        if (kept == 0)
            kept = whole;
        memmove(end, line, kept);
        end += kept;
        line += whole + (line[whole] == '\n');
        *end++ = '\n';
    }
    *end = '\0';
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options options;
    struct options again;
    char *first;
    char *second;

    if (!nowhere) {
        nowhere = fopen("/dev/null", "w");
        if (access("tests/fuzz/corpus/config", X_OK) == 0)
            CHECK(realpath("tests/fuzz/corpus/config", folder));
    }
    CHECK(nowhere);
    if (read_text(&options, (const char *)data, size)) {
        first = dump(&options);
        CHECK(read_text(&again, first, strlen(first)));
        second = dump(&again);
        CHECK(strcmp(first, second) == 0);
        options_fini(&again);
        free(first);
        free(second);
    }
    options_fini(&options);
    return 0;
}
