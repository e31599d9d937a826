#include "server/manual.h"

#include "server/config_file.h"
#include "server/config_outline.h"
#include "server/config_site.h"
#include "server/option_table.h"
#include "server/version.h"

/* Of the texts here; not of the day they are printed on, so that the same
 * source makes the same pages. */
#define MANUAL_DATE "2026-11-21"

/* --- Text for roff -------------------------------------------------------- */

static void print_char(FILE *to, char c, bool is_first)
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

static void print_text(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++)
        print_char(to, *c, c == text || c[-1] == '\n');
}

static void print_head(FILE *to, const char *name, int section,
                       const char *what)
{
    fputs(".TH ", to);
    for (const char *c = name; *c; c++)
        fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, to);
    fprintf(to, " %d " MANUAL_DATE " \"sprintd %s\"\n.SH NAME\n%s \\- %s\n",
            section, SPRINTD_VERSION, name, what);
}

/* --- Options -------------------------------------------------------------- */

static void print_help(FILE *to, const struct option_row *row)
{
    print_text(to, row->help);
    fputs(".\n", to);
    if (row->kind == OPTION_CHOICE) {
        fputs("One of", to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++) {
            fputs(" \\fB", to);
            print_text(to, choice->name);
            fputs(choice[1].name ? "\\fR," : "\\fR.\n", to);
        }
    }
    if (row->preset) {
        fputs("Default: \\fB", to);
        print_text(to, row->preset);
        fputs("\\fR.\n", to);
    }
}

