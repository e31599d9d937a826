#include "confine/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>

#include "base/log.h"
#include "confine/seccomp_filter.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define IS_INSTRUMENTED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(SPRINTD_COVERAGE)
#define IS_INSTRUMENTED true
#endif
#ifndef IS_INSTRUMENTED
#define IS_INSTRUMENTED false
#endif

bool sandbox_is_built_in(void)
{
    return !IS_INSTRUMENTED;
}

/* Whether this process has only one thread. A directory in /proc has two links,
 * plus one for each subdirectory, so /proc/self/task has three. */
static bool is_single_thread(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == -1 || st.st_nlink == 3;
}

static void permit(struct landlock_domain *landlock,
                   const struct sandbox_path *path)
{
    int err = landlock_domain_permit(landlock, path->path, path->access);

    if (err != 0 && !path->may_be_missing)
        log_warning("sandbox: '%s' stays out of reach: %s", path->path,
                    strerror(-err));
}

/* Enters the Landlock part of the sandbox. Returns 0 or -errno. */
static int enter_landlock(struct landlock_domain *landlock,
                          const struct sandbox_options *options)
{
    /* The acceptor opens /dev/null as its spare descriptor, and a daemon
     * redirects its output there. */
    static const struct sandbox_path null = {"/dev/null", PATH_WRITE, true};
    const struct landlock_domain_options landlock_options = {
        .rules_max = SANDBOX_PATHS_MAX + 1,
        .connects_tcp = options->connects_tcp,
        .connects_abstract = options->connects_abstract};
    int err = landlock_domain_open(landlock, &landlock_options);

    if (err != 0)
        return err;
    permit(landlock, &null);
    for (size_t i = 0; i < options->path_count; i++)
        permit(landlock, &options->paths[i]);
    err = landlock_domain_enter(landlock);
    if (err != 0)
        landlock_domain_close(landlock);
    return err;
}

static void describe(struct sandbox *sandbox, bool is_strict, int landlock_err,
                     int filter_err)
{
    char landlock[96];
    char filter[96];

    if (sandbox->has_landlock)
        snprintf(landlock, sizeof(landlock), "Landlock ABI %d",
                 sandbox->landlock.abi);
    else
        snprintf(landlock, sizeof(landlock), "no Landlock (%s)",
                 strerror(-landlock_err));
    if (sandbox->has_filter)
        snprintf(filter, sizeof(filter), "seccomp");
    else
        snprintf(filter, sizeof(filter), "no seccomp (%s)",
                 strerror(-filter_err));
    snprintf(sandbox->summary, sizeof(sandbox->summary), "%s, %s%s", landlock,
             filter, is_strict ? ", strict" : "");
}

static void announce(const struct sandbox *sandbox,
                     const struct sandbox_options *options)
{
    bool is_less = options->mode != SANDBOX_OFF && !options->is_default &&
                   !(sandbox->has_landlock && sandbox->has_filter);

    if (is_less)
        log_notice("sandbox: %s", sandbox->summary);
    else
        log_info("sandbox: %s", sandbox->summary);
}

static int refuse(const char *what, int err)
{
    fprintf(stderr,
            "sprintd: --sandbox strict: this kernel gives no %s: %s; "
            "--sandbox on does without\n",
            what, strerror(-err));
    return EX_UNAVAILABLE;
}

int sandbox_enter(struct sandbox *sandbox,
                  const struct sandbox_options *options)
{
    bool is_strict = options->mode == SANDBOX_STRICT;
    int landlock_err;
    int filter_err;

    *sandbox = (struct sandbox){.landlock = {.fd = -1},
                                .connects_tcp = true,
                                .connects_unix = true,
                                .sends_udp = true};
    if (options->mode == SANDBOX_OFF || !sandbox_is_built_in()) {
        snprintf(sandbox->summary, sizeof(sandbox->summary), "%s",
                 options->mode == SANDBOX_OFF
                     ? "off"
                     : "none in an instrumented build");
        announce(sandbox, options);
        return EX_OK;
    }
    assert(is_single_thread());
    tzset(); /* reads the time zone's file, which will be out of reach */
    landlock_err = enter_landlock(&sandbox->landlock, options);
    sandbox->has_landlock = landlock_err == 0;
    sandbox->connects_tcp = !(sandbox->has_landlock &&
                              sandbox->landlock.refuses_tcp);
    if (is_strict && !sandbox->has_landlock)
        return refuse("Landlock", landlock_err);
    filter_err = seccomp_filter_enter(is_strict, options->sends_udp,
                                      options->connects_unix);
    sandbox->has_filter = filter_err == 0;
    sandbox->connects_unix = options->connects_unix || !sandbox->has_filter;
    sandbox->sends_udp = options->sends_udp || !sandbox->has_filter;
    if (is_strict && !sandbox->has_filter)
        return refuse("seccomp filter", filter_err);
    describe(sandbox, is_strict, landlock_err, filter_err);
    announce(sandbox, options);
    return EX_OK;
}

bool sandbox_allows(const struct sandbox *sandbox, const char *path,
                    enum path_access access)
{
    return !sandbox->has_landlock ||
           landlock_domain_allows(&sandbox->landlock, path, access);
}

void sandbox_close(struct sandbox *sandbox)
{
    landlock_domain_close(&sandbox->landlock);
}
