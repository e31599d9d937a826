#include "acme/acme_x509.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "acme/acme_key_priv.h"
#include "base/base64.h"

enum { CHALLENGE_S = 7 * 24 * 3600, EARLY_S = 3600, SERIAL_BYTES_MAX = 64 };

/* --- Extensions ---------------------------------------------------------- */

/* Makes the list of names for subjectAltName. OpenSSL could also parse a text
 * in its configuration syntax, but a name could then add syntax of its own. */
static GENERAL_NAMES *make_names(const struct texts *names)
{
    GENERAL_NAMES *list = GENERAL_NAMES_new();

    for (size_t i = 0; list && i < names->count; i++) {
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *text = ASN1_IA5STRING_new();

        if (!name || !text || ASN1_STRING_set(text, names->items[i], -1) != 1 ||
            sk_GENERAL_NAME_push(list, name) == 0) {
            GENERAL_NAME_free(name);
            ASN1_IA5STRING_free(text);
            GENERAL_NAMES_free(list);
            return NULL;
        }
        GENERAL_NAME_set0_value(name, GEN_DNS, text);
    }
    return list;
}

/* --- Requests ------------------------------------------------------------ */

static bool add_names(X509_REQ *request, const struct texts *names)
{
    STACK_OF(X509_EXTENSION) *extensions = NULL;
    GENERAL_NAMES *list = make_names(names);
    bool is_done = list &&
                   X509V3_add1_i2d(&extensions, NID_subject_alt_name, list, 0,
                                   X509V3_ADD_DEFAULT) == 1 &&
                   X509_REQ_add_extensions(request, extensions) == 1;

    GENERAL_NAMES_free(list);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return is_done;
}

bool acme_x509_put_request(const struct acme_key *key,
                           const struct texts *names, struct buf *text)
{
    X509_REQ *request = X509_REQ_new();
    unsigned char *der = NULL;
    int len = -1;

    if (request && X509_REQ_set_version(request, X509_REQ_VERSION_1) == 1 &&
        X509_REQ_set_pubkey(request, acme_key_evp(key)) == 1 &&
        add_names(request, names) &&
        X509_REQ_sign(request, acme_key_evp(key), EVP_sha256()) > 0)
        len = i2d_X509_REQ(request, &der);
    if (len > 0)
        base64_put_url(text, (struct bytes){(char *)der, (size_t)len});
    OPENSSL_free(der);
    X509_REQ_free(request);
    ERR_clear_error();
    return len > 0 && !text->failed;
}

/* --- Challenges ---------------------------------------------------------- */

/* Adds the critical extension id-pe-acmeIdentifier. Its value is an OCTET
 * STRING, nested in the extension's own OCTET STRING (RFC 8737 3). */
static bool add_identifier(X509 *certificate,
                           const unsigned char digest[ACME_DIGEST_BYTES])
{
    ASN1_OBJECT *id = OBJ_txt2obj("1.3.6.1.5.5.7.1.31", 1);
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    unsigned char der[2 + ACME_DIGEST_BYTES] = {V_ASN1_OCTET_STRING,
                                                ACME_DIGEST_BYTES};
    X509_EXTENSION *extension = NULL;
    bool is_done;

    memcpy(der + 2, digest, ACME_DIGEST_BYTES);
    if (id && value && ASN1_OCTET_STRING_set(value, der, sizeof(der)) == 1)
        extension = X509_EXTENSION_create_by_OBJ(NULL, id, 1, value);
    is_done = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    ASN1_OBJECT_free(id);
    return is_done;
}

