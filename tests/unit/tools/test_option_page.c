#include "tools/option_page.h"

#include "config/option_table.h"
#include "suite.h"

/* Tests run where README.md is. */
static const char path[] = "docs/options.md";

/* What the page is to say; to be freed. */
static char *made(void)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    assert_non_null(to);
    option_page_print(to);
    assert_int_equal(fclose(to), 0);
    return text;
}

TEST(the_page_in_the_documentation_is_that_of_the_table)
{
    static char kept[1 << 18];
    char *text = made();
    FILE *file = fopen(path, "r");
    size_t len;

    if (!file) {
        free(text);
        skip();
    }
    len = fread(kept, 1, sizeof(kept) - 1, file);
    kept[len] = '\0';
    fclose(file);
    if (strcmp(kept, text) != 0)
        fail_msg("%s is not what the option table says: make docs", path);
    free(text);
}

TEST(every_option_has_one_row)
{
    char *text = made();

    for (size_t i = 0; i < option_count(); i++) {
        char row[100];
        const char *found;

        snprintf(row, sizeof(row), "\n| `--%s%s", option_row(i)->name,
                 option_row(i)->value_name ? " " : "`");
        found = strstr(text, row);
        if (!found)
            fail_msg("no row of --%s", option_row(i)->name);
        assert_null(strstr(found + 1, row));
    }
    free(text);
}

/* In each row four columns, whatever the help says. */
TEST(no_help_breaks_its_table)
{
    char *text = made();
    char *rest = text;

    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t bars = 0;

        if (strncmp(line, "| `--", 5) != 0)
            continue;
        for (const char *c = line; *c; c++)
            bars += *c == '|' && c > line && c[-1] != '\\';
        assert_int_equal(bars, 4);
        assert_int_equal(line[strlen(line) - 1], '|');
    }
    free(text);
}
