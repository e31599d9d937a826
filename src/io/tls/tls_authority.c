#include "io/tls/tls_authority.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

enum {
    SERIAL_BYTES = 16,
    DAY_S = 24 * 3600,
    /* How long before now a certificate begins: a client's clock may be
     * slow. */
    EARLY_S = 3600
};

struct tls_authority {
    X509 *certificate;
    EVP_PKEY *key;
};

/* An OpenSSL call that fails leaves its error in a queue of the thread. Code
 * that speaks TLS would take the error for its own. So the queue is cleared
 * where a failure is expected. */

/* --- Texts --------------------------------------------------------------- */

void tls_pem_fini(struct tls_pem *pem)
{
    if (pem->text)
        explicit_bzero(pem->text, pem->len);
    free(pem->text);
    *pem = (struct tls_pem){0};
}

/* Writes a certificate, and `key` unless it is NULL. Returns 0 or -ENOMEM. */
static int write_pem(struct tls_pem *pem_out, X509 *certificate, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    const char *text = NULL;
    long len = 0;

    *pem_out = (struct tls_pem){0};
    if (bio && PEM_write_bio_X509(bio, certificate) == 1 &&
        (!key || PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL,
                                               NULL) == 1))
        len = BIO_get_mem_data(bio, &text);
    if (text && len > 0)
        pem_out->text = malloc((size_t)len + 1);
    if (text && pem_out->text) {
        memcpy(pem_out->text, text, (size_t)len);
        pem_out->text[len] = '\0';
        pem_out->len = (size_t)len;
    }
    BIO_free(bio); /* secmem wipes the text */
    return pem_out->text ? 0 : -ENOMEM;
}

/* Refuses to ask for the password of a key that has one: there may be no
 * terminal, and the program must not wait for a person. */
static int refuse_password(char *password, int size, int writes, void *context)
{
    (void)password;
    (void)size;
    (void)writes;
    (void)context;
    return -1;
}

/* read_certificate() and read_key() read the first certificate, or the first
 * key, in a text. They return NULL when the text has none that is complete. */
static X509 *read_certificate(struct bytes pem)
{
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    X509 *certificate = NULL;

    if (bio)
        certificate = PEM_read_bio_X509(bio, NULL, refuse_password, NULL);
    BIO_free(bio);
    return certificate;
}

static EVP_PKEY *read_key(struct bytes pem)
{
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    EVP_PKEY *key = NULL;

    if (bio)
        key = PEM_read_bio_PrivateKey(bio, NULL, refuse_password, NULL);
    BIO_free(bio);
    return key;
}

/* --- Making -------------------------------------------------------------- */

/* Sets a serial number: random, positive, and never zero (RFC 5280 4.1.2.2). */
static bool set_serial(X509 *certificate)
{
    unsigned char octets[SERIAL_BYTES];
    BIGNUM *number;
    bool is_set;

    if (RAND_bytes(octets, sizeof(octets)) != 1)
        return false;
    octets[0] = (octets[0] & 0x7F) | 0x40;
    number = BN_bin2bn(octets, sizeof(octets), NULL);
    is_set = number &&
             BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return is_set;
}

static bool set_time(ASN1_TIME *to, int64_t when_s)
{
    return ASN1_TIME_set(to, (time_t)when_s) != NULL;
}

static bool add_subject(X509 *certificate, int nid, const char *text)
{
    return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), nid,
                                      MBSTRING_ASC, (const unsigned char *)text,
                                      -1, -1, 0) == 1;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid,
                          const char *value)
{
    X509_EXTENSION *extension;
    X509V3_CTX context;
    bool is_added;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    is_added = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return is_added;
}

/* Makes a certificate with all that an authority and a leaf have in common.
 * Returns NULL when memory is short. */
static X509 *begin_certificate(EVP_PKEY *key, int64_t from_s, int64_t until_s)
{
    X509 *certificate = X509_new();

    if (certificate && X509_set_version(certificate, X509_VERSION_3) == 1 &&
        set_serial(certificate) &&
        set_time(X509_getm_notBefore(certificate), from_s) &&
        set_time(X509_getm_notAfter(certificate), until_s) &&
        X509_set_pubkey(certificate, key) == 1 &&
        add_subject(certificate, NID_organizationName, "sprintd"))
        return certificate;
    X509_free(certificate);
    return NULL;
}

struct tls_authority *tls_authority_create(const char *name, int64_t now_s)
{
    struct tls_authority *authority = calloc(1, sizeof(*authority));
    X509 *certificate;