static bool fill(X509 *certificate, EVP_PKEY *key, const char *name,
                 const unsigned char digest[ACME_DIGEST_BYTES], int64_t now_s)
{
    struct texts names = {.items = &name, .count = 1};
    GENERAL_NAMES *list = make_names(&names);
    X509_NAME *subject = X509_get_subject_name(certificate);
    bool is_done = list && X509_set_version(certificate, X509_VERSION_3) == 1 &&
                   ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate),
                                          now_s > 0 ? now_s : 1) == 1 &&
                   ASN1_TIME_set(X509_getm_notBefore(certificate),
                                 (time_t)(now_s - EARLY_S)) &&
                   ASN1_TIME_set(X509_getm_notAfter(certificate),
                                 (time_t)(now_s + CHALLENGE_S)) &&
                   X509_set_pubkey(certificate, key) == 1 &&
                   X509_NAME_add_entry_by_NID(subject, NID_organizationName,
                                              MBSTRING_ASC,
                                              (const unsigned char *)"sprintd",
                                              -1, -1, 0) == 1 &&
                   X509_set_issuer_name(certificate, subject) == 1 &&
                   X509_add1_ext_i2d(certificate, NID_subject_alt_name, list, 0,
                                     X509V3_ADD_DEFAULT) == 1 &&
                   add_identifier(certificate, digest) &&
                   X509_sign(certificate, key, EVP_sha256()) > 0;

    GENERAL_NAMES_free(list);
    return is_done;
}

bool acme_x509_put_challenge(const char *name,
                             const unsigned char digest[ACME_DIGEST_BYTES],
                             int64_t now_s, struct buf *pem)
{
    X509 *certificate = X509_new();
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio = BIO_new(BIO_s_secmem());
    const char *text = NULL;
    long len = 0;

    if (certificate && key && bio &&
        fill(certificate, key, name, digest, now_s) &&
        PEM_write_bio_X509(bio, certificate) == 1 &&
        PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1)
        len = BIO_get_mem_data(bio, &text);
    if (len > 0)
        buf_put(pem, (struct bytes){text, (size_t)len});
    BIO_free(bio);
    EVP_PKEY_free(key);
    X509_free(certificate);
    ERR_clear_error();
    return len > 0 && !pem->failed;
}

/* --- Certificates -------------------------------------------------------- */

static X509 *read_first(struct bytes chain)
{
    BIO *bio = BIO_new_mem_buf(chain.data, (int)chain.len);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

    BIO_free(bio);
    ERR_clear_error();
    return certificate;
}

static bool put_serial(const ASN1_INTEGER *serial, struct buf *text)
{
    unsigned char octets[SERIAL_BYTES_MAX + 1] = {0};
    BIGNUM *number = ASN1_INTEGER_to_BN(serial, NULL);
    int len = number && !BN_is_negative(number) ? BN_num_bytes(number) : 0;
    bool is_high;

    if (len == 0 || len > SERIAL_BYTES_MAX) {
        BN_free(number);
        return false;
    }
    BN_bn2bin(number, octets + 1);
    BN_free(number);
    is_high = octets[1] & 0x80; /* DER puts a zero byte before 0x80..0xff */
    base64_put_url(text, (struct bytes){(char *)octets + !is_high,
                                        (size_t)len + is_high});
    return !text->failed;
}

bool acme_x509_put_identifier(struct bytes chain, struct buf *text)
{
    X509 *certificate = read_first(chain);
    const ASN1_OCTET_STRING *issuer =
        certificate ? X509_get0_authority_key_id(certificate) : NULL;
    bool is_done = false;

    if (issuer && ASN1_STRING_length(issuer) > 0) {
        base64_put_url(text, (struct bytes){
                                 (const char *)ASN1_STRING_get0_data(issuer),
                                 (size_t)ASN1_STRING_length(issuer)});
        buf_put_literal(text, ".");
        is_done = put_serial(X509_get0_serialNumber(certificate), text);
    }
    X509_free(certificate);
    return is_done;
}

bool acme_x509_put_der(struct bytes chain, struct buf *text)
{
    X509 *certificate = read_first(chain);
    unsigned char *der = NULL;
    int len = certificate ? i2d_X509(certificate, &der) : -1;

    if (len > 0)
        base64_put_url(text, (struct bytes){(char *)der, (size_t)len});
    OPENSSL_free(der);
    X509_free(certificate);
    return len > 0 && !text->failed;
}
