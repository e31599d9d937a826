#include "unit/config/told.h"

enum { ARGUMENTS_MAX = 40 };

struct options options;
char errors[4096];

int read_options(const char *line)
{
    static char texts[2][4096]; /* values point into it */
    static unsigned turn;
    char *text = texts[turn++ % 2];
    char *arguments[ARGUMENTS_MAX] = {text};
    int count = 1;
    FILE *to = fmemopen(errors, sizeof(errors), "w");
    int status;

    assert_non_null(to);
    snprintf(text, sizeof(texts[0]), "sprintd %s", line);
    for (char *at = text; *at; at++) {
        if (*at == ' ') {
            *at = '\0';
            assert_in_range(count, 1, ARGUMENTS_MAX - 1);
            arguments[count++] = strcmp(at + 1, "_") == 0 ? at + 2 : at + 1;
        }
    }
    if (*line == '\0')
        count = 1;
    errors[0] = '\0';
    options_fini(&options); /* those of the time before */
    status = command_line_read(&options, count, arguments, to);
    fclose(to);
    return status;
}

void read_well(const char *line)
{
    if (read_options(line) != 0)
        fail_msg("%s: %s", line, errors);
    assert_string_equal(errors, "");
}

void read_badly(const char *line)
{
    if (read_options(line) != -EINVAL)
        fail_msg("accepted: %s", line);
    assert_memory_equal(errors, "sprintd: ", 9);
    assert_non_null(strchr(errors, '\n'));
    assert_int_equal(strchr(errors, '\n')[1], '\0'); /* one line */
}

uint64_t number_at(size_t offset)
{
    uint64_t number;

    memcpy(&number, (const char *)&options + offset, sizeof(number));
    return number;
}

const char *text_at(size_t offset)
{
    const char *text;

    memcpy(&text, (const char *)&options + offset, sizeof(text));
    return text;
}

bool switch_at(size_t offset)
{
    return *((const char *)&options + offset) != 0;
}

int forget_options(void **state)
{
    (void)state;
    options_fini(&options);
    return 0;
}
