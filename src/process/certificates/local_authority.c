#include "process/certificates/local_authority.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "confine/safe_path.h"
#include "io/small_file.h"
#include "io/whole_file.h"

static const char authority_name[] = "authority.pem";
static const char public_name[] = "authority.crt";
static const char leaf_name[] = LOCAL_AUTHORITY_LEAF;

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    PEM_BYTES_MAX = 64 * 1024,
    HOST_BYTES_MAX = 40 /* bytes of the host's name in the authority's name */
};

__attribute__((format(printf, 3, 4))) static int tell(
    struct local_authority_fault *fault, int err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return err;
}

static int tell_of(struct local_authority_fault *fault, int err,
                   const char *folder, const char *name)
{
    return tell(fault, err, "'%s/%s': %s", folder, name, strerror(-err));
}

/* --- The folder ---------------------------------------------------------- */

/* Returns the home directory of the user whose rights to files are used, or
 * NULL. HOME is valid only if this user started the process. */
static const char *home_of_user(void)
{
    const char *home = getenv("HOME");
    const struct passwd *user;

    if (identity_file_user() == getuid() && home && *home == '/')
        return home;
    user = getpwuid(identity_file_user());
    return user ? user->pw_dir : NULL;
}

int local_authority_find_folder(char folder[PATH_MAX],
                                struct local_authority_fault *fault)
{
    const char *state = getenv("STATE_DIRECTORY");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home;
    int len = 0;

    if (state && *state == '/')
        len = snprintf(folder, PATH_MAX, "%.*s/tls", (int)strcspn(state, ":"),
                       state);
    else if (identity_file_user() == getuid() && data && *data == '/')
        len = snprintf(folder, PATH_MAX, "%s/sprintd/tls", data);
    else if ((home = home_of_user()))
        len = snprintf(folder, PATH_MAX, "%s/.local/share/sprintd/tls", home);
    if (len == 0)
        return tell(fault, -ENOENT,
                    "there is no home to keep an authority in: name a folder "
                    "by STATE_DIRECTORY");
    return len < PATH_MAX ? 0
                          : tell(fault, -ENAMETOOLONG,
                                 "the path to keep an authority at is too "
                                 "long");
}

/* Returns true if only root can make `path` lead elsewhere. `path` may be a
 * file, a directory, or not exist yet. */
static bool is_safe_for_root(const char *path)
{
    struct safe_path at;
    int err = safe_path_open(&at, path, NULL);

    if (err == 0)
        safe_path_close(&at);
    return err != -EPERM;
}

/* Makes the directory `path`, unless it exists. Returns 0 or -errno. */
static int make_step(const char *path, struct local_authority_fault *fault)
{
    if (identity_file_user() == 0 && !is_safe_for_root(path))
        return tell(fault, -EPERM,
                    "'%s': others can write there or on the way, and so lead "
                    "root elsewhere",
                    path);
    if (mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST)
        return 0;
    return tell(fault, -errno,
                "cannot make '%s': %s; STATE_DIRECTORY can name another place",
                path, strerror(errno));
}

int local_authority_make_folder(const char *folder,
                                struct local_authority_fault *fault)
{
    char path[PATH_MAX];
    int err = 0;

    if (strlen(folder) >= sizeof(path))
        return tell(fault, -ENAMETOOLONG, "'%s': %s", folder,
                    strerror(ENAMETOOLONG));
    for (const char *at = folder; *at && err == 0; at++) {
        size_t len = (size_t)(at - folder) + 1;

        if (at[1] != '/' && at[1] != '\0')
            continue;
        memcpy(path, folder, len);
        path[len] = '\0';
        if (*at != '/')
            err = make_step(path, fault);
    }
    return err;
}

static int open_folder(const char *folder, struct stat *st_out,
                       struct local_authority_fault *fault)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    int err;

    *st_out = (struct stat){0};
    if (fd != -1 && fstat(fd, st_out) == 0)
        return fd;
    err = -errno;
    if (fd != -1)
        close(fd);
    return tell(fault, err, "'%s': %s", folder, strerror(-err));
}

/* Opens the folder for keys. Refuses a folder that other users can enter.
 * Returns a descriptor or -errno. */
static int open_private_folder(const char *folder, uid_t owner,
                               struct local_authority_fault *fault)
{
    struct stat st;
    int fd = open_folder(folder, &st, fault);

