#include "server/kv_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "backend/kv_offline.h"
#include "backend/kv_redis.h"
#include "base/log.h"
#include "server/kv_owner.h"
#include "server/kv_transfer.h"

static int export_all(char **argv)
{
    const char *path;
    int status = kv_owner_become(argv[0], false, &path);

    if (status != EX_OK)
        return status;
    return kv_transfer_export(path, stdout) == 0 && fflush(stdout) == 0
               ? EX_OK
               : EX_IOERR;
}

static int import_all(char **argv)
{
    struct kv_lmdb_options options = {0};
    int status = kv_owner_become(argv[0], true, &options.path);
    uint64_t lines = 0;
    int err;

    if (status != EX_OK)
        return status;
    err = kv_transfer_import(&options, stdin, &lines);
    fprintf(stderr, "sprintd: %llu lines are in\n", (unsigned long long)lines);
    return err == 0         ? EX_OK
           : err == -EINVAL ? EX_DATAERR
           : err == -EBUSY  ? EX_TEMPFAIL
                            : EX_IOERR;
}

static _Noreturn void copy(const char *folder, int fd)
{
    const char *path;
    int status = kv_owner_become(folder, false, &path);

    if (status == EX_OK)
        status = kv_offline_copy(path, fd) == 0 ? EX_OK : EX_IOERR;
    fflush(NULL);
    _exit(status);
}

/* A process of its own becomes the store's owner and reads: whoever wrote the
 * store may have led it astray, and it has no more of the target than the copy.
 */
static int copy_apart(const char *folder, int fd)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        copy(folder, fd);
    if (pid == -1) {
        fprintf(stderr, "sprintd: kv: fork: %s\n", strerror(errno));
        return EX_OSERR;
    }
    while (waitpid(pid, &status, 0) == -1)
        if (errno != EINTR)
            return EX_OSERR;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}

static int back_up(char **argv)
{
    struct kv_backup backup;
    int status;

    if (kv_offline_begin_backup(&backup, argv[1]) != 0)
        return EX_IOERR;
    status = copy_apart(argv[0], backup.fd);
    if (status == EX_OK)
        return kv_offline_keep_backup(&backup) == 0 ? EX_OK : EX_IOERR;
    kv_offline_drop_backup(&backup);
    return status;
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
