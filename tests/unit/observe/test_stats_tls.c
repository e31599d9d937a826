#include "observe/stats_tls.h"

#include "suite.h"

TEST(each_has_a_name_of_its_own)
{
    static const char *(*const names[])(unsigned) = {stats_tls_handshake_name,
                                                     stats_tls_failure_name,
                                                     stats_tls_version_name,
                                                     stats_tls_group_name};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (unsigned k = 0; names[i](k); k++)
            for (unsigned later = k + 1; names[i](later); later++)
                assert_string_not_equal(names[i](k), names[i](later));
    assert_non_null(stats_tls_failure_name(STATS_TLS_FAILURE_COUNT - 1));
    assert_null(stats_tls_failure_name(STATS_TLS_FAILURE_COUNT));
}

TEST(handshakes_are_counted_by_what_was_agreed_upon)
{
    struct stats_tls tls = {0};
    struct stats_tls_sums sums = {0};

    assert_false(stats_tls_is_used(&sums));
    stats_tls_note(&tls, false, BYTES("TLSv1.3"), BYTES("x25519"));
    stats_tls_note(&tls, true, BYTES("TLSv1.2"), BYTES("secp256r1"));
    stats_tls_note(&tls, true, BYTES("SSLv3"), BYTES(""));
    stats_tls_add(&sums, &tls);
    stats_tls_add(&sums, &tls); /* another worker's */
    assert_true(stats_tls_is_used(&sums));
    assert_int_equal(sums.handshakes[STATS_TLS_FULL], 2);
    assert_int_equal(sums.handshakes[STATS_TLS_RESUMED], 4);
    for (unsigned i = 0; i < STATS_TLS_VERSION_COUNT; i++)
        assert_int_equal(sums.versions[i], 2);
    assert_int_equal(sums.groups[0], 2);
    assert_int_equal(sums.groups[1], 2);
    assert_int_equal(sums.groups[2], 0);
    assert_int_equal(sums.groups[STATS_TLS_GROUP_COUNT - 1], 2);
}

TEST(failures_alone_are_use)
{
    struct stats_tls tls = {0};
    struct stats_tls_sums sums = {0};

    stats_tls_note_failure(&tls, STATS_TLS_TIMEOUT);
    stats_tls_add(&sums, &tls);
    assert_true(stats_tls_is_used(&sums));
    assert_int_equal(sums.failed[STATS_TLS_TIMEOUT], 1);
}
