#include "tools/manual.h"

#include "http/reason.h"
#include "tools/manual_priv.h"
#include "tools/program_command.h"

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
    ".TP\n\\fBsprintd cache purge\\fR [\\fB\\-\\-soft\\fR] "
    "[\\fB\\-\\-tag\\fR \\fITAGS\\fR] [\\fIADDRESS\\fR]\n"
    "Takes out of a server\\(aqs \\fB\\-\\-proxy\\-cache\\fR what it keeps of\n"
    "an address, \\fBexample.org/a?b\\fR, of all that begin so if it ends in\n"
    "\\(aq*\\(aq, or of what has one of the tags, with commas between. With\n"
    "\\fB\\-\\-soft\\fR it stays, to be asked about before it is used.\n"
    "Before these words \\fB\\-\\-control\\fR \\fISOCKET\\fR says which "
    "server.\n"
    ".TP\n\\fBsprintd cache ls\\fR [\\fIADDRESS\\fR]\n"
    "Prints a line for each thing that is kept: how many seconds it is fresh,\n"
    "its status, its bytes, its address, and what it varies by.\n"
    ".TP\n\\fBsprintd cache stat\\fR\n"
    "Prints how much is kept, where, and what gave way.\n"
    ".TP\n\\fBsprintd kv export\\fR \\fIFOLDER\\fR [\\fISECONDS\\fR]\n"
    "Writes the store of \\fB\\-\\-kv\\fR in that folder to standard output,\n"
    "a line of JSON for each key. A server may have it open, and goes on\n"
    "writing.\n"
    ".TP\n\\fBsprintd kv import\\fR \\fIFOLDER\\fR\n"
    "Reads such lines from standard input into a store, which no server may\n"
    "have open.\n"
    ".TP\n\\fBsprintd kv backup\\fR \\fIFOLDER TO\\fR [\\fISECONDS\\fR]\n"
    "Copies a store to another folder, whether or not a server has it.\n"
    "This and an export are given up when nothing comes of the store for\n"
    "so many seconds (60).\n"
    ".PP\n"
    "Run as root, these work on a folder as its owner. For all others but\n"
    "root it must be out of reach, and so must the way to it.\n"
    ".TP\n\\fBsprintd acme status\\fR [\\fIOPTIONS\\fR]\n"
    "Prints how the certificates stand that an authority is asked for: until\n"
    "when they are good, when there is more to do, and what has failed.\n"
    "\\fIOPTIONS\\fR are the server\\(aqs; without any they are\n"
    "\\fB\\-\\-config\\fR \\fI/etc/sprintd/sprintd.conf\\fR.\n"
    ".TP\n\\fBsprintd acme revoke\\fR \\fINAME\\fR[=\\fIREASON\\fR] "
    "[\\fIOPTIONS\\fR]\n"
    "Takes one back, by a reason of RFC 5280; another is got.\n"
    ".TP\n\\fBsprintd acme rollover\\fR [\\fIOPTIONS\\fR]\n"
    "Gives the accounts with authorities other keys.\n"
    ".TP\n\\fBsprintd acme deactivate\\fR [\\fIOPTIONS\\fR]\n"
    "Closes these accounts.\n"
    ".TP\n\\fBsprintd tls show\\fR [\\fIFOLDER\\fR]\n"
    "Prints which authority signs for this machine: where its certificate\n"
    "lies, its fingerprint, until when it is valid, and how to trust it. In\n"
    "\\fIFOLDER\\fR, or in \\fItls\\fR below \\fBSTATE_DIRECTORY\\fR,\n"
    "\\fBXDG_DATA_HOME\\fR\\fI/sprintd\\fR or "
    "\\fI~/.local/share/sprintd\\fR.\n"
    ".TP\n\\fBsprintd tls trust\\fR [\\fIFOLDER\\fR [\\fIOWNER\\fR]]\n"
    "Puts it among the authorities that this machine trusts: as root into\n"
    "\\fI/usr/local/share/ca\\-certificates\\fR, and into the databases of\n"
    "the user\\(aqs Firefox and Chromium, for which\n"
    ".BR certutil (1)\n"
    "is wanted. What could not be told is said. The folder of another user,\n"
    "as of a service, is trusted when that user is named, too.\n"
    ".TP\n\\fBsprintd tls untrust\\fR\n"
    "Takes it away from there.\n";

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
    ".TP\n.B 65\nWhat was to be read is damaged.\n"
    ".TP\n.B 66\nThe directory to serve, or an authority, is not there.\n"
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

/* Prints literal words in bold, and placeholders in italics. */
static void print_usage(FILE *to, const char *usage)
{
    fputs("\\fB", to);
    while (*usage) {
        size_t len = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        if (len > 1)
            fprintf(to, "\\fI%.*s\\fB", (int)len, usage);
        else
            manual_put_char(to, *usage, false);
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
        manual_put_text(to, reason_word(reason).data);
        fprintf(to, "\n%u: ", reason_status(reason));
        manual_put_text(to, reason_text(reason).data);
        fputs("\n", to);
    }
}

void manual_print_program(FILE *to)
{
    manual_put_head(to, "sprintd", 8,
                    "web server that sends the shortest response first");
    fputs(".SH SYNOPSIS\n"
          ".B sprintd\n[\\fIOPTIONS\\fR] [\\fIDOCROOT\\fR]\n.br\n"
          ".B sprintd \\-\\-config\n.I FILE\n[\\fIOPTIONS\\fR]\n",
          to);
    print_usages(to);
    fputs(".SH DESCRIPTION\n"
          ".B sprintd\n"
          "serves the files below \\fIDOCROOT\\fR, or the sites of a\n"
          "configuration file, over HTTP/1.1, HTTP/2 and TLS. What is left to "
          "send of each\n"
          "response decides who sends next, so that a small page does not\n"
          "wait behind a large download.\n.PP\n"
          ".BR \"sprintd top\" ,\n"
          ".B sprintd ctl\n"
          "and\n"
          ".B sprintd cache\n"
          "speak to a server that runs,\n"
          ".B sprintd kv\n"
          "works on a store,\n"
          ".B sprintd acme\n"
          "on certificates that authorities give,\n"
          ".B sprintd tls\n"
          "on whom this machine trusts; see COMMANDS.\n"
          ".SH OPTIONS\n"
          "An option's value follows as the next argument or behind '='.\n"
          "What is on or off is turned off by \\fB=no\\fR. Every option but\n"
          "those under Configuration and those that only print is a key of\n"
          ".BR sprintd.conf (5)\n"
          "too; what the command line says wins over the top of the file.\n",
          to);
    manual_put_values(to);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->group)
            fprintf(to, ".SS %s\n", row->group);
        manual_put_option(to, row);
    }
    fputs(commands, to);
    fputs(signals, to);
    fputs(statuses, to);
    print_reasons(to);
    fputs(surroundings, to);
    fputs(examples, to);
}
