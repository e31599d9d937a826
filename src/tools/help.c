#include "tools/help.h"

#include <string.h>

#include "config/option_table.h"
#include "tools/program_command.h"

enum { USAGE_COLUMN = 7, HELP_COLUMN = 30, HELP_WIDTH = 80 };

/* Prints a row's help from HELP_COLUMN on. */
static void print_row_help(FILE *to, const struct option_row *row)
{
    size_t column = HELP_COLUMN;

    for (const char *c = row->help; *c; c++) {
        fputc(*c, to);
        column++;
        if (*c == '\n') {
            fprintf(to, "%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
    }
    if (row->preset && column + strlen(row->preset) + 3 > HELP_WIDTH)
        fprintf(to, "\n%*s[%s]", HELP_COLUMN, "", row->preset);
    else if (row->preset)
        fprintf(to, " [%s]", row->preset);
    fputc('\n', to);
}

void help_print(FILE *to)
{
    fputs("Usage: sprintd [OPTIONS] [DOCROOT]\n", to);
    for (size_t i = 0; i < program_command_count; i++)
        program_command_print_usages(to, &program_commands[i], USAGE_COLUMN);
    fputs(
        "Serves the files below DOCROOT (default: www), or the sites of a\n"
        "configuration file, over HTTP/1.1, HTTP/2 and TLS, the shortest\n"
        "response first. top shows the statistics of a running server, by the\n"
        "URL of its --status; ctl commands a running server through its\n"
        "--control; cache lists and purges what its --proxy-cache keeps; kv\n"
        "exports a store as lines of JSON, imports them, or copies the store;\n"
        "acme shows the certificates from an authority, and revokes them; tls\n"
        "shows the authority of this machine, and makes it trusted or not (a\n"
        "DOCROOT named top is ./top).\n",
        to);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);
        int column;

        if (row->group)
            fprintf(to, "\n%s:\n", row->group);
        if (row->letter)
            column = fprintf(to, "  -%c, --%s", row->letter, row->name);
        else
            column = fprintf(to, "      --%s", row->name);
        if (row->value_name)
            column += fprintf(to, " %s", row->value_name);
        if (column + 2 > HELP_COLUMN) {
            fputc('\n', to);
            column = 0;
        }
        fprintf(to, "%*s", HELP_COLUMN - column, "");
        print_row_help(to, row);
    }
    fputs(
        "\nSizes take K, M, G (1024); times take ms, s, m, h.\n"
        "SIGTERM and SIGINT stop within --drain-timeout, SIGQUIT without it,\n"
        "a second one at once; SIGHUP reads the configuration anew, SIGUSR1\n"
        "opens the access log anew, SIGUSR2 prints statistics and, with\n"
        "--config, lets a new binary take over.\n",
        to);
}

/* Only the first word may be "-h": a later "-h" may be a value. */
bool help_is_asked(int count, char *const *words)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], "--help") == 0)
            return true;
    return count > 0 && strcmp(words[0], "-h") == 0;
}

void help_print_command(FILE *to, const struct program_command *command)
{
    fputs("Usage:\n", to);
    program_command_print_usages(to, command, USAGE_COLUMN);
    fputs(command->about, to);
}
