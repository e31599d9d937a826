#include "io/tls/tls_certificate.h"
#include "suite.h"

#include <time.h>

#include "make_certificate.h"

static struct made root, between, leaf, other, rsa, own;

static int make_all(void **state)
{
    (void)state;
    root = make_certificate(&(struct making){.subject = "Root",
                                             .is_authority = true});
    between = make_certificate(&(struct making){
        .subject = "Between", .issuer = &root, .is_authority = true});
    leaf = make_certificate(&(struct making){
        .subject = "leaf",
        .issuer = &between,
        .names = "DNS:a.example,DNS:*.B.example,IP:192.0.2.1,IP:2001:db8::1"});
    other = make_certificate(&(struct making){.subject = "other",
                                              .names = "DNS:other.example"});
    rsa = make_certificate(&(struct making){
        .subject = "rsa", .names = "DNS:rsa", .is_rsa = true});
    own = make_certificate(&(struct making){.subject = "own",
                                            .names = "DNS:own"});
    return 0;
}

static int free_all(void **state)
{
    struct made *all[] = {&root, &between, &leaf, &other, &rsa, &own};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        made_free(all[i]);
    return 0;
}

static int create(struct tls_certificate **certificate, const char *chain,
                  const char *key, char fault[TLS_FAULT_MAX])
{
    return tls_certificate_create(certificate, bytes_of(chain), bytes_of(key),
                                  fault);
}

static struct tls_certificate *expect_read(const struct made *const *chain,
                                           const struct made *of)
{
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];
    char *text = made_chain(chain);
    char *key = made_key(of, NULL);

    if (create(&certificate, text, key, fault) != 0)
        fail_msg("%s", fault);
    free(text);
    free(key);
    return certificate;
}

static void expect_fault(const char *chain, const char *key, const char *words)
{
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];

    assert_int_equal(create(&certificate, chain, key, fault), -EINVAL);
    assert_null(certificate);
    if (!strstr(fault, words))
        fail_msg("%s", fault);
}

TEST(what_a_certificate_says_is_read)
{
    struct tls_certificate *certificate =
        expect_read((const struct made *const[]){&leaf, &between, NULL}, &leaf);
    const char *const *names = tls_certificate_names(certificate);
    int64_t left = tls_certificate_ends_at(certificate) - time(NULL);

    assert_string_equal(names[0], "a.example");
    assert_string_equal(names[1], "*.b.example");
    assert_string_equal(names[2], "192.0.2.1");
    assert_string_equal(names[3], "2001:db8::1");
    assert_null(names[4]);
    assert_string_equal(tls_certificate_kind(certificate), "ECDSA");
    assert_int_equal(strlen(tls_certificate_fingerprint(certificate)), 64);
    assert_true(left > 89 * 86400 && left <= 90 * 86400);
    assert_true(tls_certificate_begins_at(certificate) < time(NULL));
    tls_certificate_release(&certificate);
    assert_null(certificate);
}

TEST(who_has_signed_it_cannot_order_a_terminal)
{
    struct made evil = make_certificate(&(struct making){
        .subject = "Evil\033[2J", .names = "DNS:a.example"});
    struct tls_certificate *certificate =
        expect_read((const struct made *const[]){&evil, NULL}, &evil);

    assert_string_equal(tls_certificate_issuer(certificate), "Evil?[2J");
    tls_certificate_release(&certificate);
    made_free(&evil);
}

TEST(it_covers_its_names_and_no_others)
{
    static const char *const covered[] = {
        "a.example",   "A.Example.",  "a.example:443",
        "x.b.example", "192.0.2.1",   "[2001:db8::1]",
        "2001:DB8::1", "*.b.example", "[2001:db8:0::1]:8443"};
    static const char *const strange[] = {
        "b.example", "x.y.b.example", "x.a.example", "192.0.2.2",
        "",          "*.example",     "example",     "[2001:db8::2]"};
    struct tls_certificate *certificate =
        expect_read((const struct made *const[]){&leaf, &between, NULL}, &leaf);

    for (size_t i = 0; i < sizeof(covered) / sizeof(*covered); i++)
        if (!tls_certificate_covers(certificate, bytes_of(covered[i])))
            fail_msg("%s", covered[i]);
    for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
        if (tls_certificate_covers(certificate, bytes_of(strange[i])))
            fail_msg("%s", strange[i]);
    tls_certificate_release(&certificate);
}

