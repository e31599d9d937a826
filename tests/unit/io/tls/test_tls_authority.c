/* What is signed is checked as clients do it, by X509_verify_cert(). */
#include "io/tls/tls_authority.h"
#include "suite.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

enum { DAY_S = 24 * 3600 };

static const int64_t now_s = 1800000000;

static struct tls_authority *authority;
static struct tls_names names;
static struct tls_pem leaf;

static int set_up(void **state)
{
    (void)state;
    authority = tls_authority_create("sprintd local authority", now_s);
    names.count = 0;
    tls_names_add(&names, BYTES("localhost"));
    tls_names_add(&names, BYTES("Box.Example.ORG."));
    tls_names_add(&names, BYTES("127.0.0.1"));
    tls_names_add(&names, BYTES("::1"));
    return authority && tls_authority_sign(authority, &names, now_s, &leaf) == 0
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tls_pem_fini(&leaf);
    tls_authority_destroy(authority);
    return 0;
}

static struct bytes text_of(const struct tls_pem *pem)
{
    return (struct bytes){pem->text, pem->len};
}

static X509 *parse(const struct tls_pem *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->text, (int)pem->len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    assert_non_null(certificate);
    BIO_free(bio);
    return certificate;
}

/* What a client says of it that trusts the authority, and asks for name. */
static int verify(const struct tls_authority *trusted,
                  const struct tls_pem *shown, const char *name, int64_t when_s)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    struct tls_pem saved;
    X509 *root, *certificate = parse(shown);
    int result;

    assert_int_equal(tls_authority_save(trusted, &saved), 0);
    root = parse(&saved);
    assert_int_equal(X509_STORE_add_cert(store, root), 1);
    assert_int_equal(X509_STORE_CTX_init(context, store, certificate, NULL), 1);
    param = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(param, (time_t)when_s);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
    X509_VERIFY_PARAM_set_auth_level(param, 2);
    assert_int_equal(X509_VERIFY_PARAM_set_purpose(param,
                                                   X509_PURPOSE_SSL_SERVER),
                     1);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, name) != 1)
        assert_int_equal(X509_VERIFY_PARAM_set1_host(param, name, 0), 1);
    result = X509_verify_cert(context) == 1 ? X509_V_OK
                                            : X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    X509_free(certificate);
    X509_free(root);
    tls_pem_fini(&saved);
    return result;
}

/* --- Signing ------------------------------------------------------------- */

TEST(a_leaf_is_good_for_each_of_its_names)
{
    assert_int_equal(names.count, 4);
    assert_string_equal(names.items[1], "box.example.org");
    for (size_t i = 0; i < names.count; i++)
        assert_int_equal(verify(authority, &leaf, names.items[i], now_s),
                         X509_V_OK);
}

TEST(a_leaf_is_good_for_no_other_name)
{
    assert_int_equal(verify(authority, &leaf, "example.org", now_s),
                     X509_V_ERR_HOSTNAME_MISMATCH);
    assert_int_equal(verify(authority, &leaf, "127.0.0.2", now_s),
                     X509_V_ERR_IP_ADDRESS_MISMATCH);
}

TEST(nobody_is_convinced_who_trusts_another_authority)
{
    struct tls_authority *other =
        tls_authority_create("sprintd local authority", now_s);

    assert_non_null(other);
    assert_int_not_equal(verify(other, &leaf, "localhost", now_s), X509_V_OK);
    assert_false(tls_authority_approves(other, text_of(&leaf), &names, now_s));
    tls_authority_destroy(other);
}

