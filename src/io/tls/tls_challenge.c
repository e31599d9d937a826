#include "io/tls/tls_challenge_priv.h"

#include <limits.h>
#include <openssl/ssl.h>
#include <stdio.h>

#include "base/siphash.h"
#include "io/small_file.h"
#include "io/tls/tls_certificate_priv.h"
#include "io/tls/tls_name.h"

/* The protocol's name with its length in front, as lists of protocols have
 * it. */
#define PROTOCOL "\012acme-tls/1"

/* Marks a connection that has been shown a challenge. An option of OpenSSL
 * would not do, because openssl.cnf may set any option for all connections. */
static const char shown;

void tls_challenge_file(struct bytes name,
                        char file_out[TLS_CHALLENGE_FILE_MAX])
{
    static const struct siphash_key key; /* nobody gains by a collision */
    char normal[TLS_NAME_MAX + 1];
    struct siphash hash = siphash_of(&key, tls_name_normalise(name, normal));

    snprintf(file_out, TLS_CHALLENGE_FILE_MAX, "alpn.%016llx%016llx",
             (unsigned long long)hash.words[0],
             (unsigned long long)hash.words[1]);
}

bool tls_challenge_is_listed(struct bytes protocols)
{
    return bytes_eq(protocols, BYTES(PROTOCOL));
}

bool tls_challenge_is_asked(struct ssl_st *ssl)
{
    const unsigned char *extension;
    size_t len;

    /* The extension is the list's length in two bytes, and the list. */
    return SSL_client_hello_get0_ext(
               ssl, TLSEXT_TYPE_application_layer_protocol_negotiation,
               &extension, &len) &&
           len == 2 + sizeof(PROTOCOL) - 1 && extension[0] == 0 &&
           extension[1] == sizeof(PROTOCOL) - 1 &&
           tls_challenge_is_listed((struct bytes){(const char *)extension + 2,
                                                  len - 2});
}

static bool use(struct ssl_st *ssl, const struct small_file *file)
{
    struct bytes text = {file->text, file->len};
    struct tls_certificate *certificate = NULL;
    char fault[TLS_FAULT_MAX];
    bool is_used;

    if (tls_certificate_create(&certificate, text, text, fault) != 0)
        return false;
    is_used = SSL_use_cert_and_key(ssl, tls_certificate_x509(certificate),
                                   tls_certificate_key(certificate), NULL,
                                   1) == 1;
    tls_certificate_release(&certificate);
    return is_used;
}

bool tls_challenge_show(struct ssl_st *ssl, const char *folder,
                        struct bytes name)
{
    char file_name[TLS_CHALLENGE_FILE_MAX];
    char path[PATH_MAX];
    struct small_file file;
    bool is_shown;

    tls_challenge_file(name, file_name);
    if (snprintf(path, sizeof(path), "%s/%s", folder, file_name) >=
            (int)sizeof(path) ||
        small_file_read(&file, path) != 0)
        return false;
    is_shown = use(ssl, &file);
    small_file_fini(&file);
    SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
    SSL_set_options(ssl, SSL_OP_NO_TICKET);
    return SSL_set_app_data(ssl, (void *)(uintptr_t)&shown) == 1 && is_shown;
}

/* Whether the connection is for a challenge, or was at its first ClientHello. A
 * client that is asked for another group sends a second ClientHello, which may
 * ask for something else. Even then the connection is for a challenge only,
 * since its client was asked for no certificate. */
bool tls_challenge_is_met(const struct ssl_st *ssl)
{
    const unsigned char *protocol;
    unsigned len;

    if (SSL_get_app_data(ssl) == &shown)
        return true;
    SSL_get0_alpn_selected(ssl, &protocol, &len);
    return len == sizeof(PROTOCOL) - 2 &&
           memcmp(protocol, PROTOCOL + 1, len) == 0;
}
