#include "io/tls/tls_certificate_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/utf8.h"
#include "io/tls/tls_name.h"

enum { NAMES_MAX = 1000 };

struct tls_certificate {
    atomic_uint refs;
    X509 *x509;
    EVP_PKEY *key;
    STACK_OF(X509) * others; /* the chain without `x509` */
    int64_t begins_at;
    int64_t ends_at;
    char fingerprint[TLS_FINGERPRINT_MAX + 1];
    char issuer[TLS_ISSUER_MAX + 1];
    char *names[NAMES_MAX + 1];
    size_t name_count;
};

static int refuse(char fault[TLS_FAULT_MAX], const char *words)
{
    snprintf(fault, TLS_FAULT_MAX, "%s", words);
    ERR_clear_error();
    return -EINVAL;
}

/* --- Reading ------------------------------------------------------------- */

/* Gives no password, because nobody is there to type one. */
static int on_password(char *to, int size, int writes, void *context)
{
    bool *is_asked = context;

    (void)to;
    (void)size;
    (void)writes;
    *is_asked = true;
    return -1;
}

static int read_chain(struct tls_certificate *certificate, struct bytes text,
                      char fault[TLS_FAULT_MAX])
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    bool is_asked = false;
    X509 *x509;
    unsigned long error;
    int err = 0;

    certificate->others = sk_X509_new_null();
    if (!bio || !certificate->others) {
        BIO_free(bio);
        return -ENOMEM;
    }
    certificate->x509 = PEM_read_bio_X509_AUX(bio, NULL, on_password,
                                              &is_asked);
    while (certificate->x509 && err == 0 &&
           (x509 = PEM_read_bio_X509(bio, NULL, on_password, &is_asked))) {
        if (sk_X509_num(certificate->others) == TLS_CHAIN_MAX - 1)
            err = refuse(fault, "has too many certificates in its chain");
        else if (sk_X509_push(certificate->others, x509) == 0)
            err = -ENOMEM;
        if (err != 0)
            X509_free(x509);
    }
    BIO_free(bio);
    error = ERR_peek_last_error();
    if (err != 0)
        return err;
    if (ERR_GET_LIB(error) != ERR_LIB_PEM ||
        ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
        return refuse(fault, "has a certificate that cannot be read");
    if (!certificate->x509)
        return refuse(fault, "has no certificate in it (PEM)");
    ERR_clear_error();
    return 0;
}

static int read_key(struct tls_certificate *certificate, struct bytes text,
                    char fault[TLS_FAULT_MAX])
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    bool is_asked = false;

    if (!bio)
        return -ENOMEM;
    certificate->key = PEM_read_bio_PrivateKey(bio, NULL, on_password,
                                               &is_asked);
    BIO_free(bio);
    if (certificate->key)
        ERR_clear_error();
    else if (is_asked)
        return refuse(fault, "has a key that a password protects: keep it "
                             "without one, for the server alone to read");
    else
        return refuse(fault, "has no private key in it (PEM)");
    return 0;
}

/* --- What a certificate says --------------------------------------------- */

static bool add_name(struct tls_certificate *certificate, struct bytes text)
{
    char normal[TLS_NAME_MAX + 1];
    struct bytes name = tls_name_normalise(text, normal);

    if (name.len == 0 || memchr(name.data, '\0', name.len) ||
        certificate->name_count == NAMES_MAX)
        return true; /* no client asks for such a name, or there are too many */
    certificate->names[certificate->name_count] = strndup(name.data, name.len);
    return certificate->names[certificate->name_count++] != NULL;
}

static bool add_address(struct tls_certificate *certificate,
                        const ASN1_OCTET_STRING *octets)
{
    char text[INET6_ADDRSTRLEN];
    int family = ASN1_STRING_length(octets) == 4 ? AF_INET : AF_INET6;

    if (ASN1_STRING_length(octets) != 4 && ASN1_STRING_length(octets) != 16)
        return true;
    return !inet_ntop(family, ASN1_STRING_get0_data(octets), text,
                      sizeof(text)) ||
           add_name(certificate, bytes_of(text));
}

static bool read_names(struct tls_certificate *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate->x509,
                                            NID_subject_alt_name, NULL, NULL);
    bool is_done = true;

    for (int i = 0; i < sk_GENERAL_NAME_num(names) && is_done; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        const ASN1_STRING *text;

        if (name->type == GEN_DNS) {
            text = name->d.dNSName;
            is_done = add_name(certificate,
                               (struct bytes){
                                   (const char *)ASN1_STRING_get0_data(text),
                                   (size_t)ASN1_STRING_length(text)});
        } else if (name->type == GEN_IPADD) {
            is_done = add_address(certificate, name->d.iPAddress);
        }
    }
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return is_done;
}

