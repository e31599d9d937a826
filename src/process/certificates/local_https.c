#include "process/certificates/local_https.h"

#include <errno.h>
#include <sysexits.h>

#include "base/now.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "confine/identity.h"
#include "process/certificates/local_authority.h"
#include "process/certificates/local_names.h"
#include "process/certificates/machine_trust.h"

static int complain(FILE *errors, struct local_authority_fault *fault, int err)
{
    utf8_disarm(fault->text, strlen(fault->text), false);
    fprintf(errors, "sprintd: --https: %s\n", fault->text);
    return err == -EACCES || err == -EPERM ? EX_NOPERM
           : err == -EINVAL                ? EX_DATAERR
           : err == -ENOMEM                ? EX_OSERR
                                           : EX_CANTCREAT;
}

bool local_https_is_wanted(const struct options *options)
{
    bool has_certificate = options->location.certificate.count > 0;

    for (size_t i = 0; i < options->site_count; i++)
        has_certificate |= options->sites[i].options.certificate.count > 0;
    return options->local_names.count > 0 ||
           (options->https != OPTIONS_HTTPS_OFF && !has_certificate);
}

/* Adds the certificate to the options in *told if they give names of this
 * machine. Returns false if there is no memory. */
static bool add(const struct local_https *https, struct options *options,
                struct location_options *told)
{
    return !told->certificate_is_local ||
           texts_add(&told->certificate, &options->arena, https->path);
}

/* Adds the certificate at the top and to all sites with names of this machine.
 * Returns false if there is no memory. */
static bool add_all(const struct local_https *https, struct options *options)
{
    bool is_done = add(https, options, &options->location);

    for (size_t i = 0; i < options->site_count && is_done; i++)
        is_done = add(https, options, &options->sites[i].options);
    return is_done;
}

bool local_https_put(struct local_https *https, struct options *options)
{
    struct texts paths = {.items = https->paths, .count = 1};

    https->paths[0] = https->path;
    options->https_folder = https->folder;
    if (options->local_names.count > 0)
        return add_all(https, options);
    options->location.certificate = paths;
    for (size_t i = 0; i < options->site_count; i++)
        options->sites[i].options.certificate = paths;
    return true;
}

int local_https_renew(const struct local_https *https, FILE *errors)
{
    struct local_authority_fault fault;
    struct tls_pem leaf;
    struct now now;
    int err;

    now_refresh(&now);
    err = local_authority_leaf(https->folder, https->owner, &https->names,
                               now.wall_s, &leaf, &fault);
    if (err != 0)
        return complain(errors, &fault, err);
    tls_pem_fini(&leaf);
    return EX_OK;
}

static void add_names(struct local_https *https, const struct options *options)
{
    for (size_t i = 0; i < options->local_names.count; i++)
        tls_names_add(&https->names, bytes_of(options->local_names.items[i]));
}

int local_https_open(struct local_https *https, const struct options *options,
                     const struct local_https *before, FILE *errors)
{
    struct local_authority_fault fault;
    int err;

    if (before) {
        *https = *before;
        add_names(https, options);
        return local_https_renew(https, errors);
    }
    err = local_authority_find_folder(https->folder, &fault);
    if (err != 0)
        return complain(errors, &fault, err);
    if (snprintf(https->path, sizeof(https->path), "%s/" LOCAL_AUTHORITY_LEAF,
                 https->folder) >= (int)sizeof(https->path)) {
        fprintf(errors, "sprintd: --https: '%s': %s\n", https->folder,
                strerror(ENAMETOOLONG));
        return EX_CANTCREAT;
    }
    err = local_authority_make_folder(https->folder, &fault);
    if (err != 0)
        return complain(errors, &fault, err);
    https->owner = identity_file_user();
    local_names_find(&https->names);
    add_names(https, options);
    return local_https_renew(https, errors);
}

void local_https_tell(const struct local_https *https, FILE *to)
{
    struct local_authority_fault fault;
    struct tls_pem certificate;
    char word[SHELL_WORD_SIZE(PATH_MAX)];

    if (local_authority_read(https->folder, NULL, &certificate, &fault) != 0)
        return; /* this is not reported: the file existed a moment ago */
    if (!machine_trust_has_added(&certificate)) {
        shell_word_put(word, https->folder, PATH_MAX);
        fprintf(to,
                "sprintd: the certificate of --https is signed by this "
                "machine's own authority; to trust that: sprintd tls trust "
                "%s\n",
                word);
    }
    tls_pem_fini(&certificate);
}
