#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/small_file.h"
#include "io/tls/tls_trust_priv.h"

enum { AUTHORITIES_MAX = 1000, FILE_PATH_MAX = 4096 };

struct tls_trust {
    atomic_uint refs;
    STACK_OF(X509) * authorities; /* NULL: nobody is verified */
    struct tls_certificate *certificate;
    bool is_named;
};

/* --- Certificates -------------------------------------------------------- */

static bool is_known(STACK_OF(X509) * all, const X509 *x509)
{
    for (int i = 0; i < sk_X509_num(all); i++)
        if (X509_cmp(sk_X509_value(all, i), x509) == 0)
            return true;
    return false;
}

/* Adds the certificates of a text, each only once. Returns 0, -EINVAL when some
 * cannot be read, or -ENOMEM. */
static int add_text(STACK_OF(X509) * all, struct bytes text)
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    X509 *x509;
    int err = bio ? 0 : -ENOMEM;

    ERR_clear_error();
    while (err == 0 && (x509 = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL))) {
        if (sk_X509_num(all) == AUTHORITIES_MAX)
            err = -EINVAL;
        else if (!is_known(all, x509) && sk_X509_push(all, x509) > 0)
            continue;
        X509_free(x509);
    }
    BIO_free(bio);
    if (err == 0 &&
        ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        err = -EINVAL;
    ERR_clear_error();
    return err;
}

static int read_named(STACK_OF(X509) * all, struct bytes text,
                      char fault[TLS_FAULT_MAX])
{
    int err = add_text(all, text);

    if (err == 0 && sk_X509_num(all) == 0) {
        snprintf(fault, TLS_FAULT_MAX,
                 "has no certificate of an authority in it (PEM)");
        return -EINVAL;
    }
    if (err == -EINVAL)
        snprintf(fault, TLS_FAULT_MAX,
                 "has a certificate that cannot be read, or more than %d",
                 AUTHORITIES_MAX);
    return err;
}

/* --- The system's authorities -------------------------------------------- */

/* Adds the certificates of a file. A file that cannot be read is passed over,
 * as OpenSSL does: servers that need its authorities are not believed. Returns
 * false when memory is short. */
static bool add_file(STACK_OF(X509) * all, const char *path)
{
    struct small_file file;
    int err;

    if (small_file_read(&file, path) != 0)
        return true;
    err = add_text(all, (struct bytes){file.text, file.len});
    small_file_fini(&file);
    return err != -ENOMEM;
}

/* Whether `name` is like "3513523f.0", which links to a certificate by the hash
 * of its subject. */
static bool is_hash(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' &&
           name[9] != '\0' &&
           strspn(name + 9, "0123456789") == strlen(name + 9);
}

static bool add_directory(STACK_OF(X509) * all, const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    char name[FILE_PATH_MAX];
    bool has_memory = true;

    while (directory && has_memory && (entry = readdir(directory)))
        if (is_hash(entry->d_name) &&
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) <
                (int)sizeof(name))
            has_memory = add_file(all, name);
    if (directory)
        closedir(directory);
    return has_memory;
}

static const char *find_path(const char *variable, const char *preset)
{
    const char *path = getenv(variable);

    return path && *path != '\0' ? path : preset;
}

static int read_systems(STACK_OF(X509) * all, char fault[TLS_FAULT_MAX])
{
    const char *file = find_path(X509_get_default_cert_file_env(),
                                 X509_get_default_cert_file());
    char *paths = strdup(find_path(X509_get_default_cert_dir_env(),
                                   X509_get_default_cert_dir()));
    bool has_memory = paths && add_file(all, file);
    char *rest = NULL;

    for (char *path = has_memory ? strtok_r(paths, ":", &rest) : NULL;
         path && has_memory; path = strtok_r(NULL, ":", &rest))
        has_memory = add_directory(all, path);
    free(paths);
    if (!has_memory)
        return -ENOMEM;
    if (sk_X509_num(all) > 0)
        return 0;
    snprintf(fault, TLS_FAULT_MAX,
             "the system's authorities cannot be read: neither in %s nor in %s",
             file,
             find_path(X509_get_default_cert_dir_env(),
                       X509_get_default_cert_dir()));
    return -ENOENT;
}

/* --- Coming and going ---------------------------------------------------- */

static int find_authorities(struct tls_trust *trust,
                            const struct tls_trust_options *options,
                            char fault[TLS_FAULT_MAX])
{
    const struct tls_trust *before = options->before;

    if (!trust->is_named && before && before->authorities &&
        !before->is_named) {
        trust->authorities = X509_chain_up_ref(before->authorities);
        return trust->authorities ? 0 : -ENOMEM;
    }
    trust->authorities = sk_X509_new_null();
    if (!trust->authorities)
        return -ENOMEM;
    return trust->is_named
               ? read_named(trust->authorities, options->authorities, fault)
               : read_systems(trust->authorities, fault);
}

int tls_trust_create(struct tls_trust **trust_out,
                     const struct tls_trust_options *options,
                     char fault[TLS_FAULT_MAX])
{
    struct tls_trust *trust = calloc(1, sizeof(*trust));
    int err = 0;

    fault[0] = '\0';
    if (!trust)
        return -ENOMEM;
    atomic_init(&trust->refs, 1);
    trust->is_named = options->authorities.len > 0;
    if (options->certificate)
        trust->certificate = tls_certificate_acquire(options->certificate);
    if (options->verifies)
        err = find_authorities(trust, options, fault);
    if (err == 0)
        *trust_out = trust;
    else
        tls_trust_release(&trust);
    return err;
}

struct tls_trust *tls_trust_acquire(struct tls_trust *trust)
{
    atomic_fetch_add_explicit(&trust->refs, 1, memory_order_relaxed);
    return trust;
}

void tls_trust_release(struct tls_trust **trust_ref)
{
    struct tls_trust *trust = *trust_ref;

    *trust_ref = NULL;
    if (!trust ||
        atomic_fetch_sub_explicit(&trust->refs, 1, memory_order_acq_rel) > 1)
        return;
    sk_X509_pop_free(trust->authorities, X509_free);
    if (trust->certificate)
        tls_certificate_release(&trust->certificate);
    free(trust);
}

STACK_OF(X509) * tls_trust_authorities(const struct tls_trust *trust)
{
    return trust->authorities;
}

bool tls_trust_is_named(const struct tls_trust *trust)
{
    return trust->is_named;
}

struct tls_certificate *tls_trust_certificate(const struct tls_trust *trust)
{
    return trust->certificate;
}
