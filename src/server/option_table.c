#include "server/option_table.h"

#include <stddef.h>

#include "backend/evict.h"
#include "backend/file_cache.h"
#include "backend/kv_cache.h"
#include "base/log.h"
#include "engine/sched.h"
#include "handler/proxy.h"
#include "observe/access_log.h"
#include "server/sandbox.h"

static const struct option_choice schedules[] = {{"srpt", SCHED_POLICY_SRPT},
                                                 {"fsp", SCHED_POLICY_FSP},
                                                 {"fifo", SCHED_POLICY_FIFO},
                                                 {"fair", SCHED_POLICY_FAIR},
                                                 {0}};
static const struct option_choice send_methods[] = {{"auto", SEND_AUTO},
                                                    {"mmap", SEND_MMAP},
                                                    {"sendfile", SEND_SENDFILE},
                                                    {"read", SEND_READ},
                                                    {0}};
static const struct option_choice cache_policies[] = {{"lru", EVICT_LRU},
                                                      {"gdsf", EVICT_GDSF},
                                                      {"sieve", EVICT_SIEVE},
                                                      {"s3fifo", EVICT_S3FIFO},
                                                      {0}};
static const struct option_choice overflows[] = {
    {"drop", LOG_OVERFLOW_DROP}, {"wait", LOG_OVERFLOW_WAIT}, {0}};
static const struct option_choice levels[] = {
    {"error", LOG_LEVEL_ERROR},   {"warning", LOG_LEVEL_WARNING},
    {"notice", LOG_LEVEL_NOTICE}, {"info", LOG_LEVEL_INFO},
    {"debug", LOG_LEVEL_DEBUG},   {0}};

static const struct option_choice reports[] = {{"off", OPTIONS_REPORT_OFF},
                                               {"auto", OPTIONS_REPORT_AUTO},
                                               {"always",
                                                OPTIONS_REPORT_ALWAYS},
                                               {0}};

static const struct option_choice client_addresses[] = {
    {"none", OPTIONS_CLIENT_PEER},
    {"x-forwarded-for", OPTIONS_CLIENT_X_FORWARDED_FOR},
    {"forwarded", OPTIONS_CLIENT_FORWARDED},
    {"proxy-protocol", OPTIONS_CLIENT_PROXY_PROTOCOL},
    {0}};
static const struct option_choice sandboxes[] = {
    {"off", SANDBOX_OFF}, {"on", SANDBOX_ON}, {"strict", SANDBOX_STRICT}, {0}};

static const struct option_choice on_off[] = {{"on", 1}, {"off", 0}, {0}};
static const struct option_choice proxy_hosts[] = {
    {"keep", PROXY_HOST_KEEP}, {"upstream", PROXY_HOST_UPSTREAM}, {0}};
static const struct option_choice proxy_traces[] = {
    {"pass", PROXY_TRACE_PASS}, {"make", PROXY_TRACE_MAKE}, {0}};
static const struct option_choice proxy_slashes[] = {
    {"safe", PROXY_SLASH_SAFE}, {"pass", PROXY_SLASH_PASS}, {0}};

/* For what lies in something that has it. */
static const struct option_choice off[] = {{"off", 0}, {0}};
static const struct option_choice all[] = {{"all", 0}, {0}};

#define AT(member) OPTION_GLOBAL, offsetof(struct options, member)
#define AT_START(member) OPTION_START, offsetof(struct options, member)
#define IN_COMMAND(member) OPTION_COMMAND, offsetof(struct options, member)
#define IN_LOCATION(member) \
    OPTION_LOCATION, offsetof(struct location_options, member)
#define HOURS_24_MS (24ull * 3600 * 1000)
#define TIB (1ull << 40)

enum { ACCESS_MAX = 256 }; /* blocks of addresses in a list */

