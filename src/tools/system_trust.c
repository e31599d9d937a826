#include "tools/system_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/shell_word.h"
#include "io/whole_file.h"
#include "process/certificates/machine_trust.h"
#include "tools/subprocess.h"

static const char update_program[] = "/usr/sbin/update-ca-certificates";
static const char trusted_path[] = MACHINE_TRUST_ADDED_PATH;

/* When an authority shall no longer be trusted, its file is moved to this path,
 * and is removed once the bundle that programs read lacks the authority.
 * update-ca-certificates ignores a file of this name. If update-ca-certificates
 * fails, the next `sprintd tls untrust` finds the file here. */
static const char ending_path[] = MACHINE_TRUST_ADDED_PATH ".untrusted";

enum { TRUSTED_MODE = 0644 /* everybody may check the certificate */ };

static const char *trusted_name(void)
{
    return strrchr(trusted_path, '/') + 1;
}

/* Opens the folder of the trusted certificate. Returns a descriptor or
 * -errno. */
static int open_trusted_folder(void)
{
    char *folder = strndup(trusted_path,
                           (size_t)(trusted_name() - trusted_path));
    int fd;

    if (!folder)
        return -ENOMEM;
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1)
        fd = -errno;
    free(folder);
    return fd;
}

static int complain(int err)
{
    fprintf(stderr, "sprintd: tls: '%s': %s\n", trusted_path, strerror(-err));
    return err == -EACCES || err == -EPERM ? EX_NOPERM : EX_IOERR;
}

/* Runs the program that updates the system's certificates. With is_fresh, the
 * program makes all links anew, which is needed after a file was removed or
 * changed. Without is_fresh, the program only adds missing links, and keeps
 * links of the old file. */
static int update(bool is_fresh)
{
    const char *const arguments[] = {update_program,
                                     is_fresh ? "--fresh" : NULL, NULL};
    int status = subprocess_run(arguments, -1, BYTES(""), false);

    if (status == 0)
        return EX_OK;
    if (status < 0)
        fprintf(stderr, "sprintd: tls: '%s': %s\n", update_program,
                strerror(-status));
    else
        fprintf(stderr, "sprintd: tls: '%s' has failed, with status %d\n",
                update_program, status);
    return EX_OSERR;
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 || errno != ENOENT;
}

/* Hides the authority from the next update. Returns EX_OK or another status. */
static int begin_end(void)
{
    if (is_there(trusted_path) && rename(trusted_path, ending_path) == -1)
        return complain(-errno);
    return EX_OK;
}

/* Whether programs still trust the certificate at ending_path. */
static bool has_remained(void)
{
    struct small_file file;
    struct tls_pem certificate;
    bool is_in;

    if (small_file_read(&file, ending_path) != 0)
        return false;
    certificate = (struct tls_pem){file.text, file.len};
    is_in = file.len > 0 && machine_trust_has_in_bundle(&certificate);
    small_file_fini(&file);
    return is_in;
}

int system_trust_add(const struct tls_pem *certificate, const char *folder,
                     const char *owner)
{
    bool replaces = is_there(trusted_path) || is_there(ending_path);
    int fd, err, status;

    if (machine_trust_has_added(certificate) &&
        machine_trust_has_in_bundle(certificate)) {
        printf("the programs of this machine trust it already: %s\n",
               trusted_path);
        return EX_OK;
    }
    if (access(update_program, X_OK) == -1) {
        fputs("sprintd: tls: the programs of this machine cannot be told: the "
              "package ca-certificates is not installed\n",
              stderr);
        return EX_UNAVAILABLE;
    }
    if (geteuid() != 0) {
        char word[SHELL_WORD_SIZE(PATH_MAX)];

        shell_word_put(word, folder, PATH_MAX);
        fprintf(stderr,
                "sprintd: tls: only root can tell all programs of this "
                "machine: sudo sprintd tls trust %s%s\n",
                word, owner);
        return EX_NOPERM;
    }
    fd = open_trusted_folder();
    if (fd < 0)
        return complain(fd);
    err = whole_file_replace(fd, trusted_name(),
                             (struct bytes){certificate->text,
                                            certificate->len},
                             TRUSTED_MODE);
    status = err == 0 ? update(replaces) : complain(err);
    close(fd);
    if (err == 0 && status != EX_OK) {
        (void)begin_end();
        fputs("sprintd: tls: some programs may trust it yet: `sprintd tls "
              "untrust` ends that\n",
              stderr);
    }
    if (status == EX_OK) {
        unlink(ending_path);
        printf("the programs of this machine trust it%s: %s\n",
               replaces ? ", and not the one before" : "", trusted_path);
    }
    return status;
}

int system_trust_remove(void)
{
    int status;

    if (!is_there(trusted_path) && !is_there(ending_path)) {
        puts("the programs of this machine trust none");
        return EX_OK;
    }
    if (geteuid() != 0) {
        fputs("sprintd: tls: only root can tell all programs of this machine: "
              "sudo sprintd tls untrust\n",
              stderr);
        return EX_NOPERM;
    }
    status = begin_end();
    if (status == EX_OK)
        status = update(true);
    if (status == EX_OK && has_remained()) {
        fprintf(stderr, "sprintd: tls: '%s' has it still, by another file\n",
                MACHINE_TRUST_BUNDLE_PATH);
        return EX_OSERR;
    }
    if (status != EX_OK) {
        fputs("sprintd: tls: programs of this machine may trust it yet: "
              "untrust again when that is mended\n",
              stderr);
        return status;
    }
    if (unlink(ending_path) == -1 && errno != ENOENT)
        return complain(-errno);
    puts("the programs of this machine trust it no longer");
    return EX_OK;
}
