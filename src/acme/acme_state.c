#include "acme/acme_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "confine/safe_path.h"
#include "io/whole_file.h"

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    /* The modes of files and folders in a shared folder. The group may read
     * them, since the server may run as another user of the group. */
    SHARED_FOLDER_MODE = 0750,
    SHARED_FILE_MODE = 0640,
    /* The bits that mark a shared folder. Nobody sets this combination by
     * mistake. */
    SHARED_MARK = S_ISGID | S_IRGRP | S_IXGRP,
    OTHERS = S_ISGID | S_IRWXG | S_IRWXO,
    LEFTOVER_S = 600 /* no file takes that long to be written */
};

/* --- Opening and closing ------------------------------------------------- */

/* Opens a folder, which is created if it is missing. */
static int open_folder(int at, const char *name)
{
    bool is_new = mkdirat(at, name, FOLDER_MODE) == 0;
    int err = 0;
    int fd;

    if (!is_new && errno != EEXIST && errno != EROFS)
        return -errno;
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1)
        return -errno;
    if (is_new)
        err = whole_file_sync_folder_name(fd);
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

/* Opens the state's folder. Root opens it only if nobody else can redirect the
 * path to another folder. */
static int open_first(const char *path)
{
    struct safe_path at;
    int fd;

    if (geteuid() != 0)
        return open_folder(AT_FDCWD, path);
    fd = safe_path_open(&at, path, NULL);
    if (fd != 0)
        return fd;
    fd = open_folder(at.fd, at.name);
    safe_path_close(&at);
    return fd;
}

static int tell(char fault[ACME_STATE_FAULT_MAX], int err, const char *path,
                const char *name)
{
    snprintf(fault, ACME_STATE_FAULT_MAX, "'%s%s%s': %s", path,
             name[0] != '\0' ? "/" : "", name, strerror(-err));
    return err;
}

static int tell_first(char fault[ACME_STATE_FAULT_MAX], int err,
                      const char *path)
{
    if (err != -EPERM || geteuid() != 0)
        return tell(fault, err, path, "");
    snprintf(fault, ACME_STATE_FAULT_MAX,
             "'%s': others can write there or on the way, and so lead root "
             "elsewhere",
             path);
    return err;
}

/* Checks that only this user can use the folder, or that it is marked as
 * shared. Another user who could write there could put another key into our
 * certificates. */
static int expect_private(struct acme_state *state,
                          char fault[ACME_STATE_FAULT_MAX])
{
    struct stat st;

    if (fstat(state->fd, &st) == -1)
        return tell(fault, -errno, state->path, "");
    state->is_shared = (st.st_mode & OTHERS) == SHARED_MARK;
    if (st.st_uid == state->owner &&
        (state->is_shared || (st.st_mode & (S_IRWXG | S_IRWXO)) == 0))
        return 0;
    snprintf(fault, ACME_STATE_FAULT_MAX, "'%s': %s", state->path,
             st.st_uid == state->owner ? "others may look into it: chmod 700 it"
                                       : "it is another user's");
    return -EACCES;
}

static const struct {
    const char *name;
    /* the folder above this one; ACME_FOLDERS means the state's own folder */
    enum acme_folder in;
} folders[ACME_FOLDERS] = {[ACME_FOLDER_LIVE] = {"live", ACME_FOLDERS},
                           [ACME_FOLDER_CHALLENGES] = {"challenge",
                                                       ACME_FOLDER_LIVE},
                           [ACME_FOLDER_ORDERS] = {"orders", ACME_FOLDERS},
                           [ACME_FOLDER_ACCOUNTS] = {"accounts", ACME_FOLDERS}};

static int above(const struct acme_state *state, size_t folder)
{
    return folders[folder].in == ACME_FOLDERS ? state->fd
                                              : state->fds[folders[folder].in];
}

/* Whether the group may read the folder. */
static bool is_shown(const struct acme_state *state, size_t folder)
{
    return state->is_shared &&
           (folder == ACME_FOLDER_LIVE || folder == ACME_FOLDER_CHALLENGES);
}

/* Gives the group its rights to a folder, which the umask may have removed.
 * S_ISGID stays where it is, because it gives new files to the group. */
static int let_group_in(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == -1)
        return -errno;
    return (st.st_mode & ACCESSPERMS) == SHARED_FOLDER_MODE ||
                   fchmod(fd, SHARED_FOLDER_MODE | (st.st_mode & S_ISGID)) == 0
               ? 0
               : -errno;
}

static int open_folders(struct acme_state *state,
                        char fault[ACME_STATE_FAULT_MAX])
{
    for (size_t i = 0; i < ACME_FOLDERS; i++) {
        int err = 0;

        state->fds[i] = open_folder(above(state, i), folders[i].name);
        if (state->fds[i] < 0)
            err = state->fds[i];
        else if (is_shown(state, i))
            err = let_group_in(state->fds[i]);
        if (err != 0)
            return tell(fault, err, state->path, folders[i].name);
    }
    return 0;
}

/* Makes the mark that names this process and this boot of the machine. If a
 * container hides the boot's id, the host name replaces it. */
static void make_mark(struct acme_state *state)
{
    struct utsname name = {.nodename = ""};
    char boot[65] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd == -1 ? -1 : read(fd, boot, sizeof(boot) - 1);

    if (fd != -1)
        close(fd);
    boot[len > 0 ? strcspn(boot, "\n") : 0] = '\0';
    if (boot[0] == '\0' && uname(&name) == 0)
        snprintf(boot, sizeof(boot), "%s", name.nodename);
    snprintf(state->mark, sizeof(state->mark), "%s %ld\n", boot,
             (long)getpid());
}

