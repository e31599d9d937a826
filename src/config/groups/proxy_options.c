#include "config/option_table_priv.h"

#include "base/evict.h"
#include "cache/cache_part.h"
#include "handler/proxy/proxy.h"
#include "upstream/balance.h"

static const struct option_choice proxy_cache_policies[] = {
    {"lru", EVICT_LRU},
    {"gdsf", EVICT_GDSF},
    {"sieve", EVICT_SIEVE},
    {"saved", EVICT_SAVED},
    {0}};
static const struct option_choice proxy_hosts[] = {
    {"keep", PROXY_HOST_KEEP}, {"upstream", PROXY_HOST_UPSTREAM}, {0}};
static const struct option_choice proxy_traces[] = {
    {"pass", PROXY_TRACE_PASS}, {"make", PROXY_TRACE_MAKE}, {0}};
static const struct option_choice proxy_slashes[] = {
    {"safe", PROXY_SLASH_SAFE}, {"pass", PROXY_SLASH_PASS}, {0}};

static const struct option_row rows[] = {
    {"Reverse proxy", "proxy", 0, OPTION_TEXTS, IN_LOCATION(proxy),
     "PREFIX=SERVERS", NULL, 0, OPTIONS_PROXY_MAX, NULL,
     "pass requests below PREFIX on to other servers:\n"
     "/=http://127.0.0.1:9000, several with commas,\n"
     "https://app, unix:/run/app, https://unix:/run/app;\n"
     "/app=http://app:80/ strips /app;\n"
     "each with ;weight=N ;backup ;max-conns=N; may be\n"
     "repeated. Without PREFIX=: all requests of the\n"
     "location that says so"},
    {NULL, "proxy-balance", 0, OPTION_TEXT, AT(proxy_balance), "HOW",
     "round-robin", 0, 0, NULL,
     "how a server is chosen for a request:\n"
     "round-robin, least-conn, random, hash-address,\n"
     "hash-uri or hash:FIELD"},
    {NULL, "proxy-host", 0, OPTION_CHOICE, AT(proxy_host), "WHOSE", "keep", 0,
     0, proxy_hosts,
     "Host field that servers see: keep: the client's;\n"
     "upstream: the server's own"},
    {NULL, "proxy-encoded-slash", 0, OPTION_CHOICE, AT(proxy_encoded_slash),
     "HOW", "safe", 0, 0, proxy_slashes,
     "paths with %2F; safe: passed where no rule could\n"
     "read them in two ways, else refused; pass: always\n"
     "passed"},
    {NULL, "proxy-name", 0, OPTION_TEXT, AT(proxy_name), "NAME", "sprintd", 0,
     0, NULL, "name of this server in the Via field"},
    {NULL, "proxy-redirect", 0, OPTION_CHOICE, AT(proxy_redirect), "WHETHER",
     "on", 0, 0, option_on_off,
     "rewrite Location, Refresh and cookie paths of\n"
     "replies to what the client asked for"},
    {NULL, "proxy-intercept-errors", 0, OPTION_SWITCH,
     AT(proxy_intercept_errors), NULL, NULL, 0, 0, NULL,
     "replace the servers' own error replies by\n"
     "--error-page, too"},
    {NULL, "proxy-traceparent", 0, OPTION_CHOICE, AT(proxy_traceparent), "WHAT",
     "pass", 0, 0, proxy_traces,
     "W3C trace context; pass: as the client sent it;\n"
     "make: also made for requests without one"},
    {NULL, "proxy-buffer", 0, OPTION_BYTES, AT(proxy_buffer_bytes), "BYTES",
     "64K", 32768, 1ull << 20, NULL,
     "bytes of a body that are buffered on their way,\n"
     "in each direction"},
    {NULL, "proxy-request-buffer", 0, OPTION_BYTES, AT(proxy_request_bytes),
     "BYTES", "64K", 0, 1ull << 20, NULL,
     "bytes of a request's body that must be here,\n"
     "unless it is shorter, before a server is asked;\n"
     "at most --proxy-buffer; 0: asked at once"},
    {NULL, "proxy-splice", 0, OPTION_CHOICE, AT(proxy_splice), "WHETHER", "on",
     0, 0, option_on_off,
     "move long replies through pipes without copying\n"
     "them (splice)"},
    {NULL, "proxy-cache", 0, OPTION_TEXT, AT_START(proxy_cache), "WHERE", NULL,
     0, 0, option_off,
     "keep what servers behind this one answer, as far\n"
     "as they allow it (RFC 9111), for all who ask;\n"
     "memory: in memory; FOLDER: on disk, where it\n"
     "outlives the server; default: off"},
    {NULL, "proxy-cache-size", 0, OPTION_BYTES, AT_START(proxy_cache_bytes),
     "BYTES", "0", 0, 16 * TIB, NULL,
     "room for all that --proxy-cache keeps; 0: 256M in\n"
     "memory, 10G in a folder"},
    {NULL, "proxy-cache-max-object", 0, OPTION_BYTES,
     AT_START(proxy_cache_object_bytes), "BYTES", "32M", 0, 16 * TIB, NULL,
     "longest body that --proxy-cache keeps"},
    {NULL, "proxy-cache-policy", 0, OPTION_CHOICE, AT_START(proxy_cache_policy),
     "POLICY", "sieve", 0, 0, proxy_cache_policies,
     "which answer leaves a full --proxy-cache: as for\n"
     "--cache-policy; saved: by hits and the server's\n"
     "milliseconds per byte"},
    {NULL, "proxy-cache-purge-token", 0, OPTION_PATH, AT(proxy_cache_token),
     "FILE", NULL, 0, 0, NULL,
     "file of bearer tokens that may purge what\n"
     "--proxy-cache keeps: lines of TOKEN or TOKEN\n"
     "HOST/PATH; programs on this machine need none"},
    {NULL, "cache-stale", 0, OPTION_TIME, IN_LOCATION(cache_stale_ms), "TIME",
     "10m", 0, HOURS_24_MS, NULL,
     "how long an answer in --proxy-cache may be used\n"
     "after its lifetime when no server can be reached,\n"
     "unless its server forbids that; 0: not at all"},
    {NULL, "cache-default", 0, OPTION_TIME, IN_LOCATION(cache_default_ms),
     "TIME", "0", 0, HOURS_24_MS, NULL,
     "least lifetime in --proxy-cache of answers that\n"
     "state none; 0: none"},
    {NULL, "cache-bypass", 0, OPTION_TEXTS, IN_LOCATION(cache_bypass), "WHAT",
     NULL, 0, CACHE_PARTS_MAX, NULL,
     "header:NAME, cookie:NAME or query:NAME: requests\n"
     "that have it neither get nor leave anything in\n"
     "--proxy-cache"},
    {NULL, "cache-key", 0, OPTION_TEXTS, IN_LOCATION(cache_key), "WHAT", NULL,
     0, CACHE_PARTS_MAX, NULL,
     "what tells answers in --proxy-cache apart, besides\n"
     "the URL: header:NAME or cookie:NAME does;\n"
     "-query:NAME does not (NAME*: all that begin with\n"
     "NAME)"},
    {NULL, "cache", 0, OPTION_CHOICE, IN_LOCATION(cache), "WHETHER", "on", 0, 0,
     option_on_off,
     "whether --proxy-cache keeps answers; off: not\n"
     "those of this site or location"},
    {NULL, "proxy-tls-ca", 0, OPTION_PATH, AT(proxy_tls_ca), "FILE", NULL, 0, 0,
     NULL,
     "PEM file of the authorities by which https://\n"
     "servers are verified, instead of the system's"},
    {NULL, "proxy-tls-name", 0, OPTION_TEXT, AT(proxy_tls_name), "NAME", NULL,
     0, 0, NULL,
     "name or address that the certificates of https://\n"
     "servers must have, also sent to them (SNI),\n"
     "instead of the one in their URL"},
    {NULL, "proxy-tls-certificate", 0, OPTION_PATH, AT(proxy_tls_certificate),
     "FILE", NULL, 0, 0, NULL,
     "certificate shown to https:// servers that ask for\n"
     "one (PEM)"},
    {NULL, "proxy-tls-certificate-key", 0, OPTION_PATH,
     AT(proxy_tls_certificate_key), "FILE", NULL, 0, 0, NULL,
     "private key of --proxy-tls-certificate; default:\n"
     "in the same file"},
    {NULL, "proxy-tls-verify", 0, OPTION_CHOICE, AT(proxy_tls_verify),
     "WHETHER", "on", 0, 0, option_on_off,
     "verify certificates of https:// servers; off:\n"
     "whoever answers in a server's place is believed"},
    {NULL, "proxy-tls-client", 0, OPTION_CHOICE, AT(proxy_tls_client),
     "WHETHER", "off", 0, 0, option_on_off,
     "tell servers the subject and fingerprint of the\n"
     "client's certificate:\n"
     "X-Forwarded-Tls-Client-Subject and -Fingerprint"},
    {NULL, "proxy-connect-timeout", 0, OPTION_TIME, AT(proxy_connect_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL,
     "time to look a server's name up and connect to it,\n"
     "TLS handshake included"},
    {NULL, "proxy-timeout", 0, OPTION_TIME, AT(proxy_reply_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL, "time until the head of a reply must have come"},
    {NULL, "proxy-idle-timeout", 0, OPTION_TIME, AT(proxy_idle_ms), "TIME",
     "60s", 1, HOURS_24_MS, NULL,
     "longest pause in the body of a request or reply"},
    {NULL, "proxy-tunnel-timeout", 0, OPTION_TIME, AT(proxy_tunnel_ms), "TIME",
     "60m", 1, HOURS_24_MS, NULL,
     "longest silence of a WebSocket or other tunnel"},
    {NULL, "proxy-keepalive", 0, OPTION_NUMBER, AT(proxy_idle_max), "N", "64",
     0, 65536, NULL,
     "idle connections kept to each server, per worker;\n"
     "0: none"},
    {NULL, "proxy-keepalive-timeout", 0, OPTION_TIME, AT(proxy_keepalive_ms),
     "TIME", "50s", 1, HOURS_24_MS, NULL,
     "how long an idle connection to a server is kept"},
    {NULL, "proxy-keepalive-requests", 0, OPTION_NUMBER, AT(proxy_requests_max),
     "N", "0", 0, UINT32_MAX, NULL,
     "requests over one connection to a server; 0: no\n"
     "limit"},
    {NULL, "proxy-retries", 0, OPTION_NUMBER, AT(proxy_retries), "N", "1", 0,
     BALANCE_SERVERS_MAX - 1, NULL,
     "other servers to try when a request may be\n"
     "repeated and nothing of a reply has come"},
    {NULL, "proxy-fails", 0, OPTION_NUMBER, AT(proxy_fails), "N", "3", 0,
     1000000, NULL,
     "failures after which a server is left out; 0:\n"
     "never"},
    {NULL, "proxy-fail-window", 0, OPTION_TIME, AT(proxy_fail_window_ms),
     "TIME", "10s", 1, HOURS_24_MS, NULL,
     "time within which --proxy-fails failures count\n"
     "together"},
    {NULL, "proxy-eject", 0, OPTION_TIME, AT(proxy_eject_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL,
     "how long a failing server is left out; doubled\n"
     "each time in a row"},
    {NULL, "proxy-eject-max", 0, OPTION_TIME, AT(proxy_eject_max_ms), "TIME",
     "5m", 1, HOURS_24_MS, NULL,
     "longest time that a failing server is left out"},
    {NULL, "proxy-slow-start", 0, OPTION_TIME, AT(proxy_slow_start_ms), "TIME",
     "0", 0, HOURS_24_MS, NULL,
     "time over which a server that has come back gets\n"
     "its full share of requests again"},
    {NULL, "proxy-probe", 0, OPTION_TEXT, AT(proxy_probe), "PATH", NULL, 0, 0,
     option_off,
     "path to ask servers for now and then, to learn\n"
     "which of them are up"},
    {NULL, "proxy-probe-interval", 0, OPTION_TIME, AT(proxy_probe_interval_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL, "time between two probes of a server"},
    {NULL, "proxy-probe-timeout", 0, OPTION_TIME, AT(proxy_probe_ms), "TIME",
     "2s", 1, HOURS_24_MS, NULL, "time within which a probe must be answered"},
    {NULL, "proxy-probe-status", 0, OPTION_TEXT, AT(proxy_probe_status),
     "RANGE", "200-399", 0, 0, NULL,
     "statuses of a probe's reply that count as success"},
    {NULL, "proxy-probe-rise", 0, OPTION_NUMBER, AT(proxy_probe_rise), "N", "2",
     1, 1000, NULL, "successful probes in a row that make a server up"},
    {NULL, "proxy-probe-fall", 0, OPTION_NUMBER, AT(proxy_probe_fall), "N", "3",
     1, 1000, NULL, "failed probes in a row that make a server down"},
};

const struct option_group proxy_options = OPTION_GROUP(rows);
