#include "tools/tls_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/shell_word.h"
#include "base/utf8.h"
#include "confine/identity.h"
#include "process/certificates/local_authority.h"
#include "process/certificates/machine_trust.h"
#include "tools/authority_folder.h"
#include "tools/browser_trust.h"
#include "tools/system_trust.h"

/* An authority, with all facts that the commands need. */
struct shown {
    char folder[PATH_MAX];
    uid_t owner; /* owner of the folder */
    struct tls_authority_facts facts;
    struct tls_pem certificate;
};

/* The arguments. NULL means that an argument was not given. */
struct asked {
    const char *folder;
    const char *owner;
};

/* --- Finding ------------------------------------------------------------- */

static int complain(struct local_authority_fault *fault, int err)
{
    utf8_disarm(fault->text, strlen(fault->text), false);
    fprintf(stderr, "sprintd: tls: %s\n", fault->text);
    if (err == -ENOENT)
        fputs("sprintd: tls: an authority is made by `sprintd --https PORT`; "
              "where that runs as another user, its folder must be named\n",
              stderr);
    return err == -ENOENT                    ? EX_NOINPUT
           : err == -EACCES || err == -EPERM ? EX_NOPERM
           : err == -EINVAL || err == -EFBIG ? EX_DATAERR
           : err == -ENOMEM                  ? EX_OSERR
                                             : EX_IOERR;
}

/* Finds the folder's full path. The commands that are shown to the user have
 * this path, so that they work in any directory. Returns 0 or -errno. */
static int choose_folder(struct shown *shown, const char *folder,
                         struct local_authority_fault *fault)
{
    char *whole;

    if (!folder)
        return local_authority_find_folder(shown->folder, fault);
    whole = realpath(folder, NULL);
    if (!whole) {
        snprintf(fault->text, sizeof(fault->text), "'%s': %s", folder,
                 strerror(errno));
        return -errno;
    }
    snprintf(shown->folder, sizeof(shown->folder), "%s", whole);
    free(whole);
    return 0;
}

/* Reads an authority that is to be trusted. The folder is opened by the given
 * path, not by its full path: the given path may have another user's link,
 * which must be noticed. */
static int read_to_trust(struct shown *shown, const struct asked *asked,
                         struct local_authority_fault *fault)
{
    const struct authority_folder folder = {
        .path = asked->folder ? asked->folder : shown->folder,
        .is_named = asked->folder != NULL,
        .owner = asked->owner};
    int fd = authority_folder_open(&folder, &shown->owner, fault);
    int err;

    if (fd < 0)
        return fd;
    err = local_authority_read_at(fd, shown->folder, &shown->facts,
                                  &shown->certificate, fault);
    close(fd);
    return err;
}

static int read_to_show(struct shown *shown,
                        struct local_authority_fault *fault)
{
    struct stat st = {.st_uid = geteuid()};

    (void)!stat(shown->folder, &st); /* reading the folder reports errors */
    shown->owner = st.st_uid;
    return local_authority_read(shown->folder, &shown->facts,
                                &shown->certificate, fault);
}

/* Finds and reads the authority. Returns EX_OK, or a status after a line on
 * stderr. */
static int find(struct shown *shown, const struct asked *asked,
                bool is_to_trust)
{
    struct local_authority_fault fault;
    int err;

    *shown = (struct shown){0};
    err = choose_folder(shown, asked->folder, &fault);
    if (err == 0)
        err = is_to_trust ? read_to_trust(shown, asked, &fault)
                          : read_to_show(shown, &fault);
    if (err != 0)
        return complain(&fault, err);
    utf8_disarm(shown->facts.name, strlen(shown->facts.name), false);
    return EX_OK;
}

/* Returns the text that follows the folder in the command `sprintd tls trust`:
 * the folder's owner, if the owner must be named. */
static const char *name_owner(const struct shown *shown, char name[16])
{
    name[0] = '\0';
    if (!authority_folder_is_own(shown->owner))
        snprintf(name, 16, " %u", (unsigned)shown->owner);
    return name;
}

/* --- Showing ------------------------------------------------------------- */

