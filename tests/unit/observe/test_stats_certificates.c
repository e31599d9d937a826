#include "observe/stats_certificates.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/units.h"
#include "json_check.h"
#include "observe/metrics.h"
#include "observe/status_json.h"
#include "suite.h"
#include "unit/observe/sample_stats.h"

static struct stats_shared *shared;
static struct stats_snapshot *snapshot;
static struct history *history;
static struct stats_certificates certificates;
static struct buf out;

static int set_up(void **state)
{
    struct stats_options options = sample_options(1);

    (void)state;
    shared = stats_shared_create(&options, &sample_began);
    snapshot = stats_snapshot_create(shared);
    history = history_create();
    buf_init(&out, NULL, 0, METRICS_BYTES_MAX);
    if (!snapshot || !history || !stats_certificates_open(&certificates, 2))
        return -1;
    stats_certificates_name(&certificates, 0, "a");
    stats_certificates_name(&certificates, 1, "b\"");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    stats_certificates_close(&certificates);
    history_destroy(history);
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    return 0;
}

static const struct stats_certificate_facts failing = {
    .next_at = 1763750061,
    .failures = 3,
    .names = "a.example,b.example",
    .error = "\"no\"\\ such host"};

static void set_both(void)
{
    const struct stats_certificate_facts sound = {
        .ends_at = 1763750101, .names = "c.example", .issuer = "Authority X1"};

    stats_certificates_set(&certificates, 0, &failing);
    stats_certificates_set(&certificates, 1, &sound);
    stats_read(shared, &sample_now, snapshot);
    snapshot->certificates = &certificates;
}

static const char *render(enum metrics_format format)
{
    out.len = 0;
    metrics_put(&out, snapshot, format);
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    return out.data;
}

TEST(metrics_have_the_texts_as_labels)
{
    set_both();
    for (int i = 0; i < 2; i++) {
        const char *text = render(i == 0 ? METRICS_PROMETHEUS
                                         : METRICS_OPENMETRICS);

        assert_non_null(strstr(text, "\nsprintd_certificate_names_info{site="
                                     "\"a\",names=\"a.example,b.example\"} "
                                     "1\n"));
        assert_non_null(strstr(text, "\nsprintd_certificate_error_info{site="
                                     "\"a\",error=\"\\\"no\\\"\\\\ such "
                                     "host\"} 1\n"));
        assert_non_null(strstr(text, "\nsprintd_certificate_issuer_info{site="
                                     "\"b\\\"\",issuer=\"Authority X1\"} "
                                     "1\n"));
        assert_non_null(strstr(text, "\nsprintd_certificate_failures{site="
                                     "\"a\"} 3\n"));
        assert_non_null(strstr(text, "\nsprintd_certificate_failures{site="
                                     "\"b\\\"\"} 0\n"));
        assert_non_null(strstr(text,
                               "\nsprintd_certificate_next_try_time_seconds{"
                               "site=\"a\"} 1763750061"));
    }
    assert_non_null(strstr(out.data,
                           "# TYPE sprintd_certificate_error info\n"));
}

/* Of the second nothing is asked, and nothing has failed. */
TEST(what_is_not_known_is_left_out)
{
    const char *text;

    set_both();
    text = render(METRICS_PROMETHEUS);
    assert_null(strstr(text, "issuer_info{site=\"a\""));
    assert_null(strstr(text, "next_try_time_seconds{site=\"b"));
    assert_null(strstr(text, "error_info{site=\"b"));
    snapshot->certificates = NULL;
    assert_null(strstr(render(METRICS_OPENMETRICS), "sprintd_certificate"));
}

TEST(the_json_has_the_same)
{
    set_both();
    out.len = 0;
    status_json_put(&out, snapshot, history);
    assert_false(out.failed);
    assert_true(json_is_valid_bytes(buf_bytes(&out)));
    buf_put(&out, (struct bytes){"", 1});
    assert_non_null(strstr(out.data,
                           "\"certificates\":[{\"site\":\"a\",\"expiry_s\":"
                           "0,\"names\":\"a.example,b.example\","
                           "\"next_try\":1763750061,\"failures\":3,"
                           "\"error\":\"\\\"no\\\"\\\\ such host\"},"
                           "{\"site\":\"b\\\"\",\"expiry_s\":"));
    assert_non_null(strstr(out.data, "\"names\":\"c.example\",\"issuer\":"
                                     "\"Authority X1\",\"failures\":0}]"));
}

static atomic_bool is_over;

static void *change(void *unused)
{
    struct stats_certificate_facts facts = failing;

    (void)unused;
    for (char sign = 'a'; !atomic_load(&is_over);
         sign = sign == 'z' ? 'a' : (char)(sign + 1)) {
        memset(facts.error, sign, sizeof(facts.error) - 1);
        stats_certificates_set(&certificates, 0, &facts);
    }
    return NULL;
}

TEST(nobody_reads_half_of_a_text)
{
    struct stats_certificate certificate;
    pthread_t thread;

    set_both();
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
    for (int i = 0; i < 20000; i++) {
        stats_certificates_get(&certificates, 0, 0, &certificate);
        if (certificate.error[0] == '"')
            continue; /* it has not begun */
        assert_int_equal(strspn(certificate.error,
                                (char[2]){certificate.error[0]}),
                         STATS_CERTIFICATE_TEXT_MAX);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
