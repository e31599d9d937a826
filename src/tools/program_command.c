#include "tools/program_command.h"

#include <string.h>

#include "tools/acme_tool.h"
#include "tools/cache_tool.h"
#include "tools/ctl.h"
#include "tools/kv_command.h"
#include "tools/tls_command.h"
#include "tools/top.h"

static int run_top(int count, char **arguments)
{
    return top_run(count, arguments, stderr);
}

static int run_cache(int count, char **arguments)
{
    return cache_tool_run(count, arguments, stdout, stderr);
}

static int run_ctl(int count, char **arguments)
{
    return ctl_run(count, arguments, stdout, stderr);
}

const struct program_command program_commands[] = {
    {"top",
     run_top,
     {"[--once] URL"},
     "Shows what a server does, by the URL of its --status; with --once, "
     "once.\n"},
    {"ctl",
     run_ctl,
     {"[--control SOCKET] COMMAND"},
     "Has a server do a COMMAND, through its --control: reload, status, stop,\n"
     "upgrade, reopen or report.\n"},
    {"cache",
     run_cache,
     {"[--control SOCKET] purge [--soft] [--tag TAGS] [ADDRESS]",
      "[--control SOCKET] ls [ADDRESS]", "[--control SOCKET] stat"},
     "Tells what a server keeps of others' answers (--proxy-cache), through "
     "its\n"
     "--control, and has it removed, or with --soft asked about before it "
     "serves.\n"},
    {"kv",
     kv_command_run,
     {"export FOLDER [SECONDS]", "import FOLDER", "backup FOLDER TO [SECONDS]"},
     "Writes the store in a folder out as lines of JSON, reads them in, or "
     "copies\n"
     "it; it is given up when nothing comes of the store for SECONDS (60).\n"},
    {"acme",
     acme_tool_run,
     {"status [OPTIONS]", "revoke NAME [OPTIONS]", "rollover [OPTIONS]",
      "deactivate [OPTIONS]"},
     "Tells how certificates stand that an authority gives, and gives them up, "
     "or\n"
     "the account. OPTIONS are the server's; by default, they are what its\n"
     "configuration file says.\n"},
    {"tls",
     tls_command_run,
     {"show [FOLDER]", "trust [FOLDER [OWNER]]", "untrust"},
     "Says which authority signs for this machine, and has it trusted here, or "
     "no\n"
     "longer.\n"},
};

const size_t program_command_count = sizeof(program_commands) /
                                     sizeof(program_commands[0]);

const struct program_command *program_command_find(const char *word)
{
    for (size_t i = 0; i < program_command_count; i++)
        if (strcmp(word, program_commands[i].name) == 0)
            return &program_commands[i];
    return NULL;
}

void program_command_print_usages(FILE *to,
                                  const struct program_command *command,
                                  int indent)
{
    for (size_t i = 0; command->usages[i]; i++)
        fprintf(to, "%*ssprintd %s %s\n", indent, "", command->name,
                command->usages[i]);
}
