#include "config/option_table_priv.h"

#include "kv/kv_cache.h"

static const struct option_row rows[] = {
    {"Key-value store", "kv", 0, OPTION_TEXTS, AT_START(kv), "PREFIX=PLACE",
     NULL, 0, OPTIONS_KV_MAX, NULL,
     "store of keys and values below PREFIX, in a\n"
     "folder: /kv=./data; or in Redis or Valkey, alone\n"
     "or a cluster:\n"
     "/kv=redis://HOST:PORT[,HOST:PORT...]\n"
     "[/DB][?name=NAME], or rediss:// for TLS; may be\n"
     "repeated"},
    {NULL, "kv-tls-ca", 0, OPTION_PATH, AT_START(kv_tls.ca), "FILE", NULL, 0, 0,
     NULL,
     "PEM file of the authorities by which rediss://\n"
     "servers are verified, instead of the system's"},
    {NULL, "kv-tls-certificate", 0, OPTION_PATH, AT_START(kv_tls.certificate),
     "FILE", NULL, 0, 0, NULL,
     "certificate shown to rediss:// servers that want\n"
     "one (PEM)"},
    {NULL, "kv-tls-certificate-key", 0, OPTION_PATH,
     AT_START(kv_tls.certificate_key), "FILE", NULL, 0, 0, NULL,
     "private key of --kv-tls-certificate; default: in\n"
     "the same file"},
    {NULL, "kv-sync", 0, OPTION_TEXT, AT_START(kv_sync), "WHEN", "full", 0, 0,
     NULL,
     "when writes to a folder are answered: full: once\n"
     "they are on disk; interval:MS: at once, and on\n"
     "disk within that time; off: at once, on disk when\n"
     "the kernel likes"},
    {NULL, "kv-max-value", 0, OPTION_BYTES, AT_START(kv_value_bytes_max),
     "BYTES", "1M", 1, 64ull << 20, NULL, "largest value that a store takes"},
    {NULL, "kv-max-size", 0, OPTION_BYTES, AT_START(kv_bytes_max), "BYTES",
     "64G", 1ull << 20, TIB, NULL, "largest size of a store's folder"},
    {NULL, "kv-memory", 0, OPTION_BYTES, AT_START(kv_memory_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "memory for values of 16 KiB and more that are\n"
     "being sent, of all workers; bodies being received\n"
     "get a quarter as much; 0: an eighth of the\n"
     "machine's memory"},
    {NULL, "kv-watchers", 0, OPTION_NUMBER, AT_START(kv_watchers_max), "N",
     "256", 0, 100000, NULL,
     "streams of changes that a worker sends at a time;\n"
     "one address gets a quarter of them, and more\n"
     "while no other needs them; 0: none"},
    {NULL, "kv-cache-size", 0, OPTION_BYTES, AT_START(kv_cache_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "memory for a cache of values, of each folder; 0:\n"
     "no cache, LMDB's mapped pages serve nearly as\n"
     "fast"},
    {NULL, "kv-cache-policy", 0, OPTION_CHOICE, AT_START(kv_cache_policy),
     "POLICY", "sieve", 0, 0, option_cache_policies,
     "which value leaves a full cache of values"},
    {NULL, "kv-compress", 0, OPTION_TEXTS, AT_START(kv_compress), "PREFIX",
     NULL, 0, OPTIONS_KV_MAX, NULL,
     "store, by its prefix, whose values are compressed\n"
     "while they are sent, as --compress says; may be\n"
     "repeated"},
    {NULL, "kv-lock-groups", 0, OPTION_NUMBER, AT_START(kv_lock_groups), "N",
     "16", 1, KV_CACHE_GROUPS_MAX, NULL,
     "groups of the cache of values, each with a lock\n"
     "of its own; a value larger than an eighth of a\n"
     "group is not cached"},
    {NULL, "kv-token", 0, OPTION_PATH, AT(kv_token), "FILE", NULL, 0, 0, NULL,
     "file of bearer tokens that may write to stores:\n"
     "lines of TOKEN or TOKEN PREFIX; clients on this\n"
     "machine need none"},
    {NULL, "kv-open-writes", 0, OPTION_SWITCH, AT(kv_open_writes), NULL, NULL,
     0, 0, NULL, "let every client write to stores"},
    {NULL, "kv-read-only", 0, OPTION_SWITCH, AT(kv_read_only), NULL, NULL, 0, 0,
     NULL, "let no client write to stores"},
    {NULL, "kv-require-match", 0, OPTION_SWITCH, AT_START(kv_require_match),
     NULL, NULL, 0, 0, NULL,
     "refuse writes to stores without If-Match or\n"
     "If-None-Match (428)"},
};

const struct option_group kv_options = OPTION_GROUP(rows);
