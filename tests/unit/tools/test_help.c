#include "tools/help.h"

#include "config/option_table.h"
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

TEST(help_fits_into_eighty_columns)
{
    char *text = read_help();

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80)
            fail_msg("%.*s", (int)strcspn(line, "\n"), line);
    free(text);
}