    if (!authority)
        return NULL;
    authority->key = EVP_EC_gen("P-256");
    if (authority->key)
        authority->certificate =
            begin_certificate(authority->key, now_s - EARLY_S,
                              now_s + (int64_t)TLS_AUTHORITY_DAYS * DAY_S);
    certificate = authority->certificate;
    if (certificate && add_subject(certificate, NID_commonName, name) &&
        X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) ==
            1 &&
        add_extension(certificate, certificate, NID_basic_constraints,
                      "critical,CA:TRUE,pathlen:0") &&
        add_extension(certificate, certificate, NID_key_usage,
                      "critical,keyCertSign") &&
        add_extension(certificate, certificate, NID_subject_key_identifier,
                      "hash") &&
        X509_sign(certificate, authority->key, EVP_sha256()) > 0)
        return authority;
    tls_authority_destroy(authority);
    return NULL;
}

void tls_authority_destroy(struct tls_authority *authority)
{
    if (!authority)
        return;
    X509_free(authority->certificate);
    EVP_PKEY_free(authority->key);
    free(authority);
}

/* --- Signing ------------------------------------------------------------- */

/* Makes an entry of subjectAltName. Returns NULL when memory is short. */
static GENERAL_NAME *make_general_name(const char *name)
{
    GENERAL_NAME *general = NULL;
    ASN1_OCTET_STRING *octets = a2i_IPADDRESS(name);
    ASN1_IA5STRING *text = octets ? NULL : ASN1_IA5STRING_new();

    if (octets || (text && ASN1_STRING_set(text, name, -1) == 1))
        general = GENERAL_NAME_new();
    if (!general) {
        ASN1_OCTET_STRING_free(octets);
        ASN1_IA5STRING_free(text);
        return NULL;
    }
    if (octets)
        GENERAL_NAME_set0_value(general, GEN_IPADD, octets);
    else
        GENERAL_NAME_set0_value(general, GEN_DNS, text);
    return general;
}

/* Adds names as subjectAltName. They would be of no use in the subject: a
 * common name has at most 64 bytes, and no browser looks at it. */
static bool add_names(X509 *certificate, const struct tls_names *names)
{
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    bool is_added = list != NULL;

    for (size_t i = 0; i < names->count && is_added; i++) {
        GENERAL_NAME *name = make_general_name(names->items[i]);

        is_added = name && sk_GENERAL_NAME_push(list, name) > 0;
        if (!is_added)
            GENERAL_NAME_free(name);
    }
    is_added = is_added && X509_add1_ext_i2d(certificate, NID_subject_alt_name,
                                             list, 0, 0) == 1;
    GENERAL_NAMES_free(list);
    return is_added;
}

/* Returns the time in seconds of the epoch; INT64_MIN for a malformed time, so
 * that it counts as long ago. */
static int64_t read_time(const ASN1_TIME *time)
{
    struct tm tm = {0};

    return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : INT64_MIN;
}

static int64_t end_of(const X509 *certificate)
{
    return read_time(X509_get0_notAfter(certificate));
}

static X509 *make_leaf(const struct tls_authority *authority, EVP_PKEY *key,
                       const struct tls_names *names, int64_t now_s)
{
    X509 *issuer = authority->certificate;
    int64_t end_s = now_s + (int64_t)TLS_LEAF_DAYS * DAY_S;
    X509 *leaf = begin_certificate(key, now_s - EARLY_S,
                                   end_s < end_of(issuer) ? end_s
                                                          : end_of(issuer));

    if (leaf &&
        X509_set_issuer_name(leaf, X509_get_subject_name(issuer)) == 1 &&
        add_extension(leaf, issuer, NID_basic_constraints,
                      "critical,CA:FALSE") &&
        add_extension(leaf, issuer, NID_key_usage,
                      "critical,digitalSignature") &&
        add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth") &&
        add_extension(leaf, issuer, NID_subject_key_identifier, "hash") &&
        add_extension(leaf, issuer, NID_authority_key_identifier,
                      "keyid:always") &&
        add_names(leaf, names) &&
        X509_sign(leaf, authority->key, EVP_sha256()) > 0)
        return leaf;
    X509_free(leaf);
    return NULL;
}

int tls_authority_sign(const struct tls_authority *authority,
                       const struct tls_names *names, int64_t now_s,
                       struct tls_pem *leaf_out)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *leaf = key ? make_leaf(authority, key, names, now_s) : NULL;
    int err = leaf ? write_pem(leaf_out, leaf, key) : -ENOMEM;

    X509_free(leaf);
    EVP_PKEY_free(key);
    return err;
}

