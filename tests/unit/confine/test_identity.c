/* link: -Wl,--wrap=setresuid,--wrap=setgroups,--wrap=syscall */
#include "confine/identity.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "suite.h"
#include "wrap.h"

/* --- System calls that fail, or only seem to work ------------------------ */

static int uid_errno, groups_errno, capset_errno;
static bool pretends; /* setresuid and capset do nothing */

WRAP(int, setresuid, uid_t real, uid_t effective, uid_t saved)
{
    errno = uid_errno;
    return pretends         ? 0
           : uid_errno != 0 ? -1
                            : __real_setresuid(real, effective, saved);
}

WRAP(int, setgroups, size_t count, const gid_t *groups)
{
    errno = groups_errno;
    return groups_errno != 0 ? -1 : __real_setgroups(count, groups);
}

WRAP(long, syscall, long number, void *header, void *data)
{
    if (number == SYS_capset && pretends)
        return 0;
    errno = capset_errno;
    return number == SYS_capset && capset_errno != 0
               ? -1
               : __real_syscall(number, header, data);
}

/* --- Helpers ------------------------------------------------------------- */

/* In a child without standard error; its exit status. */
static int in_child(int (*function)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);

        dup2(null, STDERR_FILENO);
        _exit(function());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int find_status; /* of what the child looks for */
static const char *find_user;
static const char *find_group;

static int find_in_child(void)
{
    struct identity identity;

    return identity_find(&identity, find_user, find_group) != find_status;
}

static void assert_found(const char *user, const char *group, int status)
{
    find_user = user;
    find_group = group;
    find_status = status;
    if (in_child(find_in_child) != 0)
        fail_msg("user %s, group %s", user ? user : "-", group ? group : "-");
}

/* A line of /proc/self/status as a number of that base. */
static uint64_t own(const char *name, int base)
{
    FILE *file = fopen("/proc/self/status", "re");
    uint64_t value = UINT64_MAX;
    char line[256];

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoull(line + strlen(name) + 1, NULL, base);
    if (file)
        fclose(file);
    return value;
}

static bool has_no_capabilities(void)
{
    return own("CapInh", 16) == 0 && own("CapPrm", 16) == 0 &&
           own("CapEff", 16) == 0 && own("CapAmb", 16) == 0;
}

/* --- Looking up ---------------------------------------------------------- */

TEST(without_options_nothing_changes)
{
    struct identity identity;

    assert_int_equal(identity_find(&identity, NULL, NULL), EX_OK);
    assert_false(identity.changes);
}

TEST(users_are_found_by_name_and_number)
{
    struct identity by_name, by_number;

    assert_int_equal(identity_find(&by_name, "nobody", NULL), EX_OK);
    assert_int_equal(identity_find(&by_number, "65534", NULL), EX_OK);
    assert_true(by_name.changes);
    assert_int_equal(by_name.uid, 65534);
    assert_int_equal(by_number.uid, 65534);
    assert_int_equal(by_name.gid, by_number.gid);
    assert_int_equal(by_name.group_count, by_number.group_count);
    assert_true(by_name.group_count >= 1);
}

TEST(groups_are_named_in_two_ways)
{
    struct identity identity;

    assert_int_equal(identity_find(&identity, "nobody:daemon", NULL), EX_OK);
    assert_int_equal(identity.gid, 1);
    assert_int_equal(identity_find(&identity, "nobody", "daemon"), EX_OK);
    assert_int_equal(identity.gid, 1);
    assert_int_equal(identity_find(&identity, "nobody:2", "1"), EX_OK);
    assert_int_equal(identity.gid, 1);
    assert_int_equal(identity_find(&identity, NULL, "daemon"), EX_OK);
    assert_int_equal(identity.uid, geteuid());
    assert_int_equal(identity.gid, 1);
}

TEST(a_number_without_a_user_needs_a_group)
{
    struct identity identity;

    assert_found("3999999999", NULL, EX_NOUSER);
    assert_int_equal(identity_find(&identity, "3999999999:77", NULL), EX_OK);
    assert_int_equal(identity.uid, 3999999999u);
    assert_int_equal(identity.gid, 77);
    assert_int_equal(identity.group_count, 1);
    assert_int_equal(identity.groups[0], 77);
}

TEST(what_names_nobody_is_refused)
{
    char longest[400];

    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_found("no-such-user", NULL, EX_NOUSER);
    assert_found("nobody:no-such-group", NULL, EX_NOUSER);
    assert_found("nobody", "no-such-group", EX_NOUSER);
    assert_found("", NULL, EX_USAGE);
    assert_found(":daemon", NULL, EX_USAGE);
    assert_found("nobody:", NULL, EX_USAGE);
    assert_found("nobody", "", EX_USAGE);
    assert_found(longest, NULL, EX_USAGE);
    /* "Leave it as it is", to the kernel; and what wraps around to root. */
    assert_found("4294967295:1", NULL, EX_NOUSER);
    assert_found("4294967296:1", NULL, EX_NOUSER);
    assert_found("nobody:4294967295", NULL, EX_NOUSER);
}

/* --- Becoming it --------------------------------------------------------- */

