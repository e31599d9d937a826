#include "tools/kv_command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "kv/kv_offline.h"
#include "kv/redis/kv_redis.h"
#include "tools/kv_owner.h"
#include "tools/kv_reader.h"
#include "tools/kv_transfer.h"

enum { PATIENCE_MAX_S = 86400 };

/* Reads how many seconds to wait for a store from `text`, the last argument.
 * Without the argument, `text` is NULL, and the default is used. Returns false
 * if `text` is no number of seconds. */
static bool read_patience(unsigned *seconds_out, const char *text)
{
    char *end;
    unsigned long seconds;

    *seconds_out = KV_READER_PATIENCE_S;
    if (!text)
        return true;
    seconds = strtoul(text, &end, 10);
    if (!byte_is_digit(*text) || *end != '\0' || seconds < 1 ||
        seconds > PATIENCE_MAX_S)
        return false;
    *seconds_out = (unsigned)seconds;
    return true;
}

static int complain_of_patience(const char *text)
{
    fprintf(stderr, "sprintd: kv: '%s' is no number of seconds from 1 to %d\n",
            text, PATIENCE_MAX_S);
    return EX_USAGE;
}

static int write_lines(const char *path, int fd)
{
    FILE *out = fdopen(fd, "w");
    int err = out ? kv_transfer_export(path, out) : -errno;

    if (out && fclose(out) != 0 && err == 0)
        err = -errno;
    return err;
}

static int export_all(char **argv)
{
    struct kv_reader reader = {.folder = argv[0], .read = write_lines};

    if (!read_patience(&reader.patience_s, argv[1]))
        return complain_of_patience(argv[1]);
    return kv_reader_run(&reader, STDOUT_FILENO);
}

static int import_all(char **argv)
{
    struct kv_lmdb_options options = {0};
    uint64_t lines = 0;
    int status, err;

    /* The store's owner must not get files that root's shell had open. */
    close_range(STDERR_FILENO + 1, UINT_MAX, 0);
    status = kv_owner_become(argv[0], true, &options.path);
    if (status != EX_OK)
        return status;
    err = kv_transfer_import(&options, stdin, &lines);
    fprintf(stderr, "sprintd: %llu lines are in\n", (unsigned long long)lines);
    return err == 0         ? EX_OK
           : err == -EINVAL ? EX_DATAERR
           : err == -EBUSY  ? EX_TEMPFAIL
                            : EX_IOERR;
}

static int back_up(char **argv)
{
    struct kv_reader reader = {.folder = argv[0], .read = kv_offline_copy};
    struct kv_target target;
    struct kv_backup backup;
    int status;

    if (!read_patience(&reader.patience_s, argv[2]))
        return complain_of_patience(argv[2]);
    status = kv_owner_open_target(&target, argv[0], argv[1]);
    if (status != EX_OK)
        return status;
    if (kv_offline_begin_backup(&backup, &target) != 0)
        status = EX_IOERR;
    else if ((status = kv_reader_run(&reader, backup.fd)) != EX_OK)
        kv_offline_drop_backup(&backup);
    else if (kv_offline_keep_backup(&backup) != 0)
        status = EX_IOERR;
    close(target.folder);
    return status;
}

/* Refuses a URL: the data of an engine on another machine are copied by that
 * engine's own tools. Returns whether `text` is a URL. */
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
        bool may_wait; /* one more argument may say how long to wait */
        int (*run)(char **argv);
    } commands[] = {{"export", 1, true, export_all},
                    {"import", 1, false, import_all},
                    {"backup", 2, true, back_up}};

    log_open(LOG_LEVEL_NOTICE);
    /* The user that root becomes here must not get files that root's shell had
     * open. */
    close_range(STDERR_FILENO + 1, ~0U, 0);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (argc > 0 && strcmp(argv[0], commands[i].name) == 0 &&
            argc - 1 >= commands[i].arguments &&
            argc - 1 <= commands[i].arguments + commands[i].may_wait)
            return refuse_url(argv[1]) ? EX_USAGE : commands[i].run(argv + 1);
    fputs("sprintd: usage: sprintd kv export FOLDER [SECONDS]\n"
          "                sprintd kv import FOLDER\n"
          "                sprintd kv backup FOLDER TO [SECONDS]\n",
          stderr);
    return EX_USAGE;
}