    if (fd < 0)
        return fd;
    if (st.st_uid == owner && (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    return tell(fault, -EACCES,
                st.st_uid == owner
                    ? "'%s': others may look into it: chmod 700 it, or take it "
                      "away"
                    : "'%s': it is another user's",
                folder);
}

/* --- The authority ------------------------------------------------------- */

static struct tls_authority *create(int64_t now_s)
{
    char host[HOST_NAME_MAX_BYTES + 1] = "";
    char name[TLS_AUTHORITY_NAME_MAX + 1];

    if (gethostname(host, sizeof(host) - 1) == -1 ||
        !host_name_is_valid(bytes_of(host)))
        snprintf(host, sizeof(host), "localhost");
    snprintf(name, sizeof(name), "sprintd local authority %.*s",
             (int)HOST_BYTES_MAX, host);
    return tls_authority_create(name, now_s);
}

/* Makes the authority. Returns 0 or -errno; -EEXIST if another server has just
 * made an authority in the folder. */
static int make(int fd, int64_t now_s)
{
    struct tls_authority *authority = create(now_s);
    struct tls_pem pem = {0};
    int err = authority ? tls_authority_save(authority, &pem) : -ENOMEM;

    if (err == 0)
        err = whole_file_create(fd, authority_name,
                                (struct bytes){pem.text, pem.len}, FILE_MODE);
    tls_pem_fini(&pem);
    tls_authority_destroy(authority);
    return err;
}

/* Reads the authority. If the folder has no authority, makes it first. Returns
 * 0 or -errno. */
static int read_or_make(int fd, uid_t owner, int64_t now_s,
                        struct small_file *file)
{
    int err = whole_file_read(fd, authority_name, owner, PEM_BYTES_MAX, file);

    if (err != -ENOENT)
        return err;
    err = make(fd, now_s);
    if (err != 0 && err != -EEXIST)
        return err;
    return whole_file_read(fd, authority_name, owner, PEM_BYTES_MAX, file);
}

/* Refuses a file that other users can write, since they may have written
 * another authority to the file; returns -EACCES. If other users can read the
 * file, they may have the key: this is logged, and the file is made private.
 * Returns 0, or -errno. */
static int guard(int fd, const char *folder, const struct stat *st)
{
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return -EACCES;
    if (st->st_nlink != 1)
        log_warning("'%s/%s' has another name, too, by which its key can be "
                    "read",
                    folder, authority_name);
    if (!(st->st_mode & 077))
        return 0;
    log_warning("'%s/%s' could be read by others: who did can be any web site "
                "for those who trust it",
                folder, authority_name);
    return fchmodat(fd, authority_name, FILE_MODE, 0) == -1 ? -errno : 0;
}

static int load(struct tls_authority **authority_out, int fd, uid_t owner,
                const char *folder, int64_t now_s,
                struct local_authority_fault *fault)
{
    struct small_file file;
    const char *why = NULL;
    int err = read_or_make(fd, owner, now_s, &file);

    *authority_out = NULL;
    if (err != 0)
        return tell_of(fault, err, folder, authority_name);
    err = guard(fd, folder, &file.seen);
    if (err != 0) {
        small_file_fini(&file);
        return tell(fault, err, "'%s/%s': others can write it: %s", folder,
                    authority_name, strerror(-err));
    }
    *authority_out = tls_authority_load((struct bytes){file.text, file.len},
                                        &why);
    small_file_fini(&file);
    if (*authority_out && tls_authority_is_valid(*authority_out, now_s, &why))
        return 0;
    tls_authority_destroy(*authority_out);
    *authority_out = NULL;
    return tell(fault, -EINVAL,
                "'%s/%s': %s; where it is moved away, another is made, which "
                "has to be trusted anew",
                folder, authority_name, why);
}

/* --- What is kept -------------------------------------------------------- */

static int keep(int fd, const char *folder, const char *name,
                const struct tls_pem *pem, struct local_authority_fault *fault)
{
    int err = whole_file_replace(fd, name, (struct bytes){pem->text, pem->len},
                                 FILE_MODE);

    return err == 0 ? 0
                    : tell(fault, err, "cannot write '%s/%s': %s", folder, name,
                           strerror(-err));
}

static bool is_kept(int fd, uid_t owner, const char *name,
                    const struct tls_pem *pem)
{
    struct small_file file;
    bool is_same;

    if (whole_file_read(fd, name, owner, PEM_BYTES_MAX, &file) != 0)
        return false;
    is_same = bytes_eq((struct bytes){file.text, file.len},
                       (struct bytes){pem->text, pem->len});
    small_file_fini(&file);
    return is_same;
}

static int publish(const struct tls_authority *authority, int fd, uid_t owner,
                   const char *folder, struct local_authority_fault *fault)
{
    struct tls_pem both, certificate = {0};
    const char *why;
    int err = tls_authority_save(authority, &both);

    if (err == 0)
        err = tls_authority_read((struct bytes){both.text, both.len}, NULL,
                                 &certificate, &why);
    if (err != 0)
        tell_of(fault, err, folder, public_name);
    else if (!is_kept(fd, owner, public_name, &certificate))
        err = keep(fd, folder, public_name, &certificate, fault);
    tls_pem_fini(&certificate);
    tls_pem_fini(&both);
    return err;
}

/* Reads the existing certificate. Returns 0, or -ENOENT if there is no valid
 * certificate for `names`. */
static int take_leaf(const struct tls_authority *authority, int fd, uid_t owner,
                     const struct tls_names *names, int64_t now_s,
                     struct tls_pem *leaf_out)
{
    struct small_file file;

    if (whole_file_read(fd, leaf_name, owner, PEM_BYTES_MAX, &file) != 0)
        return -ENOENT;
    if (!tls_authority_approves(authority, (struct bytes){file.text, file.len},
                                names, now_s)) {
        small_file_fini(&file);
        return -ENOENT;
    }
    *leaf_out = (struct tls_pem){file.text, file.len};
    return 0;
}

static int find_leaf(const struct tls_authority *authority, int fd, uid_t owner,
                     const char *folder, const struct tls_names *names,
                     int64_t now_s, struct tls_pem *leaf_out,
                     struct local_authority_fault *fault)
{
    int err = publish(authority, fd, owner, folder, fault);

    if (err != 0)
        return err;
    if (take_leaf(authority, fd, owner, names, now_s, leaf_out) == 0)
        return 0;
    err = tls_authority_sign(authority, names, now_s, leaf_out);
    if (err != 0)
        return tell_of(fault, err, folder, leaf_name);
    err = keep(fd, folder, leaf_name, leaf_out, fault);
    if (err != 0)
        tls_pem_fini(leaf_out);
    return err;
}

int local_authority_leaf(const char *folder, uid_t owner,
                         const struct tls_names *names, int64_t now_s,
                         struct tls_pem *leaf_out,
                         struct local_authority_fault *fault)
{
    struct tls_authority *authority;
    int fd = open_private_folder(folder, owner, fault);
    int err;

    if (fd < 0)
        return fd;
    err = load(&authority, fd, owner, folder, now_s, fault);
    if (err == 0)
        err = find_leaf(authority, fd, owner, folder, names, now_s, leaf_out,
                        fault);
    tls_authority_destroy(authority);
    close(fd);
    return err;
}

/* --- Looking ------------------------------------------------------------- */

/* Reads the authority's certificate. Refuses a file that the folder's owner
 * does not own, or that others can write. Returns 0 or -errno. */
static int read_certificate(int fd, struct small_file *file)
{
    struct stat st;
    int err = fstat(fd, &st) == -1 ? -errno
                                   : whole_file_read(fd, public_name, st.st_uid,
                                                     PEM_BYTES_MAX, file);

    if (err != 0 || !(file->seen.st_mode & (S_IWGRP | S_IWOTH)))
        return err;
    small_file_fini(file);
    return -EACCES;
}

int local_authority_read_at(int fd, const char *folder,
                            struct tls_authority_facts *facts_out,
                            struct tls_pem *certificate_out,
                            struct local_authority_fault *fault)
{
    struct small_file file = {0};
    const char *why = NULL;
    int err = read_certificate(fd, &file);

    if (err != 0)
        return tell_of(fault, err, folder, public_name);
    err = tls_authority_read((struct bytes){file.text, file.len}, facts_out,
                             certificate_out, &why);
    small_file_fini(&file);
    if (err != 0)
        tell(fault, err, "'%s/%s': %s", folder, public_name,
             why ? why : strerror(-err));
    return err;
}

int local_authority_read(const char *folder,
                         struct tls_authority_facts *facts_out,
                         struct tls_pem *certificate_out,
                         struct local_authority_fault *fault)
{
    struct stat st;
    int fd = open_folder(folder, &st, fault);
    int err;

    if (fd < 0)
        return fd;
    err = local_authority_read_at(fd, folder, facts_out, certificate_out,
                                  fault);
    close(fd);
    return err;
}
