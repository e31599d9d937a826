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
     "Shows the statistics of a running server, by the URL of its --status;\n"
     "with --once, prints them once.\n"},
    {"ctl",
     run_ctl,
     {"[--control SOCKET] COMMAND"},
     "Commands a running server through its --control. COMMAND: reload,\n"
     "status, stop, upgrade, reopen or report.\n"},
    {"cache",
     run_cache,
     {"[--control SOCKET] purge [--soft] [--tag TAGS] [ADDRESS]",
      "[--control SOCKET] ls [ADDRESS]", "[--control SOCKET] stat"},
     "Lists or purges what the --proxy-cache of a running server keeps,\n"
     "through its --control. With --soft, purged answers are kept, but\n"
     "checked before they are used.\n"},
    {"kv",
     kv_command_run,
     {"export FOLDER [SECONDS]", "import FOLDER", "backup FOLDER TO [SECONDS]"},
     "Exports the store in a folder as lines of JSON, imports such lines, or\n"
     "copies the store. Gives up when nothing comes from the store for\n"
     "SECONDS (60).\n"},
    {"acme",
     acme_tool_run,
     {"status [OPTIONS]", "revoke NAME [OPTIONS]", "rollover [OPTIONS]",
      "deactivate [OPTIONS]"},
     "Shows the state of certificates from an authority, revokes one,\n"
     "changes the key of the account, or closes the account. OPTIONS are the\n"
     "server's; by default, they are what its configuration file says.\n"},
    {"tls",
     tls_command_run,
     {"show [FOLDER]", "trust [FOLDER [OWNER]]", "untrust"},
     "Shows the authority that signs for this machine, and makes this\n"
     "machine trust it, or no longer.\n"},
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
