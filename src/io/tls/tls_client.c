#include "io/tls/tls_priv.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

static void write_hexadecimal(const unsigned char *bytes, size_t len, char *to)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
}

static void write_subject(const X509 *x509, char subject_out[TLS_SUBJECT_MAX])
{
    BIO *bio = BIO_new(BIO_s_mem());
    int len = 0;

    if (bio && X509_NAME_print_ex(bio, X509_get_subject_name(x509), 0,
                                  XN_FLAG_RFC2253) != -1)
        len = BIO_read(bio, subject_out, TLS_SUBJECT_MAX - 1);
    subject_out[len > 0 ? len : 0] = '\0';
    BIO_free(bio);
}

/* Returns the client's certificate, if it was found to be good; else NULL. */
static const X509 *find_certificate(const struct tls *tls)
{
    if (tls->taken)
        return tls->taken->certificate;
    return SSL_get_verify_result(tls->ssl) == X509_V_OK
               ? SSL_get0_peer_certificate(tls->ssl)
               : NULL;
}

bool tls_knows_client(const struct tls *tls)
{
    return find_certificate(tls);
}

bool tls_client_has_expired(const struct tls *tls)
{
    const X509 *x509 = find_certificate(tls);

    return x509 && X509_cmp_current_time(X509_get0_notAfter(x509)) <= 0;
}

bool tls_tell_client(const struct tls *tls, char subject_out[TLS_SUBJECT_MAX],
                     char fingerprint_out[TLS_FINGERPRINT_MAX + 1])
{
    const X509 *x509 = find_certificate(tls);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    subject_out[0] = fingerprint_out[0] = '\0';
    if (!x509)
        return false;
    ERR_clear_error();
    write_subject(x509, subject_out);
    if (X509_digest(x509, EVP_sha256(), digest, &len) == 1 &&
        len == TLS_FINGERPRINT_MAX / 2)
        write_hexadecimal(digest, len, fingerprint_out);
    ERR_clear_error();
    return true;
}
