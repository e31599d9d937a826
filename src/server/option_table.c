#include "server/option_table.h"

#include <stddef.h>

#include "backend/evict.h"
#include "backend/file_cache.h"
#include "base/log.h"
#include "engine/sched.h"
#include "observe/access_log.h"

const struct option_choice option_schedules[] = {{"srpt", SCHED_POLICY_SRPT},
                                                 {"fsp", SCHED_POLICY_FSP},
                                                 {"fifo", SCHED_POLICY_FIFO},
                                                 {"fair", SCHED_POLICY_FAIR},
                                                 {0}};
static const struct option_choice send_methods[] = {{"auto", SEND_AUTO},
                                                    {"mmap", SEND_MMAP},
                                                    {"sendfile", SEND_SENDFILE},
                                                    {"read", SEND_READ},
                                                    {0}};
const struct option_choice option_cache_policies[] = {{"lru", EVICT_LRU},
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

#define AT(member) OPTION_GLOBAL, offsetof(struct options, member)
#define IN_COMMAND(member) OPTION_COMMAND, offsetof(struct options, member)
#define IN_LOCATION(member) \
    OPTION_LOCATION, offsetof(struct location_options, member)
#define HOURS_24_MS (24ull * 3600 * 1000)
#define TIB (1ull << 40)

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

    {"Work", "workers", 'w', OPTION_NUMBER, AT(workers), "N", "0", 0,
     OPTIONS_WORKERS_MAX, NULL, "threads; 0: one per CPU it may use"},
    {NULL, "schedule", 0, OPTION_CHOICE, AT(schedule), "ORDER", "srpt", 0, 0,
     option_schedules,
     "which response sends next: fewest bytes left\n"
     "first; by when it would finish under fair\n"
     "sharing; in order of arrival; in turns"},
    {NULL, "starvation-bound", 0, OPTION_NUMBER, AT(starvation_bound), "K",
     "256", 0, 1ull << 20, NULL,
     "srpt: what passes a response of B bytes has\n"
     "less than (K + 1) * B; 0: no bound"},
    {NULL, "link-rate", 0, OPTION_RATE, AT(link_rate), "RATE", "auto", 8000,
     1ull << 50, NULL,
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
    {NULL, "autoindex", 0, OPTION_SWITCH, IN_LOCATION(autoindex), NULL, NULL, 0,
     0, NULL, "list directories that have no index.html"},
    {NULL, "show-hidden", 0, OPTION_SWITCH, IN_LOCATION(show_hidden), NULL,
     NULL, 0, 0, NULL, "serve names that begin with a dot"},
    {NULL, "follow-symlinks", 0, OPTION_SWITCH, IN_LOCATION(follow_symlinks),
     NULL, NULL, 0, 0, NULL, "also those that lead out of the root"},
    {NULL, "cache-control", 0, OPTION_TEXT, IN_LOCATION(cache_control), "VALUE",
     NULL, 0, 0, NULL, "Cache-Control field of files"},
    {NULL, "no-server-header", 0, OPTION_SWITCH, AT(hides_server), NULL, NULL,
     0, 0, NULL, "leave the Server field out"},

    {"Cache (per worker)", "cache-size", 0, OPTION_BYTES, AT(cache_bytes),
     "BYTES", "64M", 0, TIB, NULL, "memory for small files; 0: no cache"},
    {NULL, "cache-entries", 0, OPTION_NUMBER, AT(cache_entries), "N", "65536",
     0, 1ull << 24, NULL, "names known; 0: no cache"},
    {NULL, "cache-policy", 0, OPTION_CHOICE, AT(cache_policy), "POLICY",
     "sieve", 0, 0, option_cache_policies, "what goes when there is no room"},

    {"Limits", "max-connections", 0, OPTION_NUMBER, AT(connections_max), "N",
     "0", 0, 1ull << 24, NULL, "in all; 0: as many as descriptors allow"},
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

    {"Status", "status", 0, OPTION_PREFIX, AT(status), "PREFIX", NULL, 0, 0,
     NULL,
     "dashboard, status.json, metrics and health at\n"
     "PREFIX/, such as /_sprintd, for this machine"},
    {NULL, "status-allow", 0, OPTION_CIDRS, AT(status_allow), "CIDR", NULL, 0,
     OPTIONS_STATUS_ALLOW_MAX, NULL, "and for these addresses; may come again"},

    {"Output", "access-log", 0, OPTION_TEXT, AT(access_log), "WHERE", NULL, 0,
     0, NULL,
     "a file, - for standard output, syslog: or\n"
     "syslog:/SOCKET; SIGUSR1 opens it anew"},
    {NULL, "log-format", 0, OPTION_FORMAT, AT(log_format), "FORMAT", "combined",
     0, 0, NULL,
     "common, combined, json, events, or a template\n"
     "such as \"%{remote} %{status} %{total_us}\""},
    {NULL, "log-overflow", 0, OPTION_CHOICE, AT(log_overflow), "WHAT", "drop",
     0, 0, overflows,
     "when writing it falls behind: drop lines and\n"
     "count them, or let workers wait"},
    {NULL, "log-level", 0, OPTION_CHOICE, AT(log_level), "LEVEL", "notice", 0,
     0, levels, "the lightest that is told on standard error"},
    {NULL, "report", 0, OPTION_CHOICE, AT(report), "WHEN", "auto", 0, 0,
     reports,
     "statistics on standard error at exit; auto:\n"
     "when that is a terminal; SIGUSR2: at any time"},
    {NULL, "server-timing", 0, OPTION_SWITCH, AT(server_timing), NULL, NULL, 0,
     0, NULL, "tell clients of each answer where time went"},
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
