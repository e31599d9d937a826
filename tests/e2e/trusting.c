#include "trusting.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include "process/certificates/local_authority.h"
#include "suite.h"

static const char *const hidden[] = {TRUSTED_FOLDER, CERTIFICATES,
                                     "/etc/ca-certificates/update.d"};

char home[128];
struct outcome outcome;

void shell(const char *command)
{
    if (system(command) != 0)
        flunk("%s", command);
}

static void set_up(void)
{
    snprintf(home, sizeof(home), "%s/home", folder());
    setenv("HOME", home, 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("STATE_DIRECTORY");
}

int trusting_begin(void **state)
{
    return harness_begin_with(state, set_up);
}

int trusting_begin_test(void **state)
{
    (void)state;
    return mkdir(home, 0755);
}

int trusting_end_test(void **state)
{
    shell(printed("rm -rf '%s'", home));
    return harness_after_test(state);
}

void hide_system(void)
{
    static bool is_hidden;

    if (access("/usr/sbin/update-ca-certificates", X_OK) == -1) {
        print_message("skipped: ca-certificates is not installed\n");
        skip();
    }
    if (!is_hidden &&
        (unshare(CLONE_NEWNS) == -1 ||
         mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)) {
        print_message("skipped: there is no mount namespace to be had\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
        if (access(hidden[i], F_OK) == -1)
            continue;
        if (is_hidden && umount(hidden[i]) == -1)
            flunk("umount %s", hidden[i]);
        if (mount("tmpfs", hidden[i], "tmpfs", 0, "mode=0755") == -1)
            flunk("mount %s", hidden[i]);
    }
    is_hidden = true;
}

void hide_system_as_root(void)
{
    if (geteuid() != 0)
        skip();
    hide_system();
}

void run_at_home(const char *command)
{
    shell(printed("cd '%s' && %s", home, command));
}

const char *make_authority(const char *name)
{
    char *place = printed("%s/%s", home, name);
    struct local_authority_fault fault;
    struct tls_names names = {0};
    struct tls_pem leaf;

    tls_names_add(&names, BYTES("localhost"));
    if (local_authority_make_folder(place, &fault) != 0 ||
        local_authority_leaf(place, geteuid(), &names, time(NULL), &leaf,
                             &fault) != 0)
        flunk("%s", fault.text);
    tls_pem_fini(&leaf);
    return place;
}

void assert_says(const char *text, const char *what)
{
    if (!strstr(text, what))
        flunk("it says '%s', and not '%s'", text, what);
}

void assert_status(int status)
{
    if (outcome.status != status)
        flunk("status %d: %s%s", outcome.status, outcome.out, outcome.err);
}