static void print_option(FILE *to, const struct option_row *row)
{
    fputs(".TP\n", to);
    if (row->letter)
        fprintf(to, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", to);
    print_text(to, row->name);
    fputs("\\fR", to);
    if (row->value_name)
        fprintf(to, " \\fI%s\\fR", row->value_name);
    fputc('\n', to);
    print_help(to, row);
}

static void print_key(FILE *to, const struct option_row *row)
{
    fputs(".TP\n\\fB", to);
    print_text(to, row->name);
    if (config_is_list(row))
        fprintf(to, "\\fR = {\\fI%s\\fR, ...}\n", row->value_name);
    else
        fprintf(to, "\\fR = \\fI%s\\fR\n",
                row->value_name ? row->value_name : "yes\\fR|\\fIno");
    print_help(to, row);
}

static const char values[] =
    "Sizes take K, M and G (of 1024), rates the same (of 1000); times take\n"
    "ms, s and m, and are seconds without.\n";

static void print_commands(FILE *to)
{
    fputs(".SH COMMANDS\n"
          "The answer comes when the thing is done; status 0 says it was.\n"
          "Only root and the server's user are heard.\n"
          ".TP\n.B reload\nRead the configuration anew. A faulty one changes\n"
          "nothing, and is explained.\n"
          ".TP\n.B upgrade\nLet a new process of the program that lies there "
          "now\n"
          "take the sockets over; without it, the old one stays.\n"
          ".TP\n.B stop\nAs SIGTERM.\n"
          ".TP\n.BR status \", \" report\nTell how it is; print statistics.\n"
          ".TP\n.B reopen\nOpen the access log anew.\n"
          ".SH SIGNALS\n"
          ".TP\n.BR SIGTERM \", \" SIGINT\n"
          "Stop: take no more connections, finish what is being sent within\n"
          "\\fB\\-\\-drain\\-timeout\\fR. A second one stops at once.\n"
          ".TP\n.B SIGQUIT\nThe same without a deadline.\n"
          ".TP\n.B SIGHUP\nRead the configuration anew.\n"
          ".TP\n.B SIGUSR1\nOpen the access log anew.\n"
          ".TP\n.B SIGUSR2\nPrint statistics on standard error; with\n"
          "\\fB\\-\\-config\\fR, upgrade, too.\n",
          to);
}

static void print_rest(FILE *to)
{
    fputs(
        ".SH EXIT STATUS\n"
        ".TP\n.B 0\nIt ended as it was told to, or printed what it should.\n"
        ".TP\n.B 64\nThe command line is wrong.\n"
        ".TP\n.B 66\nThe directory to serve is not there.\n"
        ".TP\n.B 67\nThere is no such user or group.\n"
        ".TP\n.B 69\nIt cannot listen where it should, another server has its\n"
        "pid file, or the kernel lacks a part of the strict sandbox.\n"
        ".TP\n.B 71\nThe system refuses threads, descriptors or memory.\n"
        ".TP\n.B 73\nThe access log or the pid file cannot be made.\n"
        ".TP\n.B 74\nWhat it was to print could not be written.\n"
        ".TP\n.B 77\nA permission is missing.\n"
        ".TP\n.B 78\nThe configuration is wrong; all that is wrong was told.\n"
        ".SH FILES\n"
        ".TP\n.I /etc/sprintd/sprintd.conf\n"
        "The configuration that the packaged service reads.\n"
        ".TP\n.I /etc/mime.types\nMedia types of file names.\n"
        ".SH ENVIRONMENT\n"
        "What \\fB${\\fINAME\\fB}\\fR in a configuration file names.\n"
        ".SH EXAMPLES\n"
        ".TP\nServe a directory on a free port, which is printed:\n"
        "sprintd \\-\\-port 0 /srv/www\n"
        ".TP\nFind all that is wrong with a configuration:\n"
        "sprintd \\-t \\-c /etc/sprintd/sprintd.conf\n"
        ".TP\nSee what is in force, and where it is from:\n"
        "sprintd \\-T \\-c /etc/sprintd/sprintd.conf\n"
        ".TP\nWatch it:\n"
        "sprintd top http://localhost:8080/_sprintd\n"
        ".SH SEE ALSO\n"
        ".BR sprintd.conf (5),\n.BR logrotate (8),\n.BR systemd (1)\n",
        to);
}

void manual_print_program(FILE *to)
{
    print_head(to, "sprintd", 8,
               "web server that sends the shortest response first");
    fputs(".SH SYNOPSIS\n"
          ".B sprintd\n[\\fIOPTIONS\\fR] [\\fIDOCROOT\\fR]\n.br\n"
          ".B sprintd \\-\\-config\n.I FILE\n[\\fIOPTIONS\\fR]\n.br\n"
          ".B sprintd top\n[\\fB\\-\\-once\\fR] \\fIURL\\fR\n.br\n"
          ".B sprintd ctl\n[\\fB\\-\\-control\\fR \\fISOCKET\\fR] "
          "\\fICOMMAND\\fR\n"
          ".SH DESCRIPTION\n"
          ".B sprintd\n"
          "serves the files below \\fIDOCROOT\\fR, or the sites of a\n"
          "configuration file, over HTTP/1.1. What is left to send of each\n"
          "response decides who sends next, so that a small page does not\n"
          "wait behind a large download.\n.PP\n"
          ".B sprintd top\n"
          "shows what a server does that was given \\fB\\-\\-status\\fR.\n"
          ".PP\n.B sprintd ctl\n"
          "commands one through its \\fB\\-\\-control\\fR; see COMMANDS.\n"
          ".SH OPTIONS\n"
          "An option's value follows as the next argument or behind '='.\n"
          "What is on or off is turned off by \\fB=no\\fR. Every option but\n"
          "those under Configuration and those that only print is a key of\n"
          ".BR sprintd.conf (5)\n"
          "too; what the command line says wins over the top of the file.\n",
          to);
    print_text(to, values);
    for (size_t i = 0; i < option_row_count; i++) {
        if (option_rows[i].group)
            fprintf(to, ".SS %s\n", option_rows[i].group);
        print_option(to, &option_rows[i]);
    }
    print_commands(to);
    print_rest(to);
}

static void print_form(FILE *to)
{
    fputs(
        ".SH DESCRIPTION\n"
        "The file that \\fBsprintd \\-\\-config\\fR reads: keys with values,\n"
        "and sites with locations.\n"
        ".PP\n.nf\n.RS 4\n"
        "port = 80\n\n"
        "site \"example\" {\n"
        "    hosts = {\"example.org\", \"*.example.org\"}\n"
        "    root = /srv/example\n\n"
        "    location \"/downloads\" {    # this prefix of the path\n"
        "        autoindex = yes\n"
        "    }\n"
        "    location \"= /\" {           # this path alone\n"
        "        cache\\-control = no\\-cache\n"
        "    }\n"
        "}\n"
        ".RE\n.fi\n"
        ".PP\n"
        "A key stands once in its section. Values are words, or texts in\n"
        "quotes on one line: in double ones a backslash takes the meaning\n"
        "from what follows and \\fB${\\fINAME\\fB}\\fR is replaced from the\n"
        "environment (\\fB${\\fINAME\\fB:\\-\\fIother\\fB}\\fR where it is "
        "not\n"
        "set), in single ones not. Of a list the values stand between braces\n"
        "with commas. Comments begin with # or //, or lie between /* and */.\n"
        "Files do not include others.\n"
        ".PP\n"
        "What is not said in a location is as in its site, and there as at\n"
        "the top; a list that is said again replaces the other. A relative\n"
        "root begins at the directory of the file.\n",
        to);
    fprintf(to,
            "The file has at most %d bytes, %d sites, of each %d hosts and %d\n"
            "locations, and %d values in a list.\n",
            CONFIG_FILE_BYTES_MAX, CONFIG_SITES_MAX, CONFIG_HOSTS_MAX,
            CONFIG_LOCATIONS_MAX, CONFIG_LIST_MAX);
}

static void print_sections(FILE *to)
{
    fputs(".SH SITES\n"
          ".TP\n\\fBsite\\fR \"\\fIname\\fR\" { ... }\n"
          "At the top. The name is for messages.\n"
          ".TP\n\\fBhosts\\fR = {\\fIHOST\\fR, ...}\n"
          "In a site: the hosts it answers for, without ports: names,\n"
          "*.\\fIname\\fR for whatever is below a name, IPv4 addresses, and\n"
          "IPv6 addresses in brackets. A site without them serves what no\n"
          "other does; where there is none, the first site.\n"
          ".TP\n\\fBlocation\\fR \"\\fI/prefix\\fR\" { ... }\n"
          "In a site: what is below that path; the longest prefix counts.\n"
          ".TP\n\\fBlocation\\fR \"= \\fI/path\\fR\" { ... }\n"
          "The same for that path alone; it goes before prefixes.\n",
          to);
}

void manual_print_file(FILE *to)
{
    print_head(to, "sprintd.conf", 5, "configuration of sprintd");
    print_form(to);
    print_sections(to);
    fputs(".SH KEYS OF SITES AND LOCATIONS\nThese may stand at the top too.\n",
          to);
    for (size_t i = 0; i < option_row_count; i++)
        if (option_rows[i].scope == OPTION_LOCATION)
            print_key(to, &option_rows[i]);
    fputs(".SH KEYS AT THE TOP\n", to);
    print_text(to, values);
    for (size_t i = 0; i < option_row_count; i++)
        if (option_is_at_top(option_rows[i].scope))
            print_key(to, &option_rows[i]);
    fputs(".SH SEE ALSO\n.BR sprintd (8)\n", to);
}

/* --- Completions ---------------------------------------------------------- */

static bool takes_file(const struct option_row *row)
{
    return row->kind == OPTION_PATH || strcmp(row->name, "config") == 0 ||
           strcmp(row->name, "access-log") == 0;
}

void manual_print_bash(FILE *to)
{
    fputs("# Completion of sprintd for bash.\n"
          "_sprintd()\n{\n"
          "    local now=${COMP_WORDS[COMP_CWORD]}\n"
          "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n"
          "    case $before in\n",
          to);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (row->kind == OPTION_SWITCH || takes_file(row))
            continue; /* what stands behind is any argument, or a file */
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
    fputs("    esac\n"
          "    case $now in\n"
          "    -*)\n"
          "        COMPREPLY=($(compgen -W '",
          to);
    for (size_t i = 0; i < option_row_count; i++)
        fprintf(to, "%s--%s", i == 0 ? "" : "\n            ",
                option_rows[i].name);
    fputs("' -- \"$now\")) ;;\n"
          "    *)\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -f -- \"$now\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _sprintd sprintd\n",
          to);
}

/* The first line of the help, in single quotes and brackets as _arguments
 * has it. */
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
    if (row->kind == OPTION_CHOICE) {
        fputc('(', to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++)
            fprintf(to, "%s%s", choice == row->choices ? "" : " ",
                    choice->name);
        fputc(')', to);
    } else if (row->kind == OPTION_PATH && row->choices == NULL) {
        fputs("_files -/", to); /* the only one that is a folder */
    } else if (takes_file(row)) {
        fputs("_files", to);
    }
}

static void print_zsh_option(FILE *to, const struct option_row *row,
                             const char *dashes, const char *name)
{
    bool has_value = row->kind != OPTION_SWITCH;

    /* A list may come again; "=" is for long ones only. */
    fprintf(to, " \\\n    '%s%s%s%s", config_is_list(row) ? "*" : "", dashes,
            name, has_value && dashes[1] ? "=" : "");
    print_zsh_help(to, row->help);
    if (has_value)
        print_zsh_value(to, row);
    fputc('\'', to);
}

void manual_print_zsh(FILE *to)
{
    fputs("#compdef sprintd\n_arguments -s", to);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        char letter[2] = {row->letter, '\0'};

        if (row->letter)
            print_zsh_option(to, row, "-", letter);
        print_zsh_option(to, row, "--", row->name);
    }
    fputs(" \\\n    '*:DOCROOT:_files -/'\n", to);
}
