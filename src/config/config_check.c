#include "config/config_check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "auth/htpasswd.h"
#include "config/certificates/upstream_trust.h"
#include "config/listen_address.h"
#include "config/option_table.h"
#include "config/proxies.h"
#include "config/store_rule.h"

int config_origin(const struct options *options, const char *name)
{
    const struct option_row *row = option_find(bytes_of(name));

    return row ? options->origins.rows[option_number(row)] : ORIGIN_DEFAULT;
}

/* --- Roots and passwords ------------------------------------------------- */

static void check_root(const char *root, int line, struct faults *faults)
{
    struct stat st;
    int err = 0;

    if (stat(root, &st) == -1)
        err = errno;
    else if (!S_ISDIR(st.st_mode))
        err = ENOTDIR;
    else if (access(root, R_OK | X_OK) == -1)
        err = errno;
    if (err != 0)
        faults_add(faults, line, "root '%.300s': %s", root, strerror(err));
}

static void check_passwords(const char *path, int line, struct faults *faults)
{
    struct htpasswd *htpasswd = NULL;
    struct htpasswd_fault fault = {0};
    int err = htpasswd_open(&htpasswd, path, &fault);

    if (err == 0)
        htpasswd_release(&htpasswd);
    else if (fault.line > 0)
        faults_add(faults, line, "auth-file '%.300s', line %u: %s", path,
                   fault.line, fault.text);
    else
        faults_add(faults, line, "auth-file '%.300s': %s", path,
                   err == -EINVAL ? fault.text : strerror(-err));
}

static int line_of(const struct option_origins *origins, const char *name)
{
    return origins->rows[option_number(option_find(bytes_of(name)))];
}

/* Checks the files that a site or location names itself. Inherited ones are
 * checked only where they are named. */
static void check_own(const struct location_options *options,
                      const struct option_origins *origins,
                      struct faults *faults)
{
    int root = line_of(origins, "root");
    int passwords = line_of(origins, "auth-file");

    if (options->root && root != ORIGIN_DEFAULT)
        check_root(options->root, root, faults);
    if (options->auth_file && passwords != ORIGIN_DEFAULT)
        check_passwords(options->auth_file, passwords, faults);
}

static void check_places(const struct options *options, struct faults *faults)
{
    if (options->location.root)
        check_root(options->location.root, config_origin(options, "root"),
                   faults);
    if (options->location.auth_file)
        check_passwords(options->location.auth_file,
                        config_origin(options, "auth-file"), faults);
    for (size_t i = 0; i < options->site_count; i++) {
        const struct site_options *site = &options->sites[i];
        const struct option_origins *origins = &options->site_origins[i];

        check_own(&site->options, origins, faults);
        for (size_t j = 0; j < site->location_count; j++)
            check_own(&site->locations[j].options, &origins->locations[j],
                      faults);
    }
}

/* --- Upstream servers and stores ----------------------------------------- */

static void check_upstreams(const struct options *options,
                            struct faults *faults)
{
    struct upstream_trust_fault fault;
    struct tls_trust *trust;

    if (proxies_need_trust(options)) {
        if (upstream_trust_open(&trust, options, NULL, NULL, &fault))
            tls_trust_release(&trust);
        else
            faults_add(faults, config_origin(options, fault.option), "%s",
                       fault.text);
    }
    if (store_rule_any_is_tls(options)) {
        if (upstream_trust_open_kv(&trust, options, &fault))
            tls_trust_release(&trust);
        else
            faults_add(faults, config_origin(options, fault.option), "%s",
                       fault.text);
    }
}

/* --- Folders of files that the server makes ------------------------------- */

/* Checks whether a file can be created at `path`. Returns 0 or an errno. */
static int try_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path,
                                   slash == path ? 1 : (size_t)(slash - path))
                         : strdup(".");
    int err = 0;

    if (!folder)
        return ENOMEM;
    if (access(folder, W_OK | X_OK) == -1)
        err = errno;
    free(folder);
    return err;
}

/* Checks the folder of a file that the server will create. Missing rights are
 * no fault, since the user of --test may have fewer than the server. */
static void check_folder(const struct options *options, const char *name,
                         const char *path, struct faults *faults)
{
    int err = path ? try_folder(path) : 0;

    if (err == ENOENT || err == ENOTDIR)
        faults_add(faults, config_origin(options, name), "%s '%.300s': %s",
                   name, path, strerror(err));
}

static void check_folders(const struct options *options, struct faults *faults)
{
    check_folder(options, "pid-file", options->pid_file, faults);
    check_folder(options, "control", options->control, faults);
}

static void check_log(const struct options *options, struct faults *faults)
{
    const char *where = options->access_log;
    struct stat st;
    int err;

    if (!where || strcmp(where, "-") == 0 || strncmp(where, "syslog:", 7) == 0)
        return;
    if (stat(where, &st) == -1)
        err = errno == ENOENT ? try_folder(where) : errno;
    else if (S_ISDIR(st.st_mode))
        err = EISDIR;
    else
        err = access(where, W_OK) == -1 ? errno : 0;
    if (err != 0)
        faults_add(faults, config_origin(options, "access-log"),
                   "access-log '%.300s': %s", where, strerror(err));
}

/* --- User and group ------------------------------------------------------- */

enum { ID_DIGITS_MAX = 10 };

static bool is_number(const char *name)
{
    return *name != '\0' && strlen(name) <= ID_DIGITS_MAX &&
           name[strspn(name, "0123456789")] == '\0' &&
           strtoull(name, NULL, 10) < UINT32_MAX;
}

/* Checks --user, which is NAME or NAME:GROUP, and --group. Numbers need no
 * entry in the databases, but a user's number without an entry needs a
 * group. */