static int become_nobody(void)
{
    struct identity identity;
    uid_t uid[3];
    gid_t gid[3];

    if (identity_find(&identity, "nobody:daemon", NULL) != EX_OK ||
        identity_assume(&identity) != EX_OK)
        return 1;
    if (getresuid(&uid[0], &uid[1], &uid[2]) == -1 || uid[0] != 65534 ||
        uid[1] != 65534 || uid[2] != 65534)
        return 2;
    if (getresgid(&gid[0], &gid[1], &gid[2]) == -1 || gid[0] != 1 ||
        gid[1] != 1 || gid[2] != 1)
        return 3;
    if (getgroups(0, NULL) != identity.group_count)
        return 4;
    if (!has_no_capabilities() || own("CapBnd", 16) != 0)
        return 5;
    if (own("NoNewPrivs", 10) != 1)
        return 6;
    if (__real_setresuid(0, 0, 0) != -1 || open("/etc/shadow", O_RDONLY) != -1)
        return 7;
    return 0;
}

/* Files first, and all else when it is time. */
static int begin_as_nobody(void)
{
    const uint64_t override = UINT64_C(1) << CAP_DAC_OVERRIDE;
    const uint64_t ports = UINT64_C(1) << CAP_NET_BIND_SERVICE;
    struct identity identity;

    if (identity_find(&identity, "nobody:daemon", NULL) != EX_OK ||
        identity_begin(&identity) != EX_OK)
        return 1;
    if (open("/etc/shadow", O_RDONLY) != -1 || errno != EACCES)
        return 2;
    if (geteuid() != 0 || (own("CapEff", 16) & ports) == 0 ||
        (own("CapEff", 16) & override) != 0 || identity_is_root_for_files())
        return 3;
    identity_raise();
    if (!identity_is_root_for_files() || open("/etc/shadow", O_RDONLY) == -1)
        return 4;
    identity_lower(&identity);
    if (open("/etc/shadow", O_RDONLY) != -1)
        return 5;
    return identity_assume(&identity) == EX_OK && has_no_capabilities() ? 0 : 6;
}

TEST(files_are_used_as_the_user_before_all_else)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(in_child(begin_as_nobody), 0);
}

static int begin_what_fails(void)
{
    struct identity identity;

    return identity_find(&identity, "nobody", NULL) != EX_OK
               ? 99
               : identity_begin(&identity);
}

TEST(a_beginning_that_fails_is_fatal)
{
    if (geteuid() != 0)
        skip();
    groups_errno = EPERM;
    assert_int_equal(in_child(begin_what_fails), EX_NOPERM);
    groups_errno = ENOMEM;
    assert_int_equal(in_child(begin_what_fails), EX_OSERR);
    groups_errno = 0;
}

TEST(root_becomes_the_user_for_good)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(in_child(become_nobody), 0);
}

static int stay_root(void)
{
    const uint64_t kept = UINT64_C(1) << CAP_NET_BIND_SERVICE |
                          UINT64_C(1) << CAP_DAC_READ_SEARCH;
    struct identity identity;

    if (identity_find(&identity, NULL, NULL) != EX_OK ||
        identity_assume(&identity) != EX_OK || geteuid() != 0)
        return 1;
    if ((own("CapPrm", 16) & ~kept) != 0 || (own("CapEff", 16) & ~kept) != 0 ||
        own("CapBnd", 16) != 0 || own("CapInh", 16) != 0)
        return 2;
    return own("NoNewPrivs", 10) == 1 ? 0 : 3;
}

TEST(root_keeps_two_capabilities_at_most)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(in_child(stay_root), 0);
}

/* As a user without privileges already. */
static int become_who_we_are(void)
{
    struct identity identity;

    if (geteuid() == 0 && (__real_setgroups(0, NULL) != 0 ||
                           setresgid(65534, 65534, 65534) != 0 ||
                           __real_setresuid(65534, 65534, 65534) != 0))
        return 1;
    if (identity_find(&identity, NULL, NULL) != EX_OK ||
        identity_assume(&identity) != EX_OK || own("NoNewPrivs", 10) != 1 ||
        !has_no_capabilities())
        return 2;
    if (geteuid() == 65534 &&
        (identity_find(&identity, "65534:65534", NULL) != EX_OK ||
         identity_assume(&identity) != EX_OK))
        return 3;
    /* Somebody else is out of reach. */
    if (identity_find(&identity, "1:1", NULL) != EX_OK)
        return 4;
    return identity_assume(&identity) == EX_NOPERM ? 0 : 5;
}

TEST(who_is_not_root_stays_who_it_is)
{
    assert_int_equal(in_child(become_who_we_are), 0);
}

static int assume_nobody(void)
{
    struct identity identity;

    return identity_find(&identity, "nobody", NULL) != EX_OK
               ? 99
               : identity_assume(&identity);
}

static int give_up_what_is_not_needed(void)
{
    struct identity identity = {.changes = false};

    return identity_assume(&identity);
}

TEST(a_change_that_fails_is_fatal)
{
    if (geteuid() != 0)
        skip();
    uid_errno = EAGAIN;
    assert_int_equal(in_child(assume_nobody), EX_OSERR);
    uid_errno = 0;
    groups_errno = EPERM;
    assert_int_equal(in_child(assume_nobody), EX_NOPERM);
    groups_errno = 0;
    capset_errno = EPERM;
    assert_int_equal(in_child(give_up_what_is_not_needed), EX_OSERR);
    /* The change of user has left none: there is nothing to give up. */
    assert_int_equal(in_child(assume_nobody), EX_OK);
    capset_errno = 0;
    assert_int_equal(in_child(assume_nobody), EX_OK);
}

static int stay_as_we_are(void)
{
    struct identity identity = {.changes = false};

    return identity_assume(&identity);
}

TEST(a_change_that_only_seems_to_work_is_fatal)
{
    if (geteuid() != 0)
        skip();
    pretends = true;
    assert_int_equal(in_child(assume_nobody), EX_OSERR);
    assert_int_equal(in_child(stay_as_we_are), EX_OSERR);
    pretends = false;
}
