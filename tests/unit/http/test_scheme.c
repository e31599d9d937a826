#include "http/scheme.h"

#include "http/http1/http1.h"
#include "suite.h"

static struct field few[REQUEST_FIELDS_FEW];
static struct request request = {.fields = few};
static const struct address neighbour = {.family = ADDRESS_IPV4};
static struct cidr block = {.family = ADDRESS_IPV4, .bits = 32};
static const struct forwarded_trust believing = {.blocks = &block,
                                                 .block_count = 1};
static const struct forwarded_trust doubting;

static bool is_https_over(bool is_secure, const char *fields,
                          const struct forwarded_trust *trust)
{
    static char text[HTTP1_HEAD_BYTES_MAX];
    struct http1_progress progress = {0};
    unsigned status;
    size_t used;
    int len = snprintf(text, sizeof(text),
                       "GET / HTTP/1.1\r\nHost: h\r\n%s\r\n", fields);
    struct bytes scheme;

    assert_int_equal(http1_parse(&progress, text, (size_t)len, &request, &used,
                                 &status),
                     HTTP1_DONE);
    scheme = scheme_of(&request, is_secure, &neighbour, trust);
    assert_true(bytes_eq(scheme, BYTES("http")) ||
                bytes_eq(scheme, BYTES("https")));
    return scheme.len == 5;
}

static bool is_https(const char *fields, const struct forwarded_trust *trust)
{
    return is_https_over(false, fields, trust);
}

TEST(over_tls_it_is_https_unless_one_who_is_trusted_knows_more)
{
    assert_true(is_https_over(true, "", &believing));
    assert_true(is_https_over(true, "", &doubting));
    assert_true(is_https_over(true, "X-Forwarded-Proto: http\r\n", &doubting));
    assert_false(is_https_over(true, "X-Forwarded-Proto: http\r\n",
                               &believing));
}

TEST(one_who_is_trusted_is_believed)
{
    assert_false(is_https("", &believing));
    assert_true(is_https("X-Forwarded-Proto: https\r\n", &believing));
    assert_true(is_https("X-Forwarded-Proto: HTTPS\r\n", &believing));
    assert_false(is_https("X-Forwarded-Proto: https\r\n", &doubting));
}

TEST(what_is_not_clear_is_http)
{
    assert_false(is_https("X-Forwarded-Proto: http\r\n", &believing));
    assert_false(is_https("X-Forwarded-Proto: https, http\r\n", &believing));
    assert_false(is_https("X-Forwarded-Proto: https\r\n"
                          "X-Forwarded-Proto: https\r\n",
                          &believing));
    assert_false(is_https("X-Forwarded-Proto: httpsx\r\n", &believing));
}
