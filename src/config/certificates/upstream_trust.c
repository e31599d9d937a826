#include "config/certificates/upstream_trust.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/log.h"
#include "io/small_file.h"

/* The names of the options for one kind of servers. */
struct trust_words {
    const char *who, *ca, *certificate, *certificate_key;
};

static const struct trust_words proxy_words = {"proxy", "proxy-tls-ca",
                                               "proxy-tls-certificate",
                                               "proxy-tls-certificate-key"};
static const struct trust_words kv_words = {
    "kv", "kv-tls-ca", "kv-tls-certificate", "kv-tls-certificate-key"};

/* The options' names and values. */
struct trust_told {
    const struct trust_words *words;
    const char *ca, *certificate, *certificate_key;
    bool verifies;
};

static struct trust_told told_of_proxies(const struct options *options)
{
    return (struct trust_told){
        .words = &proxy_words,
        .ca = options->proxy_tls_ca,
        .certificate = options->proxy_tls_certificate,
        .certificate_key = options->proxy_tls_certificate_key,
        .verifies = options->proxy_tls_verify};
}

/* --- Files --------------------------------------------------------------- */

/* complain() and refuse() always return false, so that a caller can return
 * their result. */

static bool complain(struct upstream_trust_fault *fault, const char *option,
                     const char *path, int err)
{
    const char *why = small_file_fault(err);

    fault->option = option;
    fault->status = EX_NOINPUT;
    snprintf(fault->text, sizeof(fault->text), "%s '%.300s': %s", option, path,
             why ? why : strerror(-err));
    return false;
}

static bool refuse(struct upstream_trust_fault *fault, const char *option,
                   const char *path, const char *why)
{
    bool is_told = *why != '\0';

    fault->option = option;
    fault->status = is_told ? EX_CONFIG : EX_OSERR;
    snprintf(fault->text, sizeof(fault->text), "%s '%.300s' %s", option, path,
             is_told ? why : "cannot be kept: out of memory");
    return false;
}

static bool read_certificate(struct tls_certificate **certificate_out,
                             const struct trust_told *told, int *err_out,
                             struct upstream_trust_fault *fault)
{
    const char *path = told->certificate;
    const char *key_path = told->certificate_key;
    struct small_file chain, key = {0};
    char why[TLS_FAULT_MAX];
    bool is_read;

    if (!path)
        return true;
    *err_out = small_file_read(&chain, path);
    if (*err_out != 0)
        return complain(fault, told->words->certificate, path, *err_out);
    *err_out = key_path ? small_file_read(&key, key_path) : 0;
    if (*err_out != 0)
        is_read = complain(fault, told->words->certificate_key, key_path,
                           *err_out);
    else
        is_read = tls_certificate_create(certificate_out,
                                         (struct bytes){chain.text, chain.len},
                                         key_path
                                             ? (struct bytes){key.text, key.len}
                                             : (struct bytes){chain.text,
                                                              chain.len},
                                         why) == 0 ||
                  refuse(fault, told->words->certificate, path, why);
    small_file_fini(&chain);
    small_file_fini(&key);
    return is_read;
}

/* --- Trust --------------------------------------------------------------- */

static bool make_trust(struct tls_trust **trust_out,
                       const struct trust_told *told,
                       const struct tls_trust_options *made,
                       struct upstream_trust_fault *fault)
{
    char why[TLS_FAULT_MAX];

    if (tls_trust_create(trust_out, made, why) == 0)
        return true;
    if (told->ca)
        return refuse(fault, told->words->ca, told->ca, why);
    fault->option = told->words->who;
    fault->status = *why != '\0' ? EX_NOINPUT : EX_OSERR;
    snprintf(fault->text, sizeof(fault->text), "%s: %s; %s names others",
             told->words->who, *why != '\0' ? why : "out of memory",
             told->words->ca);
    return false;
}

/* Reads all files and makes the trust. *err_out is the -errno of the first file
 * that cannot be read; it stays 0 if all can be read. */
static bool read_all(struct tls_trust **trust_out,
                     const struct trust_told *told,
                     const struct tls_trust *before, int *err_out,
                     struct upstream_trust_fault *fault)
{
    struct tls_trust_options made = {.verifies = told->verifies,
                                     .before = before};
    struct small_file authorities = {0};
    bool is_read = true;

    if (made.verifies && told->ca) {
        *err_out = small_file_read(&authorities, told->ca);
        if (*err_out != 0)
            return complain(fault, told->words->ca, told->ca, *err_out);
        if (authorities.len == 0)
            is_read = refuse(fault, told->words->ca, told->ca, "is empty");
        made.authorities = (struct bytes){authorities.text, authorities.len};
    }
    is_read = is_read &&
              read_certificate(&made.certificate, told, err_out, fault) &&
              make_trust(trust_out, told, &made, fault);
    if (made.certificate)
        tls_certificate_release(&made.certificate);
    small_file_fini(&authorities);
    return is_read;
}

/* --- Keeping the earlier trust ------------------------------------------- */

static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Returns true if the earlier trust can stay in use: the options name the same
 * files, and `err` says that the process may not read them. Often root starts
 * the server and reads the keys, and the server gives up root's rights. */
static bool may_keep(const struct options *options,
                     const struct options *earlier, int err)
{
    return (err == -EACCES || err == -EPERM) && earlier &&
           options->proxy_tls_verify == earlier->proxy_tls_verify &&
           is_same(options->proxy_tls_ca, earlier->proxy_tls_ca) &&
           is_same(options->proxy_tls_certificate,
                   earlier->proxy_tls_certificate) &&
           is_same(options->proxy_tls_certificate_key,
                   earlier->proxy_tls_certificate_key);
}

bool upstream_trust_open(struct tls_trust **trust_out,
                         const struct options *options,
                         struct tls_trust *before,
                         const struct options *earlier,
                         struct upstream_trust_fault *fault)
{
    struct trust_told told = told_of_proxies(options);
    int err = 0;

    if (read_all(trust_out, &told, before, &err, fault))
        return true;
    if (!before || !may_keep(options, earlier, err))
        return false;
    *trust_out = tls_trust_acquire(before);
    log_warning("%s; what it said stays until a restart, which has the rights "
                "to read it",
                fault->text);
    return true;
}

bool upstream_trust_open_kv(struct tls_trust **trust_out,
                            const struct options *options,
                            struct upstream_trust_fault *fault)
{
    struct trust_told told = {
        .words = &kv_words,
        .ca = options->kv_tls.ca,
        .certificate = options->kv_tls.certificate,
        .certificate_key = options->kv_tls.certificate_key,
        .verifies = true};
    int err = 0;

    return read_all(trust_out, &told, NULL, &err, fault);
}
