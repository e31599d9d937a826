#include "acme/acme_sandbox.h"

#include <fcntl.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "confine/landlock_domain.h"
#include "confine/outgoing_filter.h"
#include "confine/sandbox.h"

enum { RULES_MAX = 64 };

/* Files that libraries read in order to connect: host names, trusted
 * authorities, and configurations of the libraries themselves. */
static const char *const read_paths[] = {"/etc/hosts",
                                         "/etc/resolv.conf",
                                         "/etc/nsswitch.conf",
                                         "/etc/gai.conf",
                                         "/etc/host.conf",
                                         "/etc/services",
                                         "/etc/localtime",
                                         "/etc/ssl",
                                         "/etc/pki",
                                         "/etc/ca-certificates",
                                         "/var/lib/ca-certificates",
                                         "/etc/ld.so.cache",
                                         "/usr/share/ca-certificates",
                                         "/usr/local/share/ca-certificates",
                                         "/usr/share/zoneinfo",
                                         "/usr/lib",
                                         "/usr/lib64",
                                         "/lib",
                                         "/lib64",
                                         "/dev/urandom",
                                         "/run/systemd/resolve",
                                         "/proc/sys/kernel/random"};

static int permit(struct landlock_domain *domain, const char *path,
                  enum path_access access)
{
    if (!path || faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == -1)
        return 0;
    return landlock_domain_permit(domain, path, access);
}

static int permit_all(struct landlock_domain *domain,
                      const struct options *options)
{
    int err = permit(domain, options->acme_folder, PATH_WRITE);

    for (size_t i = 0; i < sizeof(read_paths) / sizeof(*read_paths) && err == 0;
         i++)
        err = permit(domain, read_paths[i], PATH_READ);
    if (err == 0)
        err = permit(domain, "/dev/null", PATH_WRITE);
    if (err == 0)
        err = permit(domain, options->acme_ca, PATH_READ);
    if (err == 0)
        err = permit(domain, options->acme_eab_key, PATH_READ);
    return err;
}

static int enter_landlock(const struct options *options)
{
    const struct landlock_domain_options domain_options = {
        .rules_max = RULES_MAX, .connects_tcp = true};
    struct landlock_domain domain;
    int err = landlock_domain_open(&domain, &domain_options);

    if (err != 0)
        return err;
    err = permit_all(&domain, options);
    if (err == 0)
        err = landlock_domain_enter(&domain);
    landlock_domain_close(&domain);
    return err;
}

static int tell(const struct options *options, const char *what, int err)
{
    bool is_strict = options->sandbox == SANDBOX_STRICT;

    if (is_strict)
        log_error("acme: --sandbox strict: no %s: %s", what, strerror(-err));
    else
        log_info("acme: no %s: %s", what, strerror(-err));
    return is_strict ? EX_UNAVAILABLE : EX_OK;
}

int acme_sandbox_enter(const struct options *options)
{
    int status = EX_OK;
    int err;

    if (options->sandbox == SANDBOX_OFF || !sandbox_is_built_in())
        return EX_OK;
    err = enter_landlock(options);
    if (err != 0)
        status = tell(options, "Landlock", err);
    err = outgoing_filter_enter();
    if (err != 0 && status == EX_OK)
        status = tell(options, "seccomp filter", err);
    return status;
}
