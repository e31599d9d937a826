#include "tools/browser_trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/utf8.h"
#include "confine/safe_path.h"
#include "tools/subprocess.h"

/* The name that browsers' settings show. By this name the authority is found
 * again. */
#define NICKNAME "sprintd local authority"

/* Several certificates may have the nickname, when hosts share a home
 * directory. */
enum { NICKNAMES_MAX = 16 };

/* Folders of browsers' databases, below the home directory. '*' stands for the
 * name of a profile. */
static const char *const places[] = {
    ".pki/nssdb",
    ".local/share/pki/nssdb",
    "snap/chromium/current/.pki/nssdb",
    ".mozilla/firefox/*",
    ".config/mozilla/firefox/*",
    "snap/firefox/common/.mozilla/firefox/*",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/*"};

/* How the names of a database's files begin; SQLite appends "-journal" and
 * similar endings. certutil follows links to anywhere, and runs the libraries
 * that pkcs11.txt names. */
static const char *const files[] = {"pkcs11.txt", "cert9.db", "key4.db",
                                    "secmod.db",  "cert8.db", "key3.db"};

/* Changes the database in a folder. Returns 0, certutil's exit status, or
 * -errno; -ENOENT means that there is no certutil. */
typedef int change_fn(int folder, struct bytes certificate,
                      bool *is_changed_out);

struct round {
    change_fn *change;
    struct bytes certificate;
    const char *done; /* printed behind the name of a changed database */
    bool has_changed;
    int status;
};

/* --- Changing ------------------------------------------------------------ */

/* Runs certutil in the open folder. The folder is not opened again by its name,
 * since another folder may have the name by now. */
static int run_certutil(const char *what, int folder, const char *trust,
                        struct bytes input, bool is_quiet)
{
    const char *const arguments[] = {
        "certutil",          what,  "-d", "sql:.", "-n", NICKNAME,
        trust ? "-t" : NULL, trust, NULL};

    return subprocess_run(arguments, folder, input, is_quiet);
}

static int remove_all(int folder, struct bytes certificate,
                      bool *is_changed_out)
{
    (void)certificate;
    *is_changed_out = false;
    for (int i = 0; i < NICKNAMES_MAX; i++) {
        int result = run_certutil("-L", folder, NULL, BYTES(""), true);

        if (result != 0)
            return result < 0 ? result : 0;
        result = run_certutil("-D", folder, NULL, BYTES(""), false);
        if (result != 0)
            return result;
        *is_changed_out = true;
    }
    return 0;
}

/* Removes all certificates of the nickname, and then adds the certificate. */
static int add(int folder, struct bytes certificate, bool *is_changed_out)
{
    int result = remove_all(folder, certificate, is_changed_out);

    *is_changed_out = true;
    return result == 0 ? run_certutil("-A", folder, "C,,", certificate, false)
                       : result;
}

/* --- Databases ----------------------------------------------------------- */

static void say(FILE *to, const char *before, const char *path,
                const char *behind)
{
    char shown[PATH_MAX];

    snprintf(shown, sizeof(shown), "%s", path);
    utf8_disarm(shown, strlen(shown), false);
    fprintf(to, "%s'%s'%s\n", before, shown, behind);
}

static void complain(struct round *round, const char *folder, int result)
{
    bool has_no_tool = result == -ENOENT;

    say(stderr, "sprintd: tls: the browser that has ", folder,
        has_no_tool
            ? " cannot be told: the package libnss3-tools is not installed"
            : " could not be told: certutil has failed");
    round->status = has_no_tool ? EX_UNAVAILABLE : EX_OSERR;
}

/* Whether a file called `name` belongs to a database. */
static bool is_part(const char *name)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (strncmp(name, files[i], strlen(files[i])) == 0)
            return true;
    return false;
}

/* Whether only root and this process's user can have written the file. A file
 * with a second name is refused, since it may be any file of the machine. */
static bool is_file_own(int folder, const char *name)
{
    struct stat st;

    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && st.st_nlink == 1 &&
           (st.st_uid == 0 || st.st_uid == geteuid()) &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_database_own(int folder)
{
    const struct dirent *entry;
    bool is_own = true;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd == -1 ? NULL : fdopendir(fd);

    if (!entries) {
        if (fd != -1)
            close(fd);
        return false;
    }
    errno = 0;
    while (is_own && (entry = readdir(entries)))
        is_own = !is_part(entry->d_name) || is_file_own(fd, entry->d_name);
    is_own = is_own && errno == 0;
    closedir(entries);
    return is_own;
}

/* Opens the folder of a browser's database. Refuses a folder if other users can
 * change its path or its files, since these users could make certutil write and
 * run anything. Returns a descriptor, or -1. */
static int open_own(const char *folder)
{
    struct safe_folder about;
    struct stat st;
    int fd = safe_path_open_folder(folder, geteuid(), &about);

    if (fd < 0)
        return -1;
    if (!about.is_loose && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        is_database_own(fd))
        return fd;
    close(fd);
    return -1;
}

static void refuse(struct round *round, const char *folder)
{
    struct stat st;

    say(stderr, "sprintd: tls: ", folder,
        stat(folder, &st) == 0 && st.st_uid != geteuid()
            ? " is another user's, who has to run this for the browser"
            : ": others have a say in what is there or on the way; the user "
              "of the browser has to run this, where that right is taken from "
              "them");
    round->status = EX_NOPERM;
}

static void visit(struct round *round, const char *folder)
{
    int fd = open_own(folder);
    bool is_changed;
    int result;

    if (fd == -1) {
        refuse(round, folder);
        return;
    }
    result = round->change(fd, round->certificate, &is_changed);
    close(fd);
    if (result != 0) {
        complain(round, folder, result);
    } else if (is_changed) {
        say(stdout, "the browser that has ", folder, round->done);
        round->has_changed = true;
    }
}

/* Writes a pattern for glob(): `home`, in which special characters are escaped,
 * and `place`. Returns false if the pattern is too long. */
static bool put_pattern(char pattern[PATH_MAX], const char *home,
                        const char *place)
{
    size_t len = 0;
    int more;

    for (const char *at = home; *at; at++) {
        if (len + 2 >= PATH_MAX)
            return false;
        if (strchr("*?[\\", *at))
            pattern[len++] = '\\';
        pattern[len++] = *at;
    }
    more = snprintf(pattern + len, PATH_MAX - len, "/%s/cert9.db", place);
    return len + (size_t)more < PATH_MAX;
}

static void visit_place(struct round *round, const char *home,
                        const char *place)
{
    char pattern[PATH_MAX];
    glob_t found;

    if (!put_pattern(pattern, home, place) ||
        glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i];

        *strrchr(path, '/') = '\0';
        visit(round, path);
    }
    globfree(&found);
}

static void visit_all(struct round *round)
{
    const char *home = getenv("HOME");

    if (!home || *home != '/')
        return;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        visit_place(round, home, places[i]);
}

int browser_trust_add(const struct tls_pem *certificate)
{
    struct round round = {.change = add,
                          .certificate = {certificate->text, certificate->len},
                          .done = " trusts it, from its next start on"};

    visit_all(&round);
    if (round.status == EX_OK && !round.has_changed)
        puts("no browser of this user has a list of its own");
    return round.status;
}

int browser_trust_remove(void)
{
    struct round round = {.change = remove_all,
                          .done = " trusts it no longer, from its next start "
                                  "on"};

    visit_all(&round);
    if (round.status == EX_OK && !round.has_changed)
        puts("no browser of this user trusts one");
    return round.status;
}
