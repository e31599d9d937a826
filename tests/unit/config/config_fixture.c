#include "unit/config/config_fixture.h"

struct options options;
struct faults faults;
char *said;

void forget(void)
{
    options_fini(&options);
    faults_fini(&faults);
    free(said);
    said = NULL;
}

void read_below(const char *words, struct bytes text)
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

void read_text(const char *text)
{
    read_below("", bytes_of(text));
}

void read_well(const char *text)
{
    read_text(text);
    if (faults.count > 0)
        fail_msg("%s", said);
}

void expect_faults(const char *text, const char *expected)
{
    read_text(text);
    assert_string_equal(said, expected);
}

int tear_down(void **state)
{
    (void)state;
    forget();
    return 0;
}
