#include "observe/stats_tls.h"

static const char *const handshakes[STATS_TLS_HANDSHAKE_COUNT] = {
    [STATS_TLS_FULL] = "full", [STATS_TLS_RESUMED] = "resumed"};
static const char *const failures[STATS_TLS_FAILURE_COUNT] = {
    [STATS_TLS_VERSION] = "version", [STATS_TLS_CIPHER] = "cipher",
    [STATS_TLS_NAME] = "name",       [STATS_TLS_CERTIFICATE] = "certificate",
    [STATS_TLS_ALERT] = "alert",     [STATS_TLS_PLAIN_HTTP] = "plain_http",
    [STATS_TLS_GONE] = "gone",       [STATS_TLS_TIMEOUT] = "timeout",
    [STATS_TLS_OTHER] = "other",
};
/* The last name stands for all other versions or groups. */
static const char *const versions[STATS_TLS_VERSION_COUNT] = {
    "TLSv1.3", "TLSv1.2", "other"};
static const char *const groups[STATS_TLS_GROUP_COUNT] = {"x25519", "secp256r1",
                                                          "secp384r1", "other"};

static unsigned find(const char *const *names, unsigned count,
                     struct bytes name)
{
    unsigned at = 0;

    while (at < count - 1 && !bytes_eq(bytes_of(names[at]), name))
        at++;
    return at;
}

void stats_tls_note(struct stats_tls *tls, bool is_resumed,
                    struct bytes version, struct bytes group)
{
    counter_add(
        &tls->handshakes[is_resumed ? STATS_TLS_RESUMED : STATS_TLS_FULL], 1);
    counter_add(
        &tls->versions[find(versions, STATS_TLS_VERSION_COUNT, version)], 1);
    counter_add(&tls->groups[find(groups, STATS_TLS_GROUP_COUNT, group)], 1);
}

static void add(uint64_t *sums, const struct counter *counters, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sums[i] += counter_read(&counters[i]);
}

void stats_tls_add(struct stats_tls_sums *sums, const struct stats_tls *tls)
{
    add(sums->handshakes, tls->handshakes, STATS_TLS_HANDSHAKE_COUNT);
    add(sums->failed, tls->failed, STATS_TLS_FAILURE_COUNT);
    add(sums->versions, tls->versions, STATS_TLS_VERSION_COUNT);
    add(sums->groups, tls->groups, STATS_TLS_GROUP_COUNT);
}

bool stats_tls_is_used(const struct stats_tls_sums *sums)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < STATS_TLS_HANDSHAKE_COUNT; i++)
        count += sums->handshakes[i];
    for (unsigned i = 0; i < STATS_TLS_FAILURE_COUNT; i++)
        count += sums->failed[i];
    return count > 0;
}

const char *stats_tls_handshake_name(unsigned number)
{
    return number < STATS_TLS_HANDSHAKE_COUNT ? handshakes[number] : NULL;
}

const char *stats_tls_failure_name(unsigned number)
{
    return number < STATS_TLS_FAILURE_COUNT ? failures[number] : NULL;
}

const char *stats_tls_version_name(unsigned number)
{
    return number < STATS_TLS_VERSION_COUNT ? versions[number] : NULL;
}

const char *stats_tls_group_name(unsigned number)
{
    return number < STATS_TLS_GROUP_COUNT ? groups[number] : NULL;
}