static bool read_time(const ASN1_TIME *time, int64_t *seconds_out)
{
    struct tm tm;

    if (!time || !ASN1_TIME_to_tm(time, &tm))
        return false;
    *seconds_out = timegm(&tm);
    return true;
}

static void read_fingerprint(struct tls_certificate *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    unsigned len = 0;

    if (!X509_digest(certificate->x509, EVP_sha256(), digest, &len))
        len = 0;
    for (unsigned i = 0; i < len && i < TLS_FINGERPRINT_MAX / 2; i++)
        snprintf(certificate->fingerprint + 2 * i, 3, "%02x", digest[i]);
}

/* Adds a part to the issuer's text, which is cut where it is too long. */
static void add_issuer(struct tls_certificate *certificate,
                       const unsigned char *text, int text_len)
{
    size_t len = strlen(certificate->issuer);

    snprintf(certificate->issuer + len, sizeof(certificate->issuer) - len,
             "%s%.*s", len > 0 ? " " : "", text_len, (const char *)text);
}

/* Reads the issuer's name. Control characters are left out, because the issuer
 * chose the name, and terminals show it as it is. */
static void read_issuer(struct tls_certificate *certificate)
{
    static const int entries[] = {NID_organizationName, NID_commonName};
    const X509_NAME *name = X509_get_issuer_name(certificate->x509);

    for (size_t i = 0; name && i < sizeof(entries) / sizeof(*entries); i++) {
        int at = X509_NAME_get_index_by_NID(name, entries[i], -1);
        unsigned char *utf8 = NULL;
        int len = -1;

        if (at >= 0)
            len = ASN1_STRING_to_UTF8(
                &utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
        if (len >= 0) {
            add_issuer(certificate, utf8, len);
            OPENSSL_free(utf8);
        }
    }
    utf8_disarm(certificate->issuer, strlen(certificate->issuer), false);
    ERR_clear_error();
}

/* Finds the certificate behind the first one that the key belongs to. Returns
 * its place in the chain, where the first certificate has place 1; 0 if there
 * is no such certificate. */
static int find_owner(const struct tls_certificate *certificate)
{
    for (int i = 0; i < sk_X509_num(certificate->others); i++)
        if (X509_check_private_key(sk_X509_value(certificate->others, i),
                                   certificate->key) == 1)
            return i + 2;
    return 0;
}

static int check_key(const struct tls_certificate *certificate,
                     char fault[TLS_FAULT_MAX])
{
    int owner;

    if (!tls_certificate_kind(certificate))
        return refuse(fault, "has a key of a kind that is not for TLS: RSA, "
                             "ECDSA and Ed25519 are");
    if (X509_check_private_key(certificate->x509, certificate->key) == 1)
        return 0;
    owner = find_owner(certificate);
    if (owner == 0)
        return refuse(fault, "has another key than the one that is given");
    snprintf(fault, TLS_FAULT_MAX,
             "has its chain in the wrong order: the key is that of number %d, "
             "which belongs first",
             owner);
    ERR_clear_error();
    return -EINVAL;
}

static int read_all(struct tls_certificate *certificate, struct bytes chain,
                    struct bytes key, char fault[TLS_FAULT_MAX])
{
    int err = read_chain(certificate, chain, fault);

    if (err == 0)
        err = read_key(certificate, key, fault);
    if (err == 0)
        err = check_key(certificate, fault);
    if (err != 0)
        return err;
    if (!read_time(X509_get0_notBefore(certificate->x509),
                   &certificate->begins_at) ||
        !read_time(X509_get0_notAfter(certificate->x509),
                   &certificate->ends_at))
        return refuse(fault, "has a certificate without a term");
    read_fingerprint(certificate);
    read_issuer(certificate);
    return read_names(certificate) ? 0 : -ENOMEM;
}

/* --- Coming and going ---------------------------------------------------- */

int tls_certificate_create(struct tls_certificate **certificate_out,
                           struct bytes chain, struct bytes key,
                           char fault[TLS_FAULT_MAX])
{
    struct tls_certificate *certificate = calloc(1, sizeof(*certificate));
    int err = -ENOMEM;

    fault[0] = '\0';
    *certificate_out = NULL;
    if (!certificate)
        return err;
    atomic_init(&certificate->refs, 1);
    ERR_clear_error();
    err = read_all(certificate, chain, key, fault);
    if (err == 0)
        *certificate_out = certificate;
    else
        tls_certificate_release(&certificate);
    return err;
}

struct tls_certificate *tls_certificate_acquire(struct tls_certificate
                                                    *certificate)
{
    atomic_fetch_add_explicit(&certificate->refs, 1, memory_order_relaxed);
    return certificate;
}

void tls_certificate_release(struct tls_certificate **certificate_ref)
{
    struct tls_certificate *certificate = *certificate_ref;

    *certificate_ref = NULL;
    if (!certificate || atomic_fetch_sub_explicit(&certificate->refs, 1,
                                                  memory_order_acq_rel) > 1)
        return;
    X509_free(certificate->x509);
    EVP_PKEY_free(certificate->key);
    sk_X509_pop_free(certificate->others, X509_free);
    for (size_t i = 0; i < certificate->name_count; i++)
        free(certificate->names[i]);
    free(certificate);
}

/* --- Looking ------------------------------------------------------------- */

const char *tls_certificate_issuer(const struct tls_certificate *certificate)
{
    return certificate->issuer;
}

int64_t tls_certificate_begins_at(const struct tls_certificate *certificate)
{
    return certificate->begins_at;
}

int64_t tls_certificate_ends_at(const struct tls_certificate *certificate)
{
    return certificate->ends_at;
}

/* Whether this machine knows and trusts the issuer. */
static bool is_trusted_here(X509 *x509)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *search = X509_STORE_CTX_new();
    X509 *issuer = NULL;
    bool is_known = false;

    if (store && search && X509_STORE_set_default_paths(store) == 1 &&
        X509_STORE_CTX_init(search, store, x509, NULL) == 1)
        is_known = X509_STORE_CTX_get1_issuer(&issuer, search, x509) == 1;
    X509_free(issuer);
    X509_STORE_CTX_free(search);
    X509_STORE_free(store);
    ERR_clear_error();
    return is_known;
}

