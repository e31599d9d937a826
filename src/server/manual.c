#include "server/manual.h"

#include "http/reason.h"
#include "io/small_file.h"
#include "server/config_section.h"
#include "server/config_site.h"
#include "server/config_source.h"
#include "server/config_text.h"
#include "server/option_table.h"
#include "server/program_command.h"
#include "server/version.h"

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
    fprintf(to, " %d " SPRINTD_DATE " \"sprintd %s\"\n.SH NAME\n%s \\- %s\n",
            section, SPRINTD_VERSION, name, what);
}

/* --- Options -------------------------------------------------------------- */

static void print_help(FILE *to, const struct option_row *row)
{
    print_text(to, row->help);
    fputs(".\n", to);
    if (row->choices) {
        fputs(row->kind == OPTION_CHOICE ? "One of\n" : "Or\n", to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++) {
            fputs("\\fB", to);
            print_text(to, choice->name);
            fputs(choice[1].name ? "\\fR,\n" : "\\fR.\n", to);
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
    "ms, s, m and h, and are seconds without.\n";

/* --- sprintd(8) ----------------------------------------------------------- */

static const char commands[] =
    ".SH COMMANDS\n"
    ".TP\n\\fBsprintd top\\fR [\\fB\\-\\-once\\fR] \\fIURL\\fR\n"
    "Shows on a terminal what a server does that was given\n"
    "\\fB\\-\\-status\\fR, anew every second, or \\fBonce\\fR. The\n"
    "\\fIURL\\fR is of its status: http://localhost:8080/_sprintd\n"
    ".TP\n\\fBsprintd ctl\\fR [\\fB\\-\\-control\\fR \\fISOCKET\\fR] "
    "\\fICOMMAND\\fR\n"
    "Gives a command to the server that was given the same\n"
    "\\fB\\-\\-control\\fR, by default \\fI/run/sprintd/control\\fR, and\n"
    "ends when it is done. The server hears root and the user it runs as.\n"
    ".RS\n"
    ".TP\n.B reload\n"
    "Read the configuration again. Running requests end under the old one,\n"
    "and listening sockets that are still wanted stay open. What is wrong\n"
    "with it is printed, and then nothing changes.\n"
    ".TP\n.B status\nPrint what it is doing.\n"
    ".TP\n.B stop\nThe same as SIGTERM.\n"
    ".TP\n.B upgrade\n"
    "Start the program anew, as it lies there now. The new one takes over\n"
    "the listening sockets; when it serves, the old one finishes what it is\n"
    "sending and ends. If the new one cannot start, the old one goes on.\n"
    ".TP\n.B reopen\nOpen the access log anew.\n"
    ".TP\n.B report\nPrint statistics.\n"
    ".RE\n"
    ".TP\n\\fBsprintd kv export\\fR \\fIFOLDER\\fR\n"
    "Writes the store of \\fB\\-\\-kv\\fR in that folder to standard output,\n"
    "a line of JSON for each key. A server may have it open, and goes on\n"
    "writing.\n"
    ".TP\n\\fBsprintd kv import\\fR \\fIFOLDER\\fR\n"
    "Reads such lines from standard input into a store, which no server may\n"
    "have open.\n"
    ".TP\n\\fBsprintd kv backup\\fR \\fIFOLDER TO\\fR\n"
    "Copies a store to another folder, whether or not a server has it.\n"
    ".PP\n"
    "Run as root, these work on a folder as its owner. One that is root\\(aqs\n"
    "must be out of reach for others, and so must the way to it.\n";

static const char signals[] =
    ".SH SIGNALS\n"
    ".TP\n.BR SIGTERM \", \" SIGINT\n"
    "Stop: take no more connections, finish what is being sent within\n"
    "\\fB\\-\\-drain\\-timeout\\fR. A second one stops at once.\n"
    ".TP\n.B SIGQUIT\n"
    "The same without a limit of time. A second one stops at once.\n"
    ".TP\n.B SIGHUP\n"
    "Read the configuration again; a faulty one changes nothing.\n"
    ".TP\n.B SIGUSR1\nOpen the access log anew.\n"
    ".TP\n.B SIGUSR2\n"
    "Print statistics on standard error; with \\fB\\-\\-config\\fR, upgrade\n"
    "too.\n"
    ".TP\n.B SIGWINCH\nIgnored.\n";

static const char statuses[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nIt ended as it was told to, or printed what it should.\n"
    ".TP\n.B 1\n\\fBctl\\fR: the server refuses, and says why.\n"
    ".TP\n.B 64\nThe command line is wrong.\n"
    ".TP\n.B 66\nThe directory to serve is not there.\n"
    ".TP\n.B 67\nThere is no such user or group.\n"
    ".TP\n.B 69\nIt cannot listen where it should, or no server is there.\n"
    ".TP\n.B 70\nA fault of sprintd itself.\n"
    ".TP\n.B 71\nThe system refuses threads, descriptors or memory.\n"
    ".TP\n.B 73\nThe access log or the pid file cannot be made.\n"
    ".TP\n.B 74\nWhat it was to print could not be written.\n"
    ".TP\n.B 75\n\\fBctl\\fR: the server does not answer in time.\n"
    ".TP\n.B 76\n\\fBctl\\fR, \\fBtop\\fR: what answers is not sprintd.\n"
    ".TP\n.B 77\nA permission is missing.\n"
    ".TP\n.B 78\nThe configuration is wrong; all that is wrong was told.\n";

static const char surroundings[] =
    ".SH FILES\n"
    ".TP\n.I /etc/sprintd/sprintd.conf\n"
    "The configuration that the packaged service reads.\n"
    ".TP\n.I /etc/mime.types\nMedia types of names that sprintd does not "
    "know.\n"
    ".TP\n.I /run/sprintd/control\nThe socket of \\fBsprintd ctl\\fR.\n"
    ".TP\n.I /var/log/sprintd\nThe access log of the packaged service.\n"
    ".TP\n.I /usr/share/doc/sprintd/examples\nConfigurations to begin with.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNOTIFY_SOCKET\\fR\n"
    "The service manager is told there when the server serves, reloads,\n"
    "stops, and which process it is after an upgrade; see\n"
    ".BR sd_notify (3).\n"
    ".TP\n\\fBWATCHDOG_USEC\\fR, \\fBWATCHDOG_PID\\fR\n"
    "How often the service manager wants to be told that every worker makes\n"
    "progress.\n"
    ".TP\n\\fBLISTEN_FDS\\fR, \\fBLISTEN_PID\\fR, \\fBLISTEN_FDNAMES\\fR\n"
    "Sockets that the service manager has opened; see\n"
    ".BR sd_listen_fds (3).\n"
    "Those the server was to listen on are taken instead of new ones.\n"
    ".TP\n\\fBRUNTIME_DIRECTORY\\fR\n"
    "Where the socket of \\fBsprintd ctl\\fR is made when\n"
    "\\fB\\-\\-control\\fR does not say it, instead of \\fI/run/sprintd\\fR.\n"
    ".TP\n\\fBJOURNAL_STREAM\\fR\n"
    "When it names standard error, messages carry priorities for the\n"
    "journal.\n"
    ".TP\n\\fBTERM\\fR, \\fBNO_COLOR\\fR\nHow \\fBsprintd top\\fR draws.\n"
    ".PP\n"
    "A configuration file may name others as "
    "\\fB${\\fR\\fINAME\\fR\\fB}\\fR.\n";

static const char examples[] =
    ".SH EXAMPLES\n"
    ".TP\nServe a directory on a free port, which is printed:\n"
    "sprintd \\-\\-port 0 /srv/www\n"
    ".TP\nFind all that is wrong with a configuration:\n"
    "sprintd \\-t \\-c /etc/sprintd/sprintd.conf\n"
    ".TP\nSee what is in force, and where it is from:\n"
    "sprintd \\-T \\-c /etc/sprintd/sprintd.conf\n"
    ".TP\nPut a changed configuration in force:\n"
    "sprintd ctl reload\n"
    ".TP\nGo over to a new version of the program, losing no request:\n"
    "sprintd ctl upgrade\n"
    ".TP\nWatch it:\n"
    "sprintd top http://localhost:8080/_sprintd\n"
    ".SH SEE ALSO\n"
    ".BR sprintd.conf (5),\n.BR logrotate (8),\n.BR systemd (1)\n";

/* Bold what is written so, in italics what stands for something. */
static void print_usage(FILE *to, const char *usage)
{
    fputs("\\fB", to);
    while (*usage) {
        size_t len = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        if (len > 1)
            fprintf(to, "\\fI%.*s\\fB", (int)len, usage);
        else
            print_char(to, *usage, false);
        usage += len > 1 ? len : 1;
    }
    fputs("\\fR\n", to);
}

static void print_usages(FILE *to)
{
    for (size_t i = 0; i < program_command_count; i++) {
        const struct program_command *command = &program_commands[i];

        for (size_t k = 0; command->usages[k]; k++) {
            fprintf(to, ".br\n.B sprintd %s\n", command->name);
            print_usage(to, command->usages[k]);
        }
    }
}

static void print_reasons(FILE *to)
{
    fputs(".SH REFUSED REQUESTS\n"
          "The answer to a request that cannot be taken says why, and so do\n"
          "the field \\fBreason\\fR of the access log, and standard error "
          "from\n"
          "\\fB\\-\\-log\\-level info\\fR on, by these words:\n",
          to);
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        enum reason reason = (enum reason)i;

        fputs(".TP\n.B ", to);
        print_text(to, reason_word(reason).data);
        fprintf(to, "\n%u: ", reason_status(reason));
        print_text(to, reason_text(reason).data);
        fputs("\n", to);
    }
}

void manual_print_program(FILE *to)
{
    print_head(to, "sprintd", 8,
               "web server that sends the shortest response first");
    fputs(".SH SYNOPSIS\n"
          ".B sprintd\n[\\fIOPTIONS\\fR] [\\fIDOCROOT\\fR]\n.br\n"
          ".B sprintd \\-\\-config\n.I FILE\n[\\fIOPTIONS\\fR]\n",
          to);
    print_usages(to);
    fputs(".SH DESCRIPTION\n"
          ".B sprintd\n"
          "serves the files below \\fIDOCROOT\\fR, or the sites of a\n"
          "configuration file, over HTTP/1.1. What is left to send of each\n"
          "response decides who sends next, so that a small page does not\n"
          "wait behind a large download.\n.PP\n"
          ".B sprintd top\n"
          "and\n"
          ".B sprintd ctl\n"
          "speak to a server that runs,\n"
          ".B sprintd kv\n"
          "works on a store; see COMMANDS.\n"
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
    fputs(commands, to);
    fputs(signals, to);
    fputs(statuses, to);
    print_reasons(to);
    fputs(surroundings, to);
    fputs(examples, to);
}

/* --- sprintd.conf(5) ------------------------------------------------------ */

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
        "\\fBinclude\\fR \\fI\"sites/*.conf\"\\fR, at the top, in a site or in "
        "a\n"
        "location, stands for the text of the files of that name, in the "
        "order\n"
        "of their names; in each what is opened is closed. These may include\n"
        "others. All relative paths begin at the directory of the first file.\n"
        ".PP\n"
        "What is not said in a location is as in its site, and there as at\n"
        "the top; a list that is said again replaces the other.\n",
        to);
    fprintf(
        to,
        "A file has at most %d bytes, and all %d files together %d; there "
        "are\n"
        "at most %d sites, of each %d hosts and %d locations, and %d values "
        "in a\n"
        "list. Escapes and variables make at most %d bytes of text.\n",
        SMALL_FILE_BYTES_MAX, CONFIG_FILES_MAX, CONFIG_BYTES_MAX,
        CONFIG_SITES_MAX, CONFIG_HOSTS_MAX, CONFIG_LOCATIONS_MAX,
        CONFIG_LIST_MAX, CONFIG_MADE_BYTES_MAX);
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
          "In a site, or at the top of a file without sites: what is below\n"
          "that path; the longest prefix counts.\n"
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
        if (option_rows[i].scope == OPTION_GLOBAL ||
            option_rows[i].scope == OPTION_START)
            print_key(to, &option_rows[i]);
    fputs(".SH FILES\n"
          ".TP\n.I /etc/sprintd/sprintd.conf\n"
          "What the packaged service reads.\n"
          ".TP\n.I /usr/share/doc/sprintd/examples\nMore examples.\n"
          ".SH EXAMPLES\n"
          "A single\\-page app, its files kept by browsers for a year, with a\n"
          "log of its visitors in the top of the file:\n"
          ".PP\n.nf\n.RS 4\n"
          "access\\-log = /srv/access.log\n\n"
          "site \"app\" {\n"
          "    hosts = {\"app.example.org\"}\n"
          "    root = /srv/app\n"
          "    try\\-files = {\"$path\", \"/index.html\"}\n\n"
          "    location \"/assets\" {\n"
          "        cache\\-control = \"max\\-age=31536000, immutable\"\n"
          "    }\n"
          "}\n"
          ".RE\n.fi\n"
          ".SH SEE ALSO\n.BR sprintd (8)\n",
          to);
}