const struct option_row option_rows[] = {
    {"Configuration", "config", 'c', OPTION_TEXT, IN_COMMAND(config), "FILE",
     NULL, 0, 0, NULL, "read it first; what is said here wins over it"},
    {NULL, "test", 't', OPTION_SWITCH, IN_COMMAND(wants_test), NULL, NULL, 0, 0,
     NULL, "check all that was told, say what is wrong, exit"},
    {NULL, "dump", 'T', OPTION_SWITCH, IN_COMMAND(wants_dump), NULL, NULL, 0, 0,
     NULL, "print what is in force, and where it is from"},

    {"Where to listen", "port", 'p', OPTION_NUMBER, AT(port), "N", "8080", 0,
     65535, NULL, "TCP port; 0: any free one, which is printed"},
    {NULL, "bind", 'b', OPTION_TEXT, AT(bind), "ADDRESS", NULL, 0, 0, NULL,
     "numeric; by default all, IPv4 and IPv6"},
    {NULL, "listen", 'l', OPTION_TEXTS, AT(listen), "WHERE", NULL, 0,
     OPTIONS_LISTEN_MAX, NULL,
     "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH\n"
     "instead of --port and --bind; may come again"},

    {"Work", "workers", 'w', OPTION_NUMBER, AT_START(workers), "N", "0", 0,
     OPTIONS_WORKERS_MAX, NULL, "threads; 0: one per CPU it may use"},
    {NULL, "schedule", 0, OPTION_CHOICE, AT_START(schedule), "ORDER", "srpt", 0,
     0, schedules,
     "which response sends next: fewest bytes left\n"
     "first; by when it would finish under fair\n"
     "sharing; in order of arrival; in turns"},
    {NULL, "starvation-bound", 0, OPTION_NUMBER, AT_START(starvation_bound),
     "K", "256", 0, 1ull << 20, NULL,
     "srpt: what passes a response of B bytes has\n"
     "less than (K + 1) * B; 0: no bound"},
    {NULL, "link-rate", 0, OPTION_RATE, AT_START(link_rate), "RATE", "auto",
     8000, 1ull << 50, NULL,
     "of the narrowest link to the clients, in bits\n"
     "a second (80M): bytes wait here, not there;\n"
     "auto finds it out; off: plain sending"},
    {NULL, "chunk-size", 0, OPTION_BYTES, AT(chunk_bytes), "BYTES", "512K", 1,
     1ull << 30, NULL, "quantum: sent before others get their turn"},
    {NULL, "send-method", 0, OPTION_CHOICE, AT(send_method), "HOW", "auto", 0,
     0, send_methods,
     "how bodies leave; auto: small ones from memory\n"
     "with their head, larger ones by sendfile"},

    {"Files", "root", 0, OPTION_PATH, IN_LOCATION(root), "DIRECTORY", "www", 0,
     0, NULL, "what is served: the same as DOCROOT"},
    {NULL, "strip-prefix", 0, OPTION_SWITCH, IN_LOCATION(strip_prefix), NULL,
     NULL, 0, 0, NULL,
     "in a location: files are below the root by\n"
     "what is behind its path"},
    {NULL, "index", 0, OPTION_TEXT, IN_LOCATION(index), "NAME", "index.html", 0,
     0, NULL, "the file that answers for a directory"},
    {NULL, "try-files", 0, OPTION_TEXTS, IN_LOCATION(try_list), "WHAT", NULL, 0,
     8, NULL,
     "$path, $path.html, /app.html, =404: which\n"
     "file answers; may come again. One without\n"
     "$path is for those who navigate: a page"},
    {NULL, "autoindex", 0, OPTION_SWITCH, IN_LOCATION(autoindex), NULL, NULL, 0,
     0, NULL, "list directories that have no index"},
    {NULL, "show-hidden", 0, OPTION_SWITCH, IN_LOCATION(show_hidden), NULL,
     NULL, 0, 0, NULL, "serve names that begin with a dot"},
    {NULL, "follow-symlinks", 0, OPTION_SWITCH, IN_LOCATION(follow_symlinks),
     NULL, NULL, 0, 0, NULL, "also those that lead out of the root"},
    {NULL, "cache-control", 0, OPTION_TEXT, IN_LOCATION(cache_control), "VALUE",
     NULL, 0, 0, NULL, "Cache-Control field of files"},
    {NULL, "cache-control-for", 0, OPTION_TEXTS, IN_LOCATION(cache_control_for),
     "RULE", NULL, 0, 32, NULL,
     "\"*.css max-age=3600\", \"text/html no-cache\":\n"
     "by path or type; may come again"},
    {NULL, "type", 0, OPTION_TEXTS, IN_LOCATION(type), "RULE", NULL, 0, 32,
     NULL,
     "\"*.ts video/mp2t\": media types by name or path;\n"
     "may come again"},
    {NULL, "no-server-header", 0, OPTION_SWITCH, AT(hides_server), NULL, NULL,
     0, 0, NULL, "leave the Server field out"},

    {"Answers", "redirect", 0, OPTION_TEXTS, IN_LOCATION(redirect), "RULE",
     NULL, 0, 64, NULL,
     "\"/old/* /new/$1 301\": paths elsewhere [308];\n"
     "$host, $path, $query, $scheme are what is asked\n"
     "for: \"/** https://$host$path\"; may come again"},
    {NULL, "respond", 0, OPTION_PROSE, IN_LOCATION(respond), "TEXT", NULL, 0, 0,
     NULL, "this, and no files"},
    {NULL, "respond-status", 0, OPTION_NUMBER, IN_LOCATION(respond_status), "N",
     "200", 200, 599, NULL, "of that"},
    {NULL, "respond-type", 0, OPTION_TEXT, IN_LOCATION(respond_type), "TYPE",
     NULL, 0, 0, NULL, "of that; by default plain text"},
    {NULL, "error-page", 0, OPTION_TEXTS, IN_LOCATION(error_page), "RULE", NULL,
     0, 32, NULL,
     "\"404 /404.html\", \"5xx /sorry.html\"; may come\n"
     "again"},
    {NULL, "header-set", 0, OPTION_TEXTS, IN_LOCATION(header_set), "FIELD",
     NULL, 0, 32, NULL, "\"Name: value\" in every answer; may come again"},
    {NULL, "header-add", 0, OPTION_TEXTS, IN_LOCATION(header_add), "FIELD",
     NULL, 0, 32, NULL, "one more of that name; may come again"},
    {NULL, "header-remove", 0, OPTION_TEXTS, IN_LOCATION(header_remove), "NAME",
     NULL, 0, 32, NULL, "none of that name; may come again"},
    {NULL, "cors-origin", 0, OPTION_TEXTS, IN_LOCATION(cors_origin), "ORIGIN",
     NULL, 0, 64, NULL,
     "whose pages may read answers: *,\n"
     "https://a.example, https://*.a.example"},
    {NULL, "cors-method", 0, OPTION_TEXTS, IN_LOCATION(cors_method), "METHOD",
     NULL, 0, 32, NULL, "that they may use [GET, HEAD, POST]"},
    {NULL, "cors-header", 0, OPTION_TEXTS, IN_LOCATION(cors_header), "NAME",
     NULL, 0, 32, NULL, "of a field that they may send"},
    {NULL, "cors-expose", 0, OPTION_TEXTS, IN_LOCATION(cors_expose), "NAME",
     NULL, 0, 32, NULL, "of a field that they may see"},
    {NULL, "cors-max-age", 0, OPTION_TIME, IN_LOCATION(cors_max_age_ms), "TIME",
     "0", 0, HOURS_24_MS, NULL, "that browsers may rely on it; 0: not said"},
    {NULL, "cors-credentials", 0, OPTION_SWITCH, IN_LOCATION(cors_credentials),
     NULL, NULL, 0, 0, NULL, "with cookies and passwords"},

    {"Access", "allow", 0, OPTION_CIDRS, IN_LOCATION(allow), "CIDR", NULL, 0,
     ACCESS_MAX, all,
     "these addresses, and no others; may come\n"
     "again; all: everybody"},
    {NULL, "deny", 0, OPTION_CIDRS, IN_LOCATION(deny), "CIDR", NULL, 0,
     ACCESS_MAX, all,
     "not these; may come again; all: nobody but\n"
     "those who are allowed"},
    {NULL, "auth-file", 0, OPTION_PATH, IN_LOCATION(auth_file), "FILE", NULL, 0,
     0, off,
     "htpasswd (bcrypt, SHA-crypt) of those who may\n"
     "come, by HTTP Basic authentication; off: all"},
    {NULL, "auth-realm", 0, OPTION_TEXT, IN_LOCATION(auth_realm), "TEXT",
     "restricted", 0, 0, NULL, "what they are asked for"},
    {NULL, "rate-limit", 0, OPTION_TEXT, IN_LOCATION(rate_limit), "RATE", NULL,
     0, 0, off, "requests of an address: 10/s, 300/m, 1000/h, off"},
    {NULL, "rate-burst", 0, OPTION_NUMBER, IN_LOCATION(rate_burst), "N", "20",
     1, 1000000, NULL, "of them at once"},
    {NULL, "max-body", 0, OPTION_BYTES, IN_LOCATION(body_max), "BYTES", "0", 0,
     TIB, NULL, "of a request; 0: any"},
    {NULL, "trusted-proxies", 0, OPTION_CIDRS, AT(trusted_proxies), "CIDR",
     NULL, 0, ACCESS_MAX, NULL,
     "whose word on the client's address counts;\n"
     "may come again"},
    {NULL, "client-address", 0, OPTION_CHOICE, AT(client_address), "FIELD",
     "x-forwarded-for", 0, 0, client_addresses,
     "where they say it: x-forwarded-for, forwarded,\n"
     "proxy-protocol, or nowhere: none"},

    {"Cache (per worker)", "cache-size", 0, OPTION_BYTES, AT(cache_bytes),
     "BYTES", "64M", 0, TIB, NULL, "memory for small files; 0: no cache"},
    {NULL, "cache-entries", 0, OPTION_NUMBER, AT(cache_entries), "N", "65536",
     0, 1ull << 24, NULL, "names known; 0: no cache"},
    {NULL, "cache-policy", 0, OPTION_CHOICE, AT(cache_policy), "POLICY",
     "sieve", 0, 0, cache_policies, "what goes when there is no room"},

    {"Limits", "max-connections", 0, OPTION_NUMBER, AT_START(connections_max),
     "N", "0", 0, 1ull << 24, NULL, "in all; 0: as many as descriptors allow"},
    {NULL, "max-connections-per-address", 0, OPTION_NUMBER,
     AT_START(address_connections_max), "N", "0", 0, 1ull << 24, NULL,
     "of IPv6 by /64; 0: a quarter of all, or any\n"
     "number as long as no other address has one"},
    {NULL, "max-requests-per-connection", 0, OPTION_NUMBER, AT(requests_max),
     "N", "0", 0, UINT32_MAX, NULL, "0: any number"},
    {NULL, "keepalive-timeout", 0, OPTION_TIME, AT(keepalive_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL, "for the next request"},
    {NULL, "header-timeout", 0, OPTION_TIME, AT(header_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL, "for a whole request head"},
    {NULL, "body-timeout", 0, OPTION_TIME, AT(body_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL, "for a whole request body"},
    {NULL, "send-timeout", 0, OPTION_TIME, AT(send_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL, "for a client that takes nothing"},
    {NULL, "send-rate-min", 0, OPTION_BYTES, AT(send_rate_min), "BYTES", "256",
     0, TIB, NULL,
     "a second that a slow client must take on\n"
     "average beyond --send-timeout; 0: any"},
    {NULL, "drain-timeout", 0, OPTION_TIME, AT(drain_ms), "TIME", "30s", 0,
     HOURS_24_MS, NULL, "for what is being sent when told to stop"},

    {"Key-value store", "kv", 0, OPTION_TEXTS, AT_START(kv), "PREFIX=PLACE",
     NULL, 0, OPTIONS_KV_MAX, NULL,
     "keys and values below PREFIX, kept in a folder:\n"
     "/kv=./data; or in Redis or Valkey, alone or a\n"
     "cluster: /kv=redis://HOST:PORT[,HOST:PORT...]\n"
     "[/DB][?name=NAME]; may come again"},
    {NULL, "kv-sync", 0, OPTION_TEXT, AT_START(kv_sync), "WHEN", "full", 0, 0,
     NULL,
     "of a folder: writes are answered when on\n"
     "disk: full; are there within: interval:MS; off"},
    {NULL, "kv-max-value", 0, OPTION_BYTES, AT_START(kv_value_bytes_max),
     "BYTES", "1M", 1, 64ull << 20, NULL, "of a value"},
    {NULL, "kv-max-size", 0, OPTION_BYTES, AT_START(kv_bytes_max), "BYTES",
     "64G", 1ull << 20, TIB, NULL, "of a folder"},
    {NULL, "kv-memory", 0, OPTION_BYTES, AT_START(kv_memory_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "for values of 16 KiB and more on their way to\n"
     "clients, of all workers; a quarter as much for\n"
     "bodies. 0: an eighth of memory"},
    {NULL, "kv-watchers", 0, OPTION_NUMBER, AT_START(kv_watchers_max), "N",
     "256", 0, 100000, NULL,
     "streams of changes of a store that a worker has\n"
     "at a time; 0: none. An address has a quarter, and\n"
     "more while no other needs them"},
    {NULL, "kv-cache-size", 0, OPTION_BYTES, AT_START(kv_cache_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "memory for values, of each folder; 0: none, and\n"
     "LMDB's pages in memory must do: little slower"},
    {NULL, "kv-cache-policy", 0, OPTION_CHOICE, AT_START(kv_cache_policy),
     "POLICY", "sieve", 0, 0, cache_policies,
     "which of them go when there is no room"},
    {NULL, "kv-lock-groups", 0, OPTION_NUMBER, AT_START(kv_lock_groups), "N",
     "16", 1, KV_CACHE_GROUPS_MAX, NULL,
     "that it lies in, each with a lock; a value of\n"
     "more than an eighth of a group is not kept"},
    {NULL, "kv-token", 0, OPTION_PATH, AT(kv_token), "FILE", NULL, 0, 0, NULL,
     "bearer tokens of those who may write: lines of\n"
     "TOKEN or TOKEN PREFIX. Who is on this machine\n"
     "needs none"},
    {NULL, "kv-open-writes", 0, OPTION_SWITCH, AT(kv_open_writes), NULL, NULL,
     0, 0, NULL, "anybody may write"},
    {NULL, "kv-read-only", 0, OPTION_SWITCH, AT(kv_read_only), NULL, NULL, 0, 0,
     NULL, "nobody may"},
    {NULL, "kv-require-match", 0, OPTION_SWITCH, AT_START(kv_require_match),
     NULL, NULL, 0, 0, NULL, "only with If-Match or If-None-Match: else 428"},

    {"Reverse proxy", "proxy", 0, OPTION_TEXTS, IN_LOCATION(proxy),
     "PREFIX=SERVERS", NULL, 0, OPTIONS_PROXY_MAX, NULL,
     "what is below PREFIX is asked of other servers:\n"
     "/=http://127.0.0.1:9000, several with commas,\n"
     "unix:/run/app; /app=http://app:80/ strips /app;\n"
     "each with ;weight=N ;backup ;max-conns=N; may\n"
     "come again. Without PREFIX=: all, or what is\n"
     "below the location that says so"},
    {NULL, "proxy-balance", 0, OPTION_TEXT, AT(proxy_balance), "HOW",
     "round-robin", 0, 0, NULL,
     "which of them: round-robin, least-conn, random,\n"
     "hash-address, hash-uri or hash:FIELD"},
    {NULL, "proxy-host", 0, OPTION_CHOICE, AT(proxy_host), "WHOSE", "keep", 0,
     0, proxy_hosts, "Host that they see: the client's, or their own"},
    {NULL, "proxy-encoded-slash", 0, OPTION_CHOICE, AT(proxy_encoded_slash),
     "HOW", "safe", 0, 0, proxy_slashes,
     "paths with %2F pass as they are: where no rule\n"
     "here reads them in two ways; pass: always"},
    {NULL, "proxy-name", 0, OPTION_TEXT, AT(proxy_name), "NAME", "sprintd", 0,
     0, NULL, "of this server in Via"},
    {NULL, "proxy-redirect", 0, OPTION_CHOICE, AT(proxy_redirect), "WHETHER",
     "on", 0, 0, on_off,
     "Location and the like, and paths and domains of\n"
     "cookies, name what the client asks for"},
    {NULL, "proxy-intercept-errors", 0, OPTION_SWITCH,
     AT(proxy_intercept_errors), NULL, NULL, 0, 0, NULL,
     "the servers' errors get an --error-page, too"},
    {NULL, "proxy-traceparent", 0, OPTION_CHOICE, AT(proxy_traceparent), "WHAT",
     "pass", 0, 0, proxy_traces, "make: where a request has none (W3C)"},
    {NULL, "proxy-buffer", 0, OPTION_BYTES, AT(proxy_buffer_bytes), "BYTES",
     "64K", 32768, 1ull << 20, NULL, "of a body on its way, each way"},
    {NULL, "proxy-request-buffer", 0, OPTION_BYTES, AT(proxy_request_bytes),
     "BYTES", "64K", 0, 1ull << 20, NULL,
     "of a request's body, or all of it, are here\n"
     "before a server is asked, as far as --proxy-buffer\n"
     "has room; 0: one is asked at once"},
    {NULL, "proxy-splice", 0, OPTION_CHOICE, AT(proxy_splice), "WHETHER", "on",
     0, 0, on_off, "long replies go by pipes, and are not copied"},
    {NULL, "proxy-connect-timeout", 0, OPTION_TIME, AT(proxy_connect_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL, "to look a name up and connect"},
    {NULL, "proxy-timeout", 0, OPTION_TIME, AT(proxy_reply_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL, "to the head of a reply"},
    {NULL, "proxy-idle-timeout", 0, OPTION_TIME, AT(proxy_idle_ms), "TIME",
     "60s", 1, HOURS_24_MS, NULL, "without a byte in the middle of a body"},
    {NULL, "proxy-tunnel-timeout", 0, OPTION_TIME, AT(proxy_tunnel_ms), "TIME",
     "60m", 1, HOURS_24_MS, NULL, "without a byte over a WebSocket"},
    {NULL, "proxy-keepalive", 0, OPTION_NUMBER, AT(proxy_idle_max), "N", "64",
     0, 65536, NULL,
     "connections kept idle, per worker and server;\n"
     "0: none"},
    {NULL, "proxy-keepalive-timeout", 0, OPTION_TIME, AT(proxy_keepalive_ms),
     "TIME", "50s", 1, HOURS_24_MS, NULL, "for which they are"},
    {NULL, "proxy-keepalive-requests", 0, OPTION_NUMBER, AT(proxy_requests_max),
     "N", "0", 0, UINT32_MAX, NULL, "over one of them; 0: any number"},
    {NULL, "proxy-retries", 0, OPTION_NUMBER, AT(proxy_retries), "N", "1", 0,
     BALANCE_SERVERS_MAX - 1, NULL,
     "other servers tried, when a request may be\n"
     "repeated and nothing of a reply has come"},
    {NULL, "proxy-fails", 0, OPTION_NUMBER, AT(proxy_fails), "N", "3", 0,
     1000000, NULL, "failures that leave a server out; 0: never"},
    {NULL, "proxy-fail-window", 0, OPTION_TIME, AT(proxy_fail_window_ms),
     "TIME", "10s", 1, HOURS_24_MS, NULL, "in which they count"},
    {NULL, "proxy-eject", 0, OPTION_TIME, AT(proxy_eject_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL, "that it is left out; each time twice as long"},
    {NULL, "proxy-eject-max", 0, OPTION_TIME, AT(proxy_eject_max_ms), "TIME",
     "5m", 1, HOURS_24_MS, NULL, "up to this"},
    {NULL, "proxy-slow-start", 0, OPTION_TIME, AT(proxy_slow_start_ms), "TIME",
     "0", 0, HOURS_24_MS, NULL, "for who comes back to get its whole share"},
    {NULL, "proxy-probe", 0, OPTION_TEXT, AT(proxy_probe), "PATH", NULL, 0, 0,
     off, "servers are asked for this, to learn who is up"},
    {NULL, "proxy-probe-interval", 0, OPTION_TIME, AT(proxy_probe_interval_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL, "how often"},
    {NULL, "proxy-probe-timeout", 0, OPTION_TIME, AT(proxy_probe_ms), "TIME",
     "2s", 1, HOURS_24_MS, NULL, "for an answer"},
    {NULL, "proxy-probe-status", 0, OPTION_TEXT, AT(proxy_probe_status),
     "RANGE", "200-399", 0, 0, NULL, "which makes it a good one"},
    {NULL, "proxy-probe-rise", 0, OPTION_NUMBER, AT(proxy_probe_rise), "N", "2",
     1, 1000, NULL, "good ones in a row, and it is up"},
    {NULL, "proxy-probe-fall", 0, OPTION_NUMBER, AT(proxy_probe_fall), "N", "3",
     1, 1000, NULL, "bad ones in a row, and it is down"},

    {"Status", "status", 0, OPTION_PREFIX, AT(status), "PREFIX", NULL, 0, 0,
     NULL,
     "dashboard, status.json, metrics and health at\n"
     "PREFIX/, such as /_sprintd, for this machine"},
    {NULL, "status-page", 0, OPTION_SWITCH, IN_LOCATION(status_page), NULL,
     NULL, 0, 0, NULL, "the same as --status, in a location"},
    {NULL, "status-allow", 0, OPTION_CIDRS, AT(status_allow), "CIDR", NULL, 0,
     OPTIONS_STATUS_ALLOW_MAX, NULL, "and for these addresses; may come again"},
    {NULL, "status-host", 0, OPTION_TEXTS, AT(status_host), "NAME", NULL, 0,
     OPTIONS_STATUS_HOST_MAX, NULL,
     "by which they ask, besides addresses, names of\n"
     "sites and the machine's: a.example, *.a.example.\n"
     "Counts for --kv, too; may come again"},

    {"Output", "access-log", 0, OPTION_TEXT, AT_START(access_log), "WHERE",
     NULL, 0, 0, NULL,
     "a file, - for standard output, syslog: or\n"
     "syslog:/SOCKET; SIGUSR1 opens it anew"},
    {NULL, "log-format", 0, OPTION_FORMAT, AT_START(log_format), "FORMAT",
     "combined", 0, 0, NULL,
     "common, combined, json, events, or a template\n"
     "such as \"%{remote} %{status} %{total_us}\""},
    {NULL, "log-overflow", 0, OPTION_CHOICE, AT_START(log_overflow), "WHAT",
     "drop", 0, 0, overflows,
     "when writing it falls behind: drop lines and\n"
     "count them, or let workers wait"},
    {NULL, "request-id", 0, OPTION_CHOICE, AT(request_id), "WHETHER", "on", 0,
     0, on_off,
     "X-Request-Id of what is passed on, or logged as\n"
     "%{request_id}; trusted proxies' own is kept"},
    {NULL, "log-level", 0, OPTION_CHOICE, AT(log_level), "LEVEL", "notice", 0,
     0, levels, "the lightest that is told on standard error"},
    {NULL, "report", 0, OPTION_CHOICE, AT(report), "WHEN", "auto", 0, 0,
     reports,
     "statistics on standard error at exit; auto:\n"
     "when that is a terminal; SIGUSR2: at any time"},
    {NULL, "server-timing", 0, OPTION_SWITCH, AT(server_timing), NULL, NULL, 0,
     0, NULL, "tell clients of each answer where time went"},
    {NULL, "profile", 0, OPTION_SWITCH, AT_START(profile), NULL, NULL, 0, 0,
     NULL,
     "sample where processor time goes, for the\n"
     "report and --status"},

    {"Service", "daemon", 0, OPTION_SWITCH, AT_START(daemon), NULL, NULL, 0, 0,
     NULL, "leave the terminal, once it serves"},
    {NULL, "pid-file", 0, OPTION_PATH, AT_START(pid_file), "FILE", NULL, 0, 0,
     NULL, "holds the process's number, locked"},
    {NULL, "user", 0, OPTION_TEXT, AT_START(user), "NAME[:GROUP]", NULL, 0, 0,
     NULL, "whom to become; files are used as that user"},
    {NULL, "group", 0, OPTION_TEXT, AT_START(group), "NAME", NULL, 0, 0, NULL,
     "instead of that user's"},
    {NULL, "control", 0, OPTION_PATH, AT_START(control), "SOCKET", NULL, 0, 0,
     NULL, "where `sprintd ctl` finds this server"},
    {NULL, "sandbox", 0, OPTION_CHOICE, AT_START(sandbox), "HOW", "on", 0, 0,
     sandboxes,
     "off; on: only files and system calls it needs,\n"
     "as far as the kernel can; strict: or not start,\n"
     "and be killed for a wrong call"},

    {NULL, "help", 'h', OPTION_SWITCH, IN_COMMAND(wants_help), NULL, NULL, 0, 0,
     NULL, "print this and exit"},
    {NULL, "version", 'V', OPTION_SWITCH, IN_COMMAND(wants_version), NULL, NULL,
     0, 0, NULL, "print versions and limits and exit"},
};

const size_t option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

const struct option_row *option_find(struct bytes name)
{
    for (size_t i = 0; i < option_row_count; i++)
        if (bytes_eq(bytes_of(option_rows[i].name), name))
            return &option_rows[i];
    return NULL;
}

const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value)
{
    while (choices->name && choices->value != value)
        choices++;
    return choices->name ? choices->name : "?";
}

const char *option_schedule_name(const struct options *options)
{
    return option_choice_name(schedules, options->schedule);
}

const char *option_cache_policy_name(const struct options *options)
{
    return option_choice_name(cache_policies, options->cache_policy);
}
