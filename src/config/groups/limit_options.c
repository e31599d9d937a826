#include "config/option_table_priv.h"

static const struct option_row rows[] = {
    {"Cache (per worker)", "cache-size", 0, OPTION_BYTES, AT(cache_bytes),
     "BYTES", "64M", 0, TIB, NULL,
     "memory for the contents of small files, per\n"
     "worker; 0: no cache"},
    {NULL, "cache-entries", 0, OPTION_NUMBER, AT(cache_entries), "N", "65536",
     0, 1ull << 24, NULL,
     "files that the cache of a worker knows; 0: no\n"
     "cache"},
    {NULL, "cache-policy", 0, OPTION_CHOICE, AT(cache_policy), "POLICY",
     "sieve", 0, 0, option_cache_policies, "which file leaves a full cache"},

    {"Limits", "max-connections", 0, OPTION_NUMBER, AT_START(connections_max),
     "N", "0", 0, 1ull << 24, NULL,
     "connections of all clients together; 0: as many\n"
     "as descriptors allow"},
    {NULL, "max-connections-per-address", 0, OPTION_NUMBER,
     AT_START(address_connections_max), "N", "0", 0, 1ull << 24, NULL,
     "connections of one address (IPv6: /64); 0: a\n"
     "quarter of all, and any number while no other\n"
     "address has one"},
    {NULL, "max-requests-per-connection", 0, OPTION_NUMBER, AT(requests_max),
     "N", "0", 0, UINT32_MAX, NULL,
     "requests over one connection before it is closed;\n"
     "0: no limit"},
    {NULL, "keepalive-timeout", 0, OPTION_TIME, AT(keepalive_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL,
     "how long an idle connection waits for its next\n"
     "request"},
    {NULL, "header-timeout", 0, OPTION_TIME, AT(header_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL, "time in which a whole request head must arrive"},
    {NULL, "body-timeout", 0, OPTION_TIME, AT(body_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL,
     "time in which a whole request body must arrive,\n"
     "and a second more for each --send-rate-min bytes"},
    {NULL, "send-timeout", 0, OPTION_TIME, AT(send_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL,
     "longest time in which a client takes no byte of\n"
     "its answer"},
    {NULL, "send-rate-min", 0, OPTION_BYTES, AT(send_rate_min), "BYTES", "256",
     0, TIB, NULL,
     "bytes per second that a slow client must take on\n"
     "average once --send-timeout has passed; 0: no\n"
     "limit"},
    {NULL, "drain-timeout", 0, OPTION_TIME, AT(drain_ms), "TIME", "30s", 0,
     HOURS_24_MS, NULL,
     "how long answers under way may go on when the\n"
     "server stops"},
};

const struct option_group limit_options = OPTION_GROUP(rows);