/* --- Loading, looking ---------------------------------------------------- */

/* Returns why a certificate is not an authority of ours; NULL when it is
 * one. */
static const char *find_fault(X509 *certificate)
{
    if (!certificate)
        return "there is no whole certificate in it";
    if (X509_check_ca(certificate) != 1 || X509_get_pathlen(certificate) != 0 ||
        X509_get_key_usage(certificate) != X509v3_KU_KEY_CERT_SIGN)
        return "its certificate is no authority for servers";
    if (X509_self_signed(certificate, 1) != 1)
        return "its certificate is not what the authority has signed";
    return NULL;
}

struct tls_authority *tls_authority_load(struct bytes pem, const char **why_out)
{
    struct tls_authority *authority = calloc(1, sizeof(*authority));

    *why_out = "out of memory";
    if (!authority)
        return NULL;
    authority->certificate = read_certificate(pem);
    authority->key = read_key(pem);
    *why_out = find_fault(authority->certificate);
    if (!*why_out && !authority->key)
        *why_out = "there is no whole key in it";
    else if (!*why_out && X509_check_private_key(authority->certificate,
                                                 authority->key) != 1)
        *why_out = "its key is not that of its certificate";
    ERR_clear_error();
    if (!*why_out)
        return authority;
    tls_authority_destroy(authority);
    return NULL;
}

int tls_authority_save(const struct tls_authority *authority,
                       struct tls_pem *pem_out)
{
    return write_pem(pem_out, authority->certificate, authority->key);
}

static bool read_facts(struct tls_authority_facts *facts, X509 *certificate)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len;
    char *to = facts->sha256;

    *facts = (struct tls_authority_facts){0};
    if (X509_digest(certificate, EVP_sha256(), hash, &len) != 1)
        return false;
    for (unsigned i = 0; i < len; i++)
        to += snprintf(to, 4, "%s%02X", i > 0 ? ":" : "", hash[i]);
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate),
                              NID_commonName, facts->name, sizeof(facts->name));
    facts->from_s = read_time(X509_get0_notBefore(certificate));
    facts->until_s = end_of(certificate);
    return true;
}

int tls_authority_read(struct bytes pem, struct tls_authority_facts *facts_out,
                       struct tls_pem *certificate_out, const char **why_out)
{
    X509 *certificate = read_certificate(pem);
    int err = 0;

    *why_out = find_fault(certificate);
    if (*why_out)
        err = -EINVAL;
    else if (facts_out && !read_facts(facts_out, certificate))
        err = -ENOMEM;
    else if (certificate_out)
        err = write_pem(certificate_out, certificate, NULL);
    X509_free(certificate);
    ERR_clear_error();
    return err;
}

static bool covers(X509 *leaf, const struct tls_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (X509_check_ip_asc(leaf, names->items[i], 0) != 1 &&
            X509_check_host(leaf, names->items[i], 0,
                            X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) != 1)
            return false;
    return true;
}

/* Whether the leaf lasts long enough, or as long as its authority. */
static bool lasts(const struct tls_authority *authority, const X509 *leaf,
                  int64_t now_s)
{
    int64_t end_s = end_of(leaf);

    return read_time(X509_get0_notBefore(leaf)) <= now_s &&
           (end_s > now_s + (int64_t)TLS_LEAF_RENEW_DAYS * DAY_S ||
            (end_s > now_s && end_s >= end_of(authority->certificate)));
}

bool tls_authority_approves(const struct tls_authority *authority,
                            struct bytes leaf, const struct tls_names *names,
                            int64_t now_s)
{
    X509 *certificate = read_certificate(leaf);
    EVP_PKEY *key = read_key(leaf);
    bool fits = certificate && key &&
                X509_check_private_key(certificate, key) == 1 &&
                X509_check_issued(authority->certificate, certificate) ==
                    X509_V_OK &&
                X509_verify(certificate, authority->key) == 1 &&
                covers(certificate, names) &&
                lasts(authority, certificate, now_s);

    EVP_PKEY_free(key);
    X509_free(certificate);
    ERR_clear_error();
    return fits;
}

bool tls_authority_is_valid(const struct tls_authority *authority,
                            int64_t now_s, const char **why_out)
{
    if (read_time(X509_get0_notBefore(authority->certificate)) > now_s)
        *why_out = "it begins in the future: is the clock right?";
    else if (end_of(authority->certificate) <= now_s)
        *why_out = "it has ended";
    else
        return true;
    return false;
}