int acme_state_open(struct acme_state *state, const char *path,
                    char fault[ACME_STATE_FAULT_MAX])
{
    int err;

    *state = (struct acme_state){.path = path,
                                 .fds = {-1, -1, -1, -1},
                                 .fd = -1,
                                 .lock = -1,
                                 .owner = geteuid()};
    make_mark(state);
    state->fd = open_first(path);
    if (state->fd < 0)
        return tell_first(fault, state->fd, path);
    err = expect_private(state, fault);
    if (err == 0)
        err = open_folders(state, fault);
    if (err != 0)
        acme_state_close(state);
    return err;
}

void acme_state_close(struct acme_state *state)
{
    for (size_t i = 0; i < ACME_FOLDERS; i++)
        if (state->fds[i] >= 0)
            close(state->fds[i]);
    if (state->fd >= 0)
        close(state->fd);
    if (state->lock >= 0)
        close(state->lock);
    state->fd = state->lock = -1;
}

static bool has_name(int fd, int at, const char *name)
{
    struct stat open, named;

    return fstat(fd, &open) == 0 &&
           fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool acme_state_is_there(const struct acme_state *state)
{
    if (!has_name(state->fd, AT_FDCWD, state->path))
        return false;
    for (size_t i = 0; i < ACME_FOLDERS; i++)
        if (!has_name(state->fds[i], above(state, i), folders[i].name))
            return false;
    return true;
}

/* --- Files --------------------------------------------------------------- */

int acme_state_read(const struct acme_state *state, enum acme_folder folder,
                    const char *name, struct small_file *file)
{
    return whole_file_read(state->fds[folder], name, state->owner,
                           ACME_FILE_MAX, file);
}

int acme_state_write(const struct acme_state *state, enum acme_folder folder,
                     const char *name, struct bytes text)
{
    return whole_file_replace(state->fds[folder], name, text,
                              is_shown(state, folder) ? SHARED_FILE_MODE
                                                      : FILE_MODE);
}

void acme_state_remove(const struct acme_state *state, enum acme_folder folder,
                       const char *name)
{
    unlinkat(state->fds[folder], name, 0);
}

int acme_state_read_account(const struct acme_state *state, const char *id,
                            const char *name, struct small_file *file)
{
    int fd = open_folder(state->fds[ACME_FOLDER_ACCOUNTS], id);
    int err = fd < 0 ? fd
                     : whole_file_read(fd, name, state->owner, ACME_FILE_MAX,
                                       file);

    if (fd >= 0)
        close(fd);
    return err;
}

int acme_state_write_account(const struct acme_state *state, const char *id,
                             const char *name, struct bytes text)
{
    int fd = open_folder(state->fds[ACME_FOLDER_ACCOUNTS], id);
    int err = fd < 0 ? fd : whole_file_replace(fd, name, text, FILE_MODE);

    if (fd >= 0)
        close(fd);
    return err;
}

void acme_state_set_aside(const struct acme_state *state, const char *id,
                          const char *name)
{
    int fd = open_folder(state->fds[ACME_FOLDER_ACCOUNTS], id);
    char other[NAME_MAX + 1];

    if (fd < 0)
        return;
    snprintf(other, sizeof(other), "%.200s.damaged", name);
    renameat(fd, name, fd, other);
    close(fd);
}

int acme_state_promote(const struct acme_state *state, const char *id,
                       const char *name, const char *to)
{
    int fd = open_folder(state->fds[ACME_FOLDER_ACCOUNTS], id);
    int err = fd < 0 ? fd : 0;

    if (err == 0)
        err = renameat(fd, name, fd, to) == -1 ? -errno
                                               : whole_file_sync_folder(fd);
    if (fd >= 0)
        close(fd);
    return err;
}

static DIR *open_walk(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *walk = fd == -1 ? NULL : fdopendir(fd);

    if (!walk && fd != -1)
        close(fd);
    return walk;
}

static bool is_old(int folder, const char *name, int64_t least_s)
{
    struct stat st;

    return least_s == 0 ||
           (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            time(NULL) - st.st_mtime >= least_s);
}

/* Removes the files of folder `name` whose names begin with `begin`, and that
 * were not changed for least_s seconds. */
static void sweep(int at, const char *name, const char *begin, int64_t least_s)
{
    DIR *walk = open_walk(at, name);
    struct dirent *entry;

    while (walk && (entry = readdir(walk)))
        if (strncmp(entry->d_name, begin, strlen(begin)) == 0 &&
            strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            is_old(dirfd(walk), entry->d_name, least_s))
            unlinkat(dirfd(walk), entry->d_name, 0);
    if (walk)
        closedir(walk);
}

/* Sweeps the folders of all accounts: what a killed process left there may be a
 * key. Younger files may still be written, since commands change accounts
 * without the lock. */
static void sweep_accounts(int accounts)
{
    DIR *walk = open_walk(accounts, ".");
    struct dirent *entry;

    while (walk && (entry = readdir(walk)))
        if (entry->d_name[0] != '.')
            sweep(accounts, entry->d_name, ".", LEFTOVER_S);
    if (walk)
        closedir(walk);
}

void acme_state_sweep(const struct acme_state *state)
{
    sweep(state->fds[ACME_FOLDER_CHALLENGES], ".", "", 0);
    sweep(state->fds[ACME_FOLDER_LIVE], ".", ".", 0);
    sweep(state->fds[ACME_FOLDER_ORDERS], ".", ".", 0);
    sweep_accounts(state->fds[ACME_FOLDER_ACCOUNTS]);
}
