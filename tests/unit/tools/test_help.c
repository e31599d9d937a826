#include "tools/help.h"

#include "config/option_table.h"
#include "process/control.h"
#include "suite.h"
#include "tools/program_command.h"

static char *read_help(void)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    assert_non_null(to);
    help_print(to);
    fclose(to);
    return text;
}

static void expect_words(const char *text, const char *before, const char *word)
{
    char words[80];

    snprintf(words, sizeof(words), "%s%s", before, word);
    if (!strstr(text, words))
        fail_msg("no %s in: %s", words, text);
}

TEST(help_names_every_option)
{
    char *text = read_help();

    for (size_t i = 0; i < option_count(); i++)
        expect_words(text, "--", option_row(i)->name);
    expect_words(text, "-p, ", "--port N");
    free(text);
}

TEST(help_names_every_command)
{
    char *text = read_help();

    for (size_t i = 0; i < program_command_count; i++)
        expect_words(text, "sprintd ", program_commands[i].name);
    free(text);
}

static void expect_narrow(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80)
            fail_msg("%.*s", (int)strcspn(line, "\n"), line);
}

TEST(help_fits_into_eighty_columns)
{
    char *text = read_help();

    expect_narrow(text);
    free(text);
}

TEST(each_command_has_help_of_its_own)
{
    for (size_t i = 0; i < program_command_count; i++) {
        const struct program_command *command = &program_commands[i];
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);

        assert_non_null(to);
        help_print_command(to, command);
        fclose(to);
        expect_narrow(text);
        for (size_t k = 0; command->usages[k]; k++) {
            char usage[100];

            snprintf(usage, sizeof(usage), " sprintd %s %s\n", command->name,
                     command->usages[k]);
            assert_non_null(strstr(text, usage));
        }
        assert_non_null(strstr(text, command->about));
        assert_int_equal(text[len - 1], '\n');
        free(text);
    }
}

TEST(help_names_the_commands_to_a_server)
{
    const struct program_command *ctl = program_command_find("ctl");

    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        expect_words(ctl->about, "", control_name((enum control_command)i));
}

TEST(help_is_asked_for_anywhere_behind_a_command)
{
    static const struct {
        const char *words[4];
        bool is_asked;
    } cases[] = {
        {{"--help"}, true},
        {{"-h"}, true},
        {{"export", "--help"}, true},
        {{"--help", "whatever"}, true},
        {{NULL}, false},
        {{"export", "-h"}, false}, /* a folder, say */
        {{"--helpful"}, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int count = 0;

        while (cases[i].words[count])
            count++;
        assert_int_equal(help_is_asked(count, (char *const *)cases[i].words),
                         cases[i].is_asked);
    }
}
