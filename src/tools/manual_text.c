#include "tools/manual_priv.h"

#include "base/version.h"
#include "config/config_section.h"

/* --- Text for roff -------------------------------------------------------- */

void manual_put_char(FILE *to, char c, bool is_first)
{
    if (c == '\\')
        fputs("\\e", to);
    else if (c == '-')
        fputs("\\-", to);
    else if (c == '"')
        fputs("\\(dq", to);
    else if (c == '^')
        fputs("\\(ha", to);
    else if (c == '~')
        fputs("\\(ti", to);
    else if ((c == '.' || c == '\'') && is_first)
        fprintf(to, "\\&%c", c);
    else
        fputc(c, to);
}

void manual_put_text(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++)
        manual_put_char(to, *c, c == text || c[-1] == '\n');
}

void manual_put_head(FILE *to, const char *name, int section, const char *what)
{
    fputs(".TH ", to);
    for (const char *c = name; *c; c++)
        fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, to);
    fprintf(to, " %d " SPRINTD_DATE " \"sprintd %s\"\n.SH NAME\n%s \\- %s\n",
            section, SPRINTD_VERSION, name, what);
}

/* --- Options -------------------------------------------------------------- */

static void print_help(FILE *to, const struct option_row *row)
{
    manual_put_text(to, row->help);
    fputs(".\n", to);
    if (row->choices) {
        fputs(row->kind == OPTION_CHOICE ? "One of\n" : "Or\n", to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++) {
            fputs("\\fB", to);
            manual_put_text(to, choice->name);
            fputs(choice[1].name ? "\\fR,\n" : "\\fR.\n", to);
        }
    }
    if (row->preset) {
        fputs("Default: \\fB", to);
        manual_put_text(to, row->preset);
        fputs("\\fR.\n", to);
    }
}

void manual_put_option(FILE *to, const struct option_row *row)
{
    fputs(".TP\n", to);
    if (row->letter)
        fprintf(to, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", to);
    manual_put_text(to, row->name);
    fputs("\\fR", to);
    if (row->value_name)
        fprintf(to, " \\fI%s\\fR", row->value_name);
    fputc('\n', to);
    print_help(to, row);
}

void manual_put_key(FILE *to, const struct option_row *row)
{
    fputs(".TP\n\\fB", to);
    manual_put_text(to, row->name);
    if (config_is_list(row))
        fprintf(to, "\\fR = {\\fI%s\\fR, ...}\n", row->value_name);
    else
        fprintf(to, "\\fR = \\fI%s\\fR\n",
                row->value_name ? row->value_name : "yes\\fR|\\fIno");
    print_help(to, row);
}

void manual_put_values(FILE *to)
{
    manual_put_text(
        to, "Sizes take K, M and G (of 1024), rates the same (of 1000); times "
            "take\nms, s, m and h, and are seconds without.\n");
}
