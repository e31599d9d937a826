#include "server/kv_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "backend/kv_offline.h"
#include "backend/kv_redis.h"
#include "base/log.h"
#include "server/kv_transfer.h"

static int export_all(char **argv)
{
    int err = kv_transfer_export(argv[0], stdout);

    return err == 0 && fflush(stdout) == 0 ? EX_OK : EX_IOERR;
}

static int import_all(char **argv)
{
    struct kv_lmdb_options options = {.path = argv[0]};
    uint64_t lines = 0;
    int err = kv_transfer_import(&options, stdin, &lines);

    fprintf(stderr, "sprintd: %llu lines are in\n", (unsigned long long)lines);
    return err == 0         ? EX_OK
           : err == -EINVAL ? EX_DATAERR
           : err == -EBUSY  ? EX_TEMPFAIL
                            : EX_IOERR;
}

static int back_up(char **argv)
{
    return kv_offline_backup(argv[0], argv[1]) == 0 ? EX_OK : EX_IOERR;
}

/* Another machine's data is its own tools' to copy. */
static bool refuse_url(const char *text)
{
    if (!kv_redis_is_url(text))
        return false;
    fputs("sprintd: kv: this works on a folder; a store on another machine is "
          "copied by the tools of that\n",
          stderr);
    return true;
}

int kv_command_run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **argv);
    } commands[] = {{"export", 1, export_all},
                    {"import", 1, import_all},
                    {"backup", 2, back_up}};

    log_open(LOG_LEVEL_NOTICE);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (argc > 0 && strcmp(argv[0], commands[i].name) == 0 &&
            argc - 1 == commands[i].arguments)
            return refuse_url(argv[1]) ? EX_USAGE : commands[i].run(argv + 1);
    fputs("sprintd: usage: sprintd kv export FOLDER\n"
          "                sprintd kv import FOLDER\n"
          "                sprintd kv backup FOLDER TO\n",
          stderr);
    return EX_USAGE;
}