enum tls_chain tls_certificate_chain(const struct tls_certificate *certificate)
{
    X509 *x509 = certificate->x509;
    int count = sk_X509_num(certificate->others);

    for (int i = 0; i < count; i++) {
        X509 *issuer = sk_X509_value(certificate->others, i);

        if (X509_check_issued(issuer, x509) != X509_V_OK)
            return TLS_CHAIN_DISORDERED;
        x509 = issuer;
    }
    if (count > 0)
        return TLS_CHAIN_WHOLE;
    if (X509_check_issued(x509, x509) == X509_V_OK)
        return TLS_CHAIN_ALONE;
    return is_trusted_here(x509) ? TLS_CHAIN_WHOLE : TLS_CHAIN_INCOMPLETE;
}

const char *tls_certificate_kind(const struct tls_certificate *certificate)
{
    switch (EVP_PKEY_get_base_id(certificate->key)) {
    case EVP_PKEY_RSA:
        return "RSA";
    case EVP_PKEY_RSA_PSS:
        return "RSA-PSS";
    case EVP_PKEY_EC:
        return "ECDSA";
    case EVP_PKEY_ED25519:
        return "Ed25519";
    case EVP_PKEY_ED448:
        return "Ed448";
    default:
        return NULL;
    }
}

const char *const *tls_certificate_names(const struct tls_certificate
                                             *certificate)
{
    return (const char *const *)certificate->names;
}

bool tls_certificate_covers(const struct tls_certificate *certificate,
                            struct bytes host)
{
    char normal[TLS_NAME_MAX + 1];
    struct bytes name = tls_name_normalise(host, normal);

    for (size_t i = 0; i < certificate->name_count; i++)
        if (tls_name_matches(bytes_of(certificate->names[i]), name))
            return true;
    return false;
}

const char *tls_certificate_fingerprint(const struct tls_certificate
                                            *certificate)
{
    return certificate->fingerprint;
}

/* --- For tls_context.c --------------------------------------------------- */

X509 *tls_certificate_x509(const struct tls_certificate *certificate)
{
    return certificate->x509;
}

EVP_PKEY *tls_certificate_key(const struct tls_certificate *certificate)
{
    return certificate->key;
}

STACK_OF(X509) *
    tls_certificate_others(const struct tls_certificate *certificate)
{
    return certificate->others;
}