TEST(a_leaf_lasts_ninety_days_and_an_authority_ten_years)
{
    struct tls_authority_facts facts;
    struct tls_pem pem;
    const char *why;

    assert_int_equal(verify(authority, &leaf, "localhost",
                            now_s + 90 * DAY_S - 1),
                     X509_V_OK);
    assert_int_equal(verify(authority, &leaf, "localhost",
                            now_s + 90 * DAY_S + 1),
                     X509_V_ERR_CERT_HAS_EXPIRED);
    assert_int_equal(tls_authority_save(authority, &pem), 0);
    assert_int_equal(tls_authority_read(text_of(&pem), &facts, NULL, &why), 0);
    assert_string_equal(facts.name, "sprintd local authority");
    assert_int_equal(strlen(facts.sha256), 32 * 3 - 1);
    assert_true(facts.until_s == now_s + 3650LL * DAY_S);
    tls_pem_fini(&pem);
}

TEST(a_leaf_does_not_outlast_its_authority)
{
    int64_t late_s = now_s + 3640LL * DAY_S;
    const char *why;
    struct tls_pem late;

    assert_int_equal(tls_authority_sign(authority, &names, late_s, &late), 0);
    assert_int_equal(verify(authority, &late, "localhost", late_s), X509_V_OK);
    /* It cannot be had any longer: to renew it would change nothing. */
    assert_true(tls_authority_approves(authority, text_of(&late), &names,
                                       late_s));
    assert_true(tls_authority_is_valid(authority, late_s, &why));
    assert_false(tls_authority_is_valid(authority, late_s + 10 * DAY_S, &why));
    assert_string_equal(why, "it has ended");
    assert_false(tls_authority_is_valid(authority, now_s - DAY_S, &why));
    tls_pem_fini(&late);
}

TEST(a_leaf_signs_no_others)
{
    X509 *certificate = parse(&leaf);

    assert_int_equal(X509_check_ca(certificate), 0);
    assert_int_equal(X509_get_key_usage(certificate), KU_DIGITAL_SIGNATURE);
    assert_int_equal(X509_get_extended_key_usage(certificate), XKU_SSL_SERVER);
    X509_free(certificate);
}

TEST(no_two_leaves_have_one_number)
{
    struct tls_pem other;
    X509 *a, *b;

    assert_int_equal(tls_authority_sign(authority, &names, now_s, &other), 0);
    a = parse(&leaf);
    b = parse(&other);
    assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(a),
                                          X509_get0_serialNumber(b)),
                         0);
    assert_int_equal(X509_get0_serialNumber(a)->length, 16);
    X509_free(a);
    X509_free(b);
    tls_pem_fini(&other);
}

/* --- Approving ----------------------------------------------------------- */

static bool approves_at(int64_t when_s)
{
    return tls_authority_approves(authority, text_of(&leaf), &names, when_s);
}

TEST(a_leaf_is_renewed_thirty_days_before_its_end)
{
    assert_true(approves_at(now_s));
    assert_true(approves_at(now_s + 60 * DAY_S - 1));
    assert_false(approves_at(now_s + 60 * DAY_S));
    assert_false(approves_at(now_s - DAY_S)); /* not yet in force */
}

TEST(a_leaf_is_renewed_for_a_new_name_but_not_without_an_old_one)
{
    names.count--;
    assert_true(approves_at(now_s));
    tls_names_add(&names, BYTES("192.0.2.7"));
    assert_false(approves_at(now_s));
    names.count--;
    tls_names_add(&names, BYTES("other.example.org"));
    assert_false(approves_at(now_s));
}

TEST(a_leaf_without_its_own_key_is_not_approved)
{
    struct tls_pem other;
    char mixed[8192];
    const char *key;

    assert_int_equal(tls_authority_sign(authority, &names, now_s, &other), 0);
    key = strstr(other.text, "-----BEGIN PRIVATE KEY");
    assert_non_null(key);
    *strstr(leaf.text, "-----BEGIN PRIVATE KEY") = '\0';
    assert_false(tls_authority_approves(authority, bytes_of(leaf.text), &names,
                                        now_s));
    snprintf(mixed, sizeof(mixed), "%s%s", leaf.text, key);
    assert_false(tls_authority_approves(authority, bytes_of(mixed), &names,
                                        now_s));
    tls_pem_fini(&other);
}