TEST(one_file_can_have_key_and_chain)
{
    char *chain = made_chain((const struct made *const[]){&leaf, &between,
                                                          NULL});
    char *key = made_key(&leaf, NULL);
    char both[2][16384];
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];

    snprintf(both[0], sizeof(both[0]), "%s%s", key, chain);
    snprintf(both[1], sizeof(both[1]), "%s%s", chain, key);
    for (size_t i = 0; i < 2; i++) {
        if (create(&certificate, both[i], both[i], fault) != 0)
            fail_msg("%s", fault);
        assert_int_equal(tls_certificate_chain(certificate), TLS_CHAIN_WHOLE);
        tls_certificate_release(&certificate);
    }
    free(chain);
    free(key);
}

TEST(keys_of_every_kind_are_told_apart)
{
    struct tls_certificate *certificate =
        expect_read((const struct made *const[]){&rsa, NULL}, &rsa);

    assert_string_equal(tls_certificate_kind(certificate), "RSA");
    tls_certificate_release(&certificate);
}

TEST(what_a_chain_lacks_is_told)
{
    static const struct {
        const struct made *chain[4];
        enum tls_chain want;
    } cases[] = {
        {{&leaf, &between, NULL}, TLS_CHAIN_WHOLE},
        {{&leaf, &between, &root, NULL}, TLS_CHAIN_WHOLE},
        {{&leaf, NULL}, TLS_CHAIN_INCOMPLETE},
        {{&leaf, &root, &between, NULL}, TLS_CHAIN_DISORDERED},
        {{&leaf, &other, NULL}, TLS_CHAIN_DISORDERED},
    };
    struct tls_certificate *certificate;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        certificate = expect_read(cases[i].chain, &leaf);
        assert_int_equal(tls_certificate_chain(certificate), cases[i].want);
        tls_certificate_release(&certificate);
    }
    certificate = expect_read((const struct made *const[]){&own, NULL}, &own);
    assert_int_equal(tls_certificate_chain(certificate), TLS_CHAIN_ALONE);
    tls_certificate_release(&certificate);
}

TEST(faulty_files_are_refused_with_a_reason)
{
    char *chain = made_text(&leaf);
    char *key = made_key(&leaf, NULL);
    char *strange = made_key(&other, NULL);
    char *locked = made_key(&leaf, "secret");
    char *reversed = made_chain((const struct made *const[]){&between, &leaf,
                                                             NULL});
    char broken[8192];

    expect_fault(chain, strange, "another key");
    expect_fault(reversed, key, "is that of number 2");
    expect_fault(chain, locked, "password");
    expect_fault(chain, chain, "no private key");
    expect_fault(key, key, "no certificate");
    expect_fault("", key, "no certificate");
    expect_fault(chain, "", "no private key");
    expect_fault("garbage\n", key, "no certificate");
    snprintf(broken, sizeof(broken), "%s%.*s\n-----END CERTIFICATE-----\n",
             chain, 200, chain);
    expect_fault(broken, key, "cannot be read");
    memcpy(strchr(chain, '\n') + 20, "????", 4);
    expect_fault(chain, key, "cannot be read");
    free(chain);
    free(key);
    free(strange);
    free(locked);
    free(reversed);
}

TEST(chains_have_a_greatest_length)
{
    const struct made *chain[TLS_CHAIN_MAX + 2] = {&leaf};
    char *key = made_key(&leaf, NULL);
    char *text;
    struct tls_certificate *certificate;

    for (size_t i = 1; i < TLS_CHAIN_MAX; i++)
        chain[i] = &between;
    certificate = expect_read(chain, &leaf);
    tls_certificate_release(&certificate);
    chain[TLS_CHAIN_MAX] = &between;
    text = made_chain(chain);
    expect_fault(text, key, "too many");
    free(text);
    free(key);
}

TEST(the_last_who_lets_go_frees_it)
{
    struct tls_certificate *certificate =
        expect_read((const struct made *const[]){&own, NULL}, &own);
    struct tls_certificate *second = tls_certificate_acquire(certificate);

    tls_certificate_release(&certificate);
    assert_string_equal(tls_certificate_kind(second), "ECDSA");
    tls_certificate_release(&second);
    tls_certificate_release(&second);
}

SUITE(.begin = make_all, .end = free_all);