static void print_day(int64_t when_s)
{
    time_t when = (time_t)when_s;
    struct tm tm;

    if (gmtime_r(&when, &tm))
        printf("%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static const char *trust_of(const struct tls_pem *certificate)
{
    bool is_in = machine_trust_has_in_bundle(certificate);

    if (machine_trust_has_added(certificate))
        return is_in ? "by the programs of this "
                       "machine: " MACHINE_TRUST_ADDED_PATH
                     : "not yet by the programs of this "
                       "machine: " MACHINE_TRUST_ADDED_PATH
                       " is there, and update-ca-certificates has failed";
    return is_in ? "by the programs of this machine "
                   "still: " MACHINE_TRUST_BUNDLE_PATH
                 : "not by the programs of this machine";
}

static void print_authority(const struct shown *shown)
{
    char folder[PATH_MAX];

    memcpy(folder, shown->folder, sizeof(folder));
    utf8_disarm(folder, strlen(folder), false);
    printf("%s\n"
           "  certificate  %s/authority.crt\n"
           "  SHA-256      %s\n"
           "  valid        ",
           shown->facts.name, folder, shown->facts.sha256);
    print_day(shown->facts.from_s);
    fputs(" to ", stdout);
    print_day(shown->facts.until_s);
    printf("\n  trusted      %s\n\n", trust_of(&shown->certificate));
}

static void print_ways(const struct shown *shown)
{
    char word[SHELL_WORD_SIZE(PATH_MAX)];
    char owner[16];

    shell_word_put(word, shown->folder, PATH_MAX);
    printf(
        "To trust it on this machine, as yourself for your browsers, by sudo "
        "for all\nother programs:\n"
        "  sprintd tls trust %s%s\n"
        "On another machine, import the certificate as an authority for web "
        "sites.\n"
        "Whoever has the key beside it can be any web site for those who "
        "trust it:\n"
        "`sprintd tls untrust` ends that.\n",
        word, name_owner(shown, owner));
}

/* --- Commands ------------------------------------------------------------ */

static int flushed(int status)
{
    return fflush(stdout) == 0 || status != EX_OK ? status : EX_IOERR;
}

static int show(const struct asked *asked)
{
    struct shown shown;
    int status = find(&shown, asked, false);

    if (status != EX_OK)
        return status;
    print_authority(&shown);
    print_ways(&shown);
    tls_pem_fini(&shown.certificate);
    return flushed(EX_OK);
}

static int both(int first, int second)
{
    return flushed(first != EX_OK ? first : second);
}

static void print_owner(const struct shown *shown)
{
    char name[IDENTITY_NAME_SIZE];

    if (shown->owner == 0 || shown->owner == geteuid())
        return;
    identity_name(name, shown->owner);
    printf("it is of user %s, who can be any web site for those who trust it\n",
           name);
}

static int trust(const struct asked *asked)
{
    struct shown shown;
    char owner[16];
    int status = find(&shown, asked, true);

    if (status != EX_OK)
        return status;
    printf("%s, SHA-256 %s\n", shown.facts.name, shown.facts.sha256);
    print_owner(&shown);
    status = system_trust_add(&shown.certificate, shown.folder,
                              name_owner(&shown, owner));
    status = both(status, browser_trust_add(&shown.certificate));
    tls_pem_fini(&shown.certificate);
    return status;
}

static int untrust(const struct asked *asked)
{
    int status = system_trust_remove();

    (void)asked;
    return both(status, browser_trust_remove());
}

int tls_command_run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments_max;
        int (*run)(const struct asked *asked);
    } commands[] = {
        {"show", 1, show}, {"trust", 2, trust}, {"untrust", 0, untrust}};

    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (argc > 0 && strcmp(argv[0], commands[i].name) == 0 &&
            argc - 1 <= commands[i].arguments_max)
            return commands[i].run(&(struct asked){
                .folder = argc > 1 ? argv[1] : NULL,
                .owner = argc > 2 ? argv[2] : NULL});
    fputs("sprintd: usage: sprintd tls show [FOLDER]\n"
          "                sprintd tls trust [FOLDER [OWNER]]\n"
          "                sprintd tls untrust\n",
          stderr);
    return EX_USAGE;
}
