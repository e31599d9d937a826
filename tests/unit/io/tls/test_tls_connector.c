#include "io/tls/tls_connector.h"

#include <sys/stat.h>

#include "io/tls/tls_trust_priv.h"
#include "suite.h"
#include "unit/io/tls/connector_fixture.h"

/* --- Whom it believes ---------------------------------------------------- */

TEST(a_server_with_the_name_and_a_known_authority_is_believed)
{
    struct made made = make_server("DNS:app.example,DNS:*.wild.example");
    SSL_CTX *ctx = make_context(&made);

    expect_success(ctx, "app.example");
    expect_success(ctx, "APP.example");
    expect_success(ctx, "app.example.");
    expect_success(ctx, "x.wild.example");
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(another_name_is_not_believed)
{
    struct made made =
        make_server("DNS:app.example,DNS:*.wild.example,DNS:w*.part.example");
    SSL_CTX *ctx = make_context(&made);
    static const char *const others[] = {"app.example.org", "b.example",
                                         "wild.example", "a.b.wild.example",
                                         "www.part.example"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        expect_failure(ctx, others[i], TLS_FAILURE_CERTIFICATE,
                       "its certificate is for another name");
    expect_failure(ctx, "127.0.0.1", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(an_address_is_checked_as_one)
{
    struct made made = make_server("IP:127.0.0.1,IP:::1");
    struct made named = make_server("DNS:127.0.0.1");
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *named_ctx = make_context(&named);

    expect_success(ctx, "127.0.0.1");
    expect_success(ctx, "::1");
    expect_failure(ctx, "127.0.0.2", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    expect_failure(named_ctx, "127.0.0.1", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    SSL_CTX_free(ctx);
    SSL_CTX_free(named_ctx);
    made_free(&made);
    made_free(&named);
}

TEST(what_has_expired_or_not_begun_is_not_believed)
{
    struct made old =
        make_certificate(&(struct making){.subject = "app",
                                          .names = "DNS:app.example",
                                          .issuer = &authority,
                                          .begins_s = -7200,
                                          .ends_s = -3600});
    struct made young =
        make_certificate(&(struct making){.subject = "app",
                                          .names = "DNS:app.example",
                                          .issuer = &authority,
                                          .begins_s = 3600,
                                          .ends_s = 7200});
    SSL_CTX *old_ctx = make_context(&old);
    SSL_CTX *young_ctx = make_context(&young);

    expect_failure(old_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "certificate has expired");
    expect_failure(young_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "certificate is not yet valid");
    SSL_CTX_free(old_ctx);
    SSL_CTX_free(young_ctx);
    made_free(&old);
    made_free(&young);
}

TEST(an_unknown_authority_is_not_believed)
{
    struct made made = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    struct made self = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example"});
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *self_ctx = make_context(&self);

    expect_failure(ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "its certificate is of an unknown authority");
    expect_failure(self_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "self-signed certificate");
    SSL_CTX_free(ctx);
    SSL_CTX_free(self_ctx);
    made_free(&made);
    made_free(&self);
}

static void ask_app(SSL_CTX *ctx)
{
    expect_success(ctx, "app.example");
}

static void ask_other(SSL_CTX *ctx)
{
    expect_failure(ctx, "other.example", TLS_FAILURE_CERTIFICATE,
                   "its certificate is for another name");
}

TEST(one_that_signed_itself_or_is_named_alone_can_be_believed)
{
    struct made self = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example"});
    struct made leaf = make_server("DNS:app.example");
    const struct made *const believed[] = {&self, &leaf};

    for (size_t i = 0; i < 2; i++) {
        SSL_CTX *ctx = make_context(believed[i]);
        struct tls_trust *other = make_trust(believed[i]);

        connector_with(other, ask_app, ctx);
        connector_with(other, ask_other, ctx);
        tls_trust_release(&other);
        SSL_CTX_free(ctx);
    }
    made_free(&self);
    made_free(&leaf);
}

static void ask_any(SSL_CTX *ctx)
{
    expect_success(ctx, "other.example");
    expect_success(ctx, "127.0.0.1");
}

TEST(whoever_answers_is_believed_where_nobody_is_verified)
{
    struct made made = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    SSL_CTX *ctx = make_context(&made);
    struct tls_trust *none = NULL;

    assert_int_equal(tls_trust_create(&none, &(struct tls_trust_options){0},
                                      fault),
                     0);
    connector_with(none, ask_any, ctx);
    tls_trust_release(&none);
    SSL_CTX_free(ctx);
    made_free(&made);
}

/* --- Where authorities come from ----------------------------------------- */

TEST(a_file_without_a_readable_certificate_is_no_trust)
{
    static const char *const texts[] = {
        "nothing\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"};
    struct tls_trust *made = NULL;

    for (size_t i = 0; i < 2; i++) {
        struct tls_trust_options options = {.verifies = true,
                                            .authorities = bytes_of(texts[i])};

        assert_int_equal(tls_trust_create(&made, &options, fault), -EINVAL);
        assert_null(made);
        assert_non_null(strstr(fault, "has "));
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Both places that OpenSSL knows; what is in both counts once. */
TEST(the_authorities_of_the_system_are_all_read_at_once)
{
    struct tls_trust_options options = {.verifies = true};
    char folder[] = "/tmp/trust.XXXXXX";
    char file[64], hashed[64], other[64];
    char *text = made_text(&authority);
    char *strange = made_text(&stranger);
    struct tls_trust *made = NULL;

    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/bundle.pem", folder);
    snprintf(hashed, sizeof(hashed), "%s/0123abcd.0", folder);
    snprintf(other, sizeof(other), "%s/0123abcd.1", folder);
    setenv("SSL_CERT_FILE", file, 1);
    setenv("SSL_CERT_DIR", folder, 1);
    assert_int_equal(tls_trust_create(&made, &options, fault), -ENOENT);
    assert_non_null(strstr(fault, folder));
    write_text(file, text);
    write_text(hashed, text);
    write_text(other, strange);
    assert_int_equal(tls_trust_create(&made, &options, fault), 0);
    assert_int_equal(sk_X509_num(tls_trust_authorities(made)), 2);
    unlink(file);
    unlink(hashed);
    unlink(other);
    rmdir(folder);
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    tls_trust_release(&made);
    free(text);
    free(strange);
}

CONNECTOR_SUITE;