static void check_identity(const struct options *options, struct faults *faults)
{
    const char *user = options->user ? options->user : "0";
    const char *colon = strchr(user, ':');
    const char *group = options->group ? options->group
                        : colon        ? colon + 1
                                       : "0";
    char name[256];

    snprintf(name, sizeof(name), "%.*s",
             (int)(colon ? (size_t)(colon - user) : strlen(user)), user);
    if (!is_number(name) && !getpwnam(name))
        faults_add(faults, config_origin(options, "user"),
                   "user '%.100s': there is none of that name", name);
    else if (is_number(name) && options->user && !options->group && !colon &&
             !getpwuid((uid_t)strtoul(name, NULL, 10)))
        faults_add(faults, config_origin(options, "user"),
                   "user '%.100s': there is none of that number, so a group "
                   "has to be named: %.100s:GROUP",
                   name, name);
    if (!is_number(group) && !getgrnam(group))
        faults_add(faults,
                   config_origin(options, options->group ? "group" : "user"),
                   "group '%.100s': there is none of that name", group);
}

/* --- Addresses ------------------------------------------------------------ */

/* Checks whether this machine has the numeric address (NULL: any), by binding a
 * socket to it at any free port. Returns NULL, or an error message. */
static const char *try_address(const char *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
                                         AI_PASSIVE};
    struct addrinfo *found;
    const char *why = NULL;
    int fd;

    if (!address)
        return NULL;
    if (getaddrinfo(address, "0", &hints, &found) != 0)
        return "is no numeric address";
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd == -1 || bind(fd, found->ai_addr, found->ai_addrlen) == -1)
        why = errno == EADDRNOTAVAIL ? "is no address of this machine"
                                     : strerror(errno);
    if (fd != -1)
        close(fd);
    freeaddrinfo(found);
    return why;
}

/* A folder where this check's user may not write is no fault: the server may be
 * another user. */
static const char *try_unix(const char *path)
{
    struct sockaddr_un address;
    int err;

    if (*path == '\0' || strlen(path) >= sizeof(address.sun_path))
        return "has a path that is empty or too long";
    err = try_folder(path);
    return err == 0 || err == EACCES ? NULL : strerror(err);
}

static const char *try_place(const char *where)
{
    struct listen_address place;

    if (!listen_address_read(&place, where))
        return "is none of ADDRESS:PORT, [ADDRESS]:PORT and unix:PATH, alone "
               "or behind http:// or https://";
    if (place.path)
        return try_unix(place.path);
    return try_address(place.is_everywhere ? NULL : place.address);
}

static bool is_same_place(const struct listen_address *one,
                          const struct listen_address *other)
{
    if (one->path || other->path)
        return one->path && other->path && strcmp(one->path, other->path) == 0;
    return one->port != 0 && one->port == other->port &&
           one->is_everywhere == other->is_everywhere &&
           strcmp(one->address, other->address) == 0;
}

/* Returns true if an earlier value of `listen` names the same address as the
 * value with the number `number`. Port 0 (any free port) is never the same,
 * since each use of it gets another port. */
static bool is_said_before(const struct texts *listen, size_t number)
{
    struct listen_address place, other;

    if (!listen_address_read(&place, listen->items[number]))
        return false;
    for (size_t i = 0; i < number; i++)
        if (listen_address_read(&other, listen->items[i]) &&
            is_same_place(&place, &other))
            return true;
    return false;
}

/* Whether the place is a unix socket in a folder where this check's user may
 * not write. */
static bool is_for_others(const char *where)
{
    struct listen_address place;

    return listen_address_read(&place, where) && place.path &&
           try_folder(place.path) == EACCES;
}

static void check_listen(const struct options *options, struct faults *faults,
                         struct faults *warnings)
{
    const char *why;

    for (size_t i = 0; i < options->listen.count; i++) {
        const char *where = options->listen.items[i];

        why = try_place(where);
        if (!why && is_said_before(&options->listen, i))
            why = "is in the list already";
        if (!why && is_for_others(where))
            faults_add(warnings, config_origin(options, "listen"),
                       "listen '%.200s': you may not write there: whether the "
                       "server may is not checked",
                       where);
        if (why)
            faults_add(faults, config_origin(options, "listen"),
                       "listen '%.200s': %s", where, why);
    }
    if (options->listen.count == OPTIONS_LISTEN_MAX &&
        options->https != OPTIONS_HTTPS_OFF)
        faults_add(faults, config_origin(options, "https"),
                   "https: there are %d places in listen already, and no more "
                   "are possible",
                   OPTIONS_LISTEN_MAX);
    why = options->listen.count == 0 || options->https != OPTIONS_HTTPS_OFF
              ? try_address(options->bind)
              : NULL;
    if (why)
        faults_add(faults, config_origin(options, "bind"), "bind '%.200s': %s",
                   options->bind, why);
}

static void check_stores(const struct options *options, struct faults *faults)
{
    for (size_t i = 0; i < options->kv_compress.count; i++) {
        const char *prefix = options->kv_compress.items[i];

        if (store_rule_find(options, bytes_of(prefix)) < 0)
            faults_add(faults, config_origin(options, "kv-compress"),
                       "kv-compress '%.200s': there is no store of that prefix",
                       prefix);
    }
}

/* --- All checks ----------------------------------------------------------- */

void config_check(const struct options *options, struct faults *faults,
                  struct faults *warnings)
{
    static const config_check_fn checks[] = {check_places,  check_upstreams,
                                             check_stores,  check_log,
                                             check_folders, check_identity};

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        checks[i](options, faults);
    check_listen(options, faults, warnings);
}
