#include "tools/completion.h"

#include <string.h>

#include "config/config_site.h"
#include "config/option_table.h"
#include "process/control.h"
#include "tools/program_command.h"

static bool takes_file(const struct option_row *row)
{
    return row->kind == OPTION_PATH || strcmp(row->name, "access-log") == 0 ||
           (row->value_name && (strcmp(row->value_name, "FILE") == 0 ||
                                strcmp(row->value_name, "SOCKET") == 0));
}

static void print_control_names(FILE *to)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "",
                control_name((enum control_command)i));
}

static void print_program_commands(FILE *to)
{
    for (size_t i = 0; i < program_command_count; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "", program_commands[i].name);
}

/* --- bash ----------------------------------------------------------------- */

/* Prints the part that completes the words behind `sprintd ctl` and the other
 * commands. */
static void print_bash_commands(FILE *to)
{
    fputs("    case $COMP_CWORD-${COMP_WORDS[1]} in\n"
          "    1-*) ;;\n"
          "    *-ctl)\n"
          "        if [[ $before == --control ]]; then\n"
          "            COMPREPLY=($(compgen -f -- \"$now\"))\n"
          "        else\n"
          "            COMPREPLY=($(compgen -W '--control ",
          to);
    print_control_names(to);
    fputs("' -- \"$now\"))\n"
          "        fi\n"
          "        return ;;\n"
          "    *-cache)\n"
          "        if [[ $before == --control ]]; then\n"
          "            COMPREPLY=($(compgen -f -- \"$now\"))\n"
          "        else\n"
          "            COMPREPLY=($(compgen -W '--control purge ls stat --soft "
          "--tag' -- \"$now\"))\n"
          "        fi\n"
          "        return ;;\n"
          "    *-top)\n"
          "        COMPREPLY=($(compgen -W --once -- \"$now\"))\n"
          "        return ;;\n"
          "    2-kv)\n"
          "        COMPREPLY=($(compgen -W 'export import backup' -- "
          "\"$now\"))\n"
          "        return ;;\n"
          "    *-kv)\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -d -- \"$now\"))\n"
          "        return ;;\n"
          "    2-acme)\n"
          "        COMPREPLY=($(compgen -W 'status revoke rollover deactivate' "
          "-- \"$now\"))\n"
          "        return ;;\n"
          "    *-acme)\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -f -- \"$now\"))\n"
          "        return ;;\n"
          "    2-tls)\n"
          "        COMPREPLY=($(compgen -W 'show trust untrust' -- "
          "\"$now\"))\n"
          "        return ;;\n"
          "    *-tls)\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -d -- \"$now\"))\n"
          "        return ;;\n"
          "    esac\n",
          to);
}

/* Prints the part that completes the values of options, unless these are
 * files. */
static void print_bash_values(FILE *to)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->kind == OPTION_SWITCH || takes_file(row))
            continue; /* any word or file may follow */
        if (row->letter)
            fprintf(to, "    -%c|--%s)\n", row->letter, row->name);
        else
            fprintf(to, "    --%s)\n", row->name);
        if (row->choices) {
            fputs("        COMPREPLY=($(compgen -W '", to);
            for (const struct option_choice *choice = row->choices;
                 choice->name; choice++)
                fprintf(to, "%s%s", choice == row->choices ? "" : " ",
                        choice->name);
            fputs("' -- \"$now\"))\n", to);
        }
        fputs("        return ;;\n", to);
    }
}

void completion_print_bash(FILE *to)
{
    fputs("# Completion of sprintd for bash.\n"
          "_sprintd()\n{\n"
          "    local now=${COMP_WORDS[COMP_CWORD]}\n"
          "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n",
          to);
    print_bash_commands(to);
    fputs("    case $before in\n", to);
    print_bash_values(to);
    fputs("    esac\n"
          "    case $now in\n"
          "    -*)\n"
          "        COMPREPLY=($(compgen -W '",
          to);
    for (size_t i = 0; i < option_count(); i++)
        fprintf(to, "%s--%s", i == 0 ? "" : "\n            ",
                option_row(i)->name);
    fputs("' -- \"$now\")) ;;\n"
          "    *)\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -f -- \"$now\"))\n"
          "        if [[ $COMP_CWORD == 1 ]]; then\n"
          "            COMPREPLY+=($(compgen -W '",
          to);
    print_program_commands(to);
    fputs("' -- \"$now\"))\n"
          "        fi ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _sprintd sprintd\n",
          to);
}

/* --- zsh ------------------------------------------------------------------ */

/* Prints the first line of the help, quoted for _arguments. */
static void print_zsh_help(FILE *to, const char *help)
{
    fputc('[', to);
    for (; *help && *help != '\n'; help++) {
        if (*help == '\'')
            fputs("'\\'", to);
        else if (strchr("[]:\\", *help))
            fputc('\\', to);
        fputc(*help, to);
    }
    fputc(']', to);
}

static void print_zsh_value(FILE *to, const struct option_row *row)
{
    fprintf(to, ":%s:", row->value_name);
    if (row->choices) {
        fputc('(', to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++)
            fprintf(to, "%s%s", choice == row->choices ? "" : " ",
                    choice->name);
        fputc(')', to);
    } else if (row->kind == OPTION_PATH) {
        fputs("_files -/", to);
    } else if (takes_file(row)) {
        fputs("_files", to);
    }
}

static void print_zsh_option(FILE *to, const struct option_row *row,
                             const char *dashes, const char *name)
{
    bool has_value = row->kind != OPTION_SWITCH;

    /* Options with a list may be repeated. "=" is only for long options. */
    fprintf(to, " \\\n    '%s%s%s%s", config_is_list(row) ? "*" : "", dashes,
            name, has_value && dashes[1] ? "=" : "");
    print_zsh_help(to, row->help);
    if (has_value)
        print_zsh_value(to, row);
    fputc('\'', to);
}

void completion_print_zsh(FILE *to)
{
    fputs("#compdef sprintd\n"
          "case $(( CURRENT > 2 ))-$words[2] in\n"
          "1-ctl)\n"
          "    _arguments '--control[the server'\\''s]:SOCKET:_files' \\\n"
          "        '*:COMMAND:(",
          to);
    print_control_names(to);
    fputs(")'\n"
          "    return ;;\n"
          "1-cache)\n"
          "    _arguments '--control[the server'\\''s]:SOCKET:_files' "
          "'--soft[asked about, not removed]' '--tag[with one of these]:TAGS:' "
          "'*:COMMAND:(purge ls stat)'\n"
          "    return ;;\n"
          "1-top)\n"
          "    _arguments '--once[and no more]' '*:URL:'\n"
          "    return ;;\n"
          "1-kv)\n"
          "    _arguments '2:COMMAND:(export import backup)' "
          "'*:FOLDER:_files -/'\n"
          "    return ;;\n"
          "1-acme)\n"
          "    _arguments '2:COMMAND:(status revoke rollover deactivate)' "
          "'*:OPTION:_files'\n"
          "    return ;;\n"
          "1-tls)\n"
          "    _arguments '2:COMMAND:(show trust untrust)' "
          "'3:FOLDER:_files -/'\n"
          "    return ;;\n"
          "esac\n"
          "_arguments -s",
          to);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);
        char letter[2] = {row->letter, '\0'};

        if (row->letter)
            print_zsh_option(to, row, "-", letter);
        print_zsh_option(to, row, "--", row->name);
    }
    fputs(" \\\n    '1:DOCROOT:{_files -/; compadd ", to);
    print_program_commands(to);
    fputs("}'\n", to);
}
