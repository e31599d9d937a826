#include "tools/option_page.h"

#include <string.h>

#include "config/config_section.h"
#include "config/option_table.h"

static const char head[] =
    "# Options\n"
    "\n"
    "<!-- `make docs` writes this page from the option table; a test\n"
    "compares them. -->\n"
    "\n"
    "Every option but those marked *command* is also a key of the\n"
    "configuration file: `--port 80` is `port = 80` there, and a switch such\n"
    "as `--autoindex` is `autoindex = yes`. What the command line says wins\n"
    "over the top of the file. An option that may be given several times is a\n"
    "list in the file: `listen = {a, b}`. Sizes take `K`, `M` and `G` (of\n"
    "1024), rates the same (of 1000); times take `ms`, `s`, `m` and `h`, and\n"
    "are seconds without a unit.\n"
    "\n"
    "The column *where* tells where an option may stand, and when a change of\n"
    "it takes effect:\n"
    "\n"
    "| where | places | takes effect |\n"
    "|---|---|---|\n"
    "| command | command line | at the start |\n"
    "| start | command line, top of the file | at the start, or with an "
    "upgrade |\n"
    "| top | command line, top of the file | also with a reload |\n"
    "| location | command line, top of the file, site, location | also with "
    "a reload |\n"
    "\n"
    "How a site or a location overrules what stands above it is told in\n"
    "[configure.md](configure.md#which-value-counts).\n";

/* Prints a text, with a backslash before characters that are special in
 * Markdown. '$' gets a backslash, too, since it would begin mathematics. */
static void print_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\|*_$<>[]`", *text))
            fputc('\\', to);
        fputc(*text == '\n' ? ' ' : *text, to);
    }
}

static const char *scope_name(enum option_scope scope)
{
    switch (scope) {
    case OPTION_GLOBAL:
        return "top";
    case OPTION_START:
        return "start";
    case OPTION_COMMAND:
        return "command";
    case OPTION_LOCATION:
        return "location";
    case OPTION_SITE:
        return "site";
    }
    return "";
}

static void print_choices(FILE *to, const struct option_row *row)
{
    fputs(row->kind == OPTION_CHOICE ? " One of" : " Or", to);
    for (const struct option_choice *choice = row->choices; choice->name;
         choice++)
        fprintf(to, " `%s`%s", choice->name, choice[1].name ? "," : ".");
}

static void print_row(FILE *to, const struct option_row *row)
{
    fprintf(to, "| `--%s%s%s`", row->name, row->value_name ? " " : "",
            row->value_name ? row->value_name : "");
    if (row->letter)
        fprintf(to, ", `-%c`", row->letter);
    fputs(" | ", to);
    if (row->preset)
        fprintf(to, "`%s` ", row->preset);
    fprintf(to, "| %s | ", scope_name(row->scope));
    print_text(to, row->help);
    fputs(".", to);
    if (row->choices)
        print_choices(to, row);
    if (config_is_list(row))
        fprintf(to, " At most %llu.", (unsigned long long)row->max);
    fputs(" |\n", to);
}

void option_page_print(FILE *to)
{
    fputs(head, to);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->group)
            fprintf(to,
                    "\n## %s\n\n"
                    "| option | default | where | |\n|---|---|---|---|\n",
                    row->group);
        print_row(to, row);
    }
}
