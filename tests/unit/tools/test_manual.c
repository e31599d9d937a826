#include "tools/help.h"
#include "tools/manual.h"

#include "config/option_table.h"
#include "process/control.h"
#include "suite.h"
#include "tools/completion.h"
#include "tools/program_command.h"
#include "unit/place.h"

typedef void print_fn(FILE *to);

/* What a page holds; to be freed. */
static char *print(print_fn *page)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    page(to);
    fclose(to);
    return text;
}

/* The name as roff has it. */
static const char *escaped(const char *name)
{
    static char text[200];
    char *to = text;

    for (; *name; name++) {
        if (*name == '-')
            *to++ = '\\';
        *to++ = *name;
    }
    *to = '\0';
    return text;
}

TEST(every_option_has_its_place_in_all_of_them)
{
    char *program = print(manual_print_program);
    char *file = print(manual_print_file);
    char *bash = print(completion_print_bash);
    char *zsh = print(completion_print_zsh);

    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);
        char text[300];

        snprintf(text, sizeof(text), "\\fB\\-\\-%s\\fR", escaped(row->name));
        assert_non_null(strstr(program, text));
        snprintf(text, sizeof(text), ".TP\n\\fB%s\\fR = ", escaped(row->name));
        if (row->scope == OPTION_COMMAND)
            assert_null(strstr(file, text));
        else
            assert_non_null(strstr(file, text));
        snprintf(text, sizeof(text), "--%s", row->name);
        assert_non_null(strstr(bash, text));
        assert_non_null(strstr(zsh, text));
    }
    free(program);
    free(file);
    free(bash);
    free(zsh);
}

/* Gives a page to a command, where there is such a command; fails when that
 * ends badly or says anything. */
static void judge(print_fn *page, const char *tool, const char *format)
{
    struct place place;
    char *text = print(page);
    char command[600];
    char said[1000];
    size_t len;
    FILE *from;

    snprintf(command, sizeof(command), "command -v %s >/dev/null", tool);
    if (system(command) == 0) {
        assert_int_equal(place_open(&place), 0);
        assert_int_equal(place_write(&place, "page", text), 0);
        snprintf(command, sizeof(command), "cd %s && %s 2>&1", place.name,
                 format);
        from = popen(command, "r");
        assert_non_null(from);
        len = fread(said, 1, sizeof(said) - 1, from);
        said[len] = '\0';
        if (pclose(from) != 0 || len > 0)
            fail_msg("%s: %s", tool, said);
        place_close(&place);
    }
    free(text);
}

TEST(the_pages_are_sound_roff)
{
    static print_fn *const pages[] = {manual_print_program, manual_print_file};

    for (size_t i = 0; i < 2; i++) {
        judge(pages[i], "mandoc", "mandoc -Tlint -W style page");
        judge(pages[i], "man", "man --warnings -l -Tutf8 ./page >/dev/null");
        judge(pages[i], "groff", "groff -man -Tutf8 -ww -z page");
    }
}

TEST(the_completions_are_sound_shell)
{
    judge(completion_print_bash, "bash", "bash -n page");
    judge(completion_print_zsh, "zsh", "zsh -n page");
}

TEST(bash_completes_names_and_choices)
{
    judge(completion_print_bash, "bash",
          "bash -c '. ./page && COMP_CWORD=1 COMP_WORDS=(sprintd --sched) && "
          "_sprintd && test \"${COMPREPLY[*]}\" = --schedule && "
          "COMP_CWORD=2 COMP_WORDS=(sprintd --schedule f) && "
          "_sprintd && test \"${COMPREPLY[*]}\" = \"fsp fifo fair\"'");
}

TEST(every_command_has_its_place_in_all_of_them)
{
    char *program = print(manual_print_program);
    char *bash = print(completion_print_bash);
    char *zsh = print(completion_print_zsh);

    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        const char *name = control_name((enum control_command)i);
        char text[100];

        snprintf(text, sizeof(text), ".TP\n.B %s\n", name);
        assert_non_null(strstr(program, text));
        assert_non_null(strstr(bash, name));
        assert_non_null(strstr(zsh, name));
    }
    free(program);
    free(bash);
    free(zsh);
}

TEST(what_is_no_server_is_told_of_in_all_of_them)
{
    char *help = print(help_print);
    char *program = print(manual_print_program);
    char *bash = print(completion_print_bash);
    char *zsh = print(completion_print_zsh);

    for (size_t i = 0; i < program_command_count; i++) {
        const struct program_command *command = &program_commands[i];
        char text[100];

        for (size_t k = 0; command->usages[k]; k++) {
            snprintf(text, sizeof(text), " sprintd %s %s\n", command->name,
                     command->usages[k]);
            assert_non_null(strstr(help, text));
        }
        snprintf(text, sizeof(text), ".br\n.B sprintd %s\n", command->name);
        assert_non_null(strstr(program, text));
        snprintf(text, sizeof(text), "\n.TP\n\\fBsprintd %s", command->name);
        assert_non_null(strstr(program, text));
        snprintf(text, sizeof(text), "*-%s)\n", command->name);
        assert_non_null(strstr(bash, text));
        snprintf(text, sizeof(text), "1-%s)\n", command->name);
        assert_non_null(strstr(zsh, text));
    }
    free(help);
    free(program);
    free(bash);
    free(zsh);
}

TEST(the_program_s_page_has_every_section)
{
    static const char *const sections[] = {
        "NAME",     "SYNOPSIS",    "DESCRIPTION", "OPTIONS",
        "COMMANDS", "SIGNALS",     "EXIT STATUS", "REFUSED REQUESTS",
        "FILES",    "ENVIRONMENT", "EXAMPLES",    "SEE ALSO"};
    char *program = print(manual_print_program);
    const char *at = program;

    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        char text[100];

        snprintf(text, sizeof(text), ".SH %s\n", sections[i]);
        at = strstr(at, text);
        assert_non_null(at);
    }
    free(program);
}

TEST(bash_completes_commands)
{
    judge(completion_print_bash, "bash",
          "bash -c '. ./page && COMP_CWORD=2 COMP_WORDS=(sprintd ctl re) && "
          "_sprintd && test \"${COMPREPLY[*]}\" = \"reload reopen report\" && "
          "COMP_CWORD=2 COMP_WORDS=(sprintd kv e) && "
          "_sprintd && test \"${COMPREPLY[*]}\" = export'");
}