/* --- Loading ------------------------------------------------------------- */

TEST(what_was_saved_is_loaded_and_signs_on)
{
    struct tls_authority *loaded;
    struct tls_pem pem;
    const char *why;

    assert_int_equal(tls_authority_save(authority, &pem), 0);
    loaded = tls_authority_load(text_of(&pem), &why);
    assert_non_null(loaded);
    assert_null(why);
    assert_true(tls_authority_approves(loaded, text_of(&leaf), &names, now_s));
    tls_pem_fini(&leaf);
    assert_int_equal(tls_authority_sign(loaded, &names, now_s, &leaf), 0);
    assert_int_equal(verify(authority, &leaf, "::1", now_s), X509_V_OK);
    tls_authority_destroy(loaded);
    tls_pem_fini(&pem);
}

static const char *fault_of(struct bytes text)
{
    const char *why = NULL;

    assert_null(tls_authority_load(text, &why));
    assert_non_null(why);
    assert_int_equal(ERR_peek_error(), 0);
    return why;
}

TEST(damaged_files_are_told)
{
    struct tls_authority *other = tls_authority_create("other", now_s);
    struct tls_pem pem, others;
    char mixed[8192];
    char *key;

    assert_non_null(other);
    assert_int_equal(tls_authority_save(authority, &pem), 0);
    assert_int_equal(tls_authority_save(other, &others), 0);
    assert_string_equal(fault_of(BYTES("")),
                        "there is no whole certificate in it");
    assert_string_equal(fault_of(text_of(&leaf)),
                        "its certificate is no authority for servers");
    /* Cut off anywhere, but for the last newline. */
    for (size_t len = 0; len + 1 < pem.len; len += 7)
        fault_of((struct bytes){pem.text, len});
    key = strstr(others.text, "-----BEGIN PRIVATE KEY");
    *strstr(pem.text, "-----BEGIN PRIVATE KEY") = '\0';
    assert_string_equal(fault_of(bytes_of(pem.text)),
                        "there is no whole key in it");
    snprintf(mixed, sizeof(mixed), "%s%s", pem.text, key);
    assert_string_equal(fault_of(bytes_of(mixed)),
                        "its key is not that of its certificate");
    tls_pem_fini(&pem);
    tls_pem_fini(&others);
    tls_authority_destroy(other);
}

TEST(of_what_is_read_only_the_certificate_comes_out)
{
    struct tls_pem pem, certificate;
    char mixed[8192];
    const char *why;

    assert_int_equal(tls_authority_save(authority, &pem), 0);
    snprintf(mixed, sizeof(mixed), "a line\n%s%s", pem.text, leaf.text);
    assert_int_equal(tls_authority_read(bytes_of(mixed), NULL, &certificate,
                                        &why),
                     0);
    assert_int_equal(strncmp(certificate.text, pem.text, certificate.len), 0);
    assert_null(strstr(certificate.text, "KEY"));
    assert_int_equal(tls_authority_read(text_of(&leaf), NULL, NULL, &why),
                     -EINVAL);
    tls_pem_fini(&certificate);
    tls_pem_fini(&pem);
}

TEST_WITH(names_are_there_once_and_only_valid_ones, NULL, NULL)
{
    struct tls_names few = {0};
    char name[16];

    tls_names_add(&few, BYTES("A.example"));
    tls_names_add(&few, BYTES("a.EXAMPLE."));
    tls_names_add(&few, BYTES("0:0::1"));
    tls_names_add(&few, BYTES("::1"));
    tls_names_add(&few, BYTES("not a name"));
    tls_names_add(&few, BYTES(""));
    assert_int_equal(few.count, 2);
    assert_string_equal(few.items[1], "::1");
    for (int i = 0; i < 2 * TLS_NAMES_MAX; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        tls_names_add(&few, bytes_of(name));
    }
    assert_int_equal(few.count, TLS_NAMES_MAX);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
