#include "make_certificate.h"

static void made_extend(X509 *x509, X509 *issuer, int kind, const char *text)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;

    X509V3_set_ctx(&context, issuer, x509, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, kind, text);
    assert(extension);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
}

struct made make_certificate(const struct making *making)
{
    static long serial = 1000;
    struct made made = {.x509 = X509_new(),
                        .key = making->is_rsa ? EVP_RSA_gen(2048)
                                              : EVP_EC_gen("P-256")};
    X509 *issuer = making->issuer ? making->issuer->x509 : made.x509;
    bool has_term = making->begins_s != 0 || making->ends_s != 0;
    X509_NAME *name = X509_get_subject_name(made.x509);

    assert(made.x509 && made.key);
    X509_set_version(made.x509, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.x509), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.x509),
                    has_term ? making->begins_s : -86400);
    X509_gmtime_adj(X509_getm_notAfter(made.x509),
                    has_term ? making->ends_s : 90 * 86400L);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               (const unsigned char *)making->subject, -1, -1,
                               0);
    X509_set_issuer_name(made.x509, X509_get_subject_name(issuer));
    X509_set_pubkey(made.x509, made.key);
    if (making->is_authority)
        made_extend(made.x509, issuer, NID_basic_constraints,
                    "critical,CA:TRUE");
    made_extend(made.x509, issuer, NID_subject_key_identifier, "hash");
    if (making->names)
        made_extend(made.x509, issuer, NID_subject_alt_name, making->names);
    assert(X509_sign(made.x509, making->issuer ? making->issuer->key : made.key,
                     EVP_sha256()) > 0);
    return made;
}

void made_free(struct made *made)
{
    X509_free(made->x509);
    EVP_PKEY_free(made->key);
    *made = (struct made){0};
}

/* To be freed. */
static char *made_take_text(BIO *bio)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    char *text = calloc(1, (size_t)len + 1);

    assert(text);
    memcpy(text, data, (size_t)len);
    BIO_free(bio);
    return text;
}

char *made_chain(const struct made *const *chain)
{
    BIO *bio = BIO_new(BIO_s_mem());

    for (; *chain; chain++)
        assert(PEM_write_bio_X509(bio, (*chain)->x509) == 1);
    return made_take_text(bio);
}

char *made_text(const struct made *made)
{
    return made_chain((const struct made *const[]){made, NULL});
}

char *made_key(const struct made *made, const char *password)
{
    BIO *bio = BIO_new(BIO_s_mem());

    assert(PEM_write_bio_PrivateKey(bio, made->key,
                                    password ? EVP_aes_128_cbc() : NULL,
                                    (const unsigned char *)password,
                                    password ? (int)strlen(password) : 0, NULL,
                                    NULL) == 1);
    return made_take_text(bio);
}

char *made_text_and_key(const struct made *made, const struct made *key)
{
    BIO *bio = BIO_new(BIO_s_mem());

    assert(PEM_write_bio_X509(bio, made->x509) == 1);
    assert(PEM_write_bio_PrivateKey(bio, key->key, NULL, NULL, 0, NULL, NULL) ==
           1);
    return made_take_text(bio);
}
