/* link: -lcurl */
#include "acme/acme_renewal.h"

#include "suite.h"

TEST(dates_are_read_with_their_zones)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } good[] = {{"1994-11-06T08:49:37Z", 784111777},
                {"1994-11-06t08:49:37z", 784111777},
                {"1994-11-06T08:49:37.123456Z", 784111777},
                {"1994-11-06T09:49:37+01:00", 784111777},
                {"1994-11-06T03:19:37-05:30", 784111777}};
    static const char *const bad[] = {"",
                                      "1994-11-06",
                                      "1994-11-06T08:49:37",
                                      "1994-13-06T08:49:37Z",
                                      "1994-11-06T24:49:37Z",
                                      "1994-11-06T08:49:37Zx",
                                      "1994-11-06T08:49:37+1",
                                      "1994-11-06T08:49:37+25:00",
                                      "0000-00-00T00:00:00Z",
                                      "soon"};
    int64_t seconds;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (!acme_renewal_read_date(good[i].text, &seconds))
            fail_msg("'%s' is not taken", good[i].text);
        assert_int_equal(seconds, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (acme_renewal_read_date(bad[i], &seconds))
            fail_msg("'%s' is taken", bad[i]);
}

/* The example of RFC 9773 4.1. */
static const char example[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt\n"
    "cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS\n"
    "BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu\n"
    "7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf\n"
    "qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B\n"
    "yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb\n"
    "+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK\n"
    "-----END CERTIFICATE-----\n";

TEST(certificates_are_named_as_the_rfc_has_it)
{
    char id[ACME_IDENTIFIER_MAX + 1];

    assert_true(acme_renewal_identify(BYTES(example), id));
    assert_string_equal(id, "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE");
    assert_false(acme_renewal_identify(BYTES("no certificate"), id));
}

SUITE(.begin = NULL);
