#include "server/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "backend/evict.h"
#include "backend/file_cache.h"
#include "base/log.h"
#include "engine/sched.h"
#include "handler/status.h"
#include "observe/access_log.h"

enum kind {
    KIND_SWITCH, /* bool, no value */
    KIND_NUMBER,
    KIND_BYTES, /* with K, M, G */
    KIND_TIME,  /* to milliseconds; s unless ms, s or m follows */
    KIND_RATE,  /* bits a second with K, M, G of 1000; or auto, off */
    KIND_TEXT,
    KIND_CHOICE,
    KIND_FORMAT, /* of the access log */
    KIND_LISTEN, /* may come again */
    KIND_PREFIX, /* of paths */
    KIND_CIDR    /* may come again */
};

struct choice {
    const char *name;
    uint64_t value;
};

struct option_row {
    const char *group; /* begins a new group in --help, or NULL */
    const char *name;
    char letter; /* short form, or 0 */
    enum kind kind;
    size_t offset; /* in struct options */
    const char *value_name;
    const char *preset; /* default, as one would write it; NULL: none */
    uint64_t min;
    uint64_t max;
    const struct choice *choices;
    const char *help; /* lines after the first are indented by --help */
};

static const struct choice schedules[] = {{"srpt", SCHED_POLICY_SRPT},
                                          {"fsp", SCHED_POLICY_FSP},
                                          {"fifo", SCHED_POLICY_FIFO},
                                          {"fair", SCHED_POLICY_FAIR},
                                          {0}};
static const struct choice send_methods[] = {{"auto", SEND_AUTO},
                                             {"mmap", SEND_MMAP},
                                             {"sendfile", SEND_SENDFILE},
                                             {"read", SEND_READ},
                                             {0}};
static const struct choice cache_policies[] = {{"lru", EVICT_LRU},
                                               {"gdsf", EVICT_GDSF},
                                               {"sieve", EVICT_SIEVE},
                                               {"s3fifo", EVICT_S3FIFO},
                                               {0}};
static const struct choice overflows[] = {
    {"drop", LOG_OVERFLOW_DROP}, {"wait", LOG_OVERFLOW_WAIT}, {0}};
static const struct choice levels[] = {
    {"error", LOG_LEVEL_ERROR},   {"warning", LOG_LEVEL_WARNING},
    {"notice", LOG_LEVEL_NOTICE}, {"info", LOG_LEVEL_INFO},
    {"debug", LOG_LEVEL_DEBUG},   {0}};

static const struct choice reports[] = {{"off", OPTIONS_REPORT_OFF},
                                        {"auto", OPTIONS_REPORT_AUTO},
                                        {"always", OPTIONS_REPORT_ALWAYS},
                                        {0}};

#define AT(member) offsetof(struct options, member)
#define HOURS_24_MS (24ull * 3600 * 1000)
#define TIB (1ull << 40)

static const struct option_row rows[] = {
    {"Where to listen", "port", 'p', KIND_NUMBER, AT(port), "N", "8080", 0,
     65535, NULL, "TCP port; 0: any free one, which is printed"},
    {NULL, "bind", 'b', KIND_TEXT, AT(bind), "ADDRESS", NULL, 0, 0, NULL,
     "numeric; by default all, IPv4 and IPv6"},
    {NULL, "listen", 'l', KIND_LISTEN, AT(listen), "WHERE", NULL, 0, 0, NULL,
     "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH\n"
     "instead of --port and --bind; may come again"},

    {"Work", "workers", 'w', KIND_NUMBER, AT(workers), "N", "0", 0,
     OPTIONS_WORKERS_MAX, NULL, "threads; 0: one per CPU it may use"},
    {NULL, "schedule", 0, KIND_CHOICE, AT(schedule), "ORDER", "srpt", 0, 0,
     schedules,
     "which response sends next: fewest bytes left\n"
     "first; by when it would finish under fair\n"
     "sharing; in order of arrival; in turns"},
    {NULL, "starvation-bound", 0, KIND_NUMBER, AT(starvation_bound), "K", "256",
     0, 1ull << 20, NULL,
     "srpt: what passes a response of B bytes has\n"
     "less than (K + 1) * B; 0: no bound"},
    {NULL, "link-rate", 0, KIND_RATE, AT(link_rate), "RATE", "auto", 8000,
     1ull << 50, NULL,
     "of the narrowest link to the clients, in bits\n"
     "a second (80M): bytes wait here, not there;\n"
     "auto finds it out; off: plain sending"},
    {NULL, "chunk-size", 0, KIND_BYTES, AT(chunk_bytes), "BYTES", "512K", 1,
     1ull << 30, NULL, "quantum: sent before others get their turn"},
    {NULL, "send-method", 0, KIND_CHOICE, AT(send_method), "HOW", "auto", 0, 0,
     send_methods,
     "how bodies leave; auto: small ones from memory\n"
     "with their head, larger ones by sendfile"},

    {"Files", "autoindex", 0, KIND_SWITCH, AT(autoindex), NULL, NULL, 0, 0,
     NULL, "list directories that have no index.html"},
    {NULL, "show-hidden", 0, KIND_SWITCH, AT(show_hidden), NULL, NULL, 0, 0,
     NULL, "serve names that begin with a dot"},
    {NULL, "follow-symlinks", 0, KIND_SWITCH, AT(follow_symlinks), NULL, NULL,
     0, 0, NULL, "also those that lead out of DOCROOT"},
    {NULL, "cache-control", 0, KIND_TEXT, AT(cache_control), "VALUE", NULL, 0,
     0, NULL, "Cache-Control field of files"},
    {NULL, "no-server-header", 0, KIND_SWITCH, AT(hides_server), NULL, NULL, 0,
     0, NULL, "leave the Server field out"},

    {"Cache (per worker)", "cache-size", 0, KIND_BYTES, AT(cache_bytes),
     "BYTES", "64M", 0, TIB, NULL, "memory for small files; 0: no cache"},
    {NULL, "cache-entries", 0, KIND_NUMBER, AT(cache_entries), "N", "65536", 0,
     1ull << 24, NULL, "names known; 0: no cache"},
    {NULL, "cache-policy", 0, KIND_CHOICE, AT(cache_policy), "POLICY", "sieve",
     0, 0, cache_policies, "what goes when there is no room"},

    {"Limits", "max-connections", 0, KIND_NUMBER, AT(connections_max), "N", "0",
     0, 1ull << 24, NULL, "in all; 0: as many as descriptors allow"},
    {NULL, "max-requests-per-connection", 0, KIND_NUMBER, AT(requests_max), "N",
     "0", 0, UINT32_MAX, NULL, "0: any number"},
    {NULL, "keepalive-timeout", 0, KIND_TIME, AT(keepalive_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL, "for the next request"},
    {NULL, "header-timeout", 0, KIND_TIME, AT(header_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL, "for a whole request head"},
    {NULL, "body-timeout", 0, KIND_TIME, AT(body_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL, "for a whole request body"},
    {NULL, "send-timeout", 0, KIND_TIME, AT(send_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL, "for a client that takes nothing"},
    {NULL, "send-rate-min", 0, KIND_BYTES, AT(send_rate_min), "BYTES", "256", 0,
     TIB, NULL,
     "a second that a slow client must take on\n"
     "average beyond --send-timeout; 0: any"},
    {NULL, "drain-timeout", 0, KIND_TIME, AT(drain_ms), "TIME", "30s", 0,
     HOURS_24_MS, NULL, "for what is being sent when told to stop"},

    {"Status", "status", 0, KIND_PREFIX, AT(status), "PREFIX", NULL, 0, 0, NULL,
     "dashboard, status.json, metrics and health at\n"
     "PREFIX/, such as /_sprintd, for this machine"},
    {NULL, "status-allow", 0, KIND_CIDR, AT(status_allow), "CIDR", NULL, 0, 0,
     NULL, "and for these addresses; may come again"},

    {"Output", "access-log", 0, KIND_TEXT, AT(access_log), "WHERE", NULL, 0, 0,
     NULL,
     "a file, - for standard output, syslog: or\n"
     "syslog:/SOCKET; SIGUSR1 opens it anew"},
    {NULL, "log-format", 0, KIND_FORMAT, AT(log_format), "FORMAT", "combined",
     0, 0, NULL,
     "common, combined, json, events, or a template\n"
     "such as \"%{remote} %{status} %{total_us}\""},
    {NULL, "log-overflow", 0, KIND_CHOICE, AT(log_overflow), "WHAT", "drop", 0,
     0, overflows,
     "when writing it falls behind: drop lines and\n"
     "count them, or let workers wait"},
    {NULL, "log-level", 0, KIND_CHOICE, AT(log_level), "LEVEL", "notice", 0, 0,
     levels, "the lightest that is told on standard error"},
    {NULL, "report", 0, KIND_CHOICE, AT(report), "WHEN", "auto", 0, 0, reports,
     "statistics on standard error at exit; auto:\n"
     "when that is a terminal; SIGUSR2: at any time"},
    {NULL, "server-timing", 0, KIND_SWITCH, AT(server_timing), NULL, NULL, 0, 0,
     NULL, "tell clients of each answer where time went"},
    {NULL, "profile", 0, KIND_SWITCH, AT(profile), NULL, NULL, 0, 0, NULL,
     "sample where processor time goes, for the\n"
     "report and --status"},
    {NULL, "help", 'h', KIND_SWITCH, AT(wants_help), NULL, NULL, 0, 0, NULL,
     "print this and exit"},
    {NULL, "version", 'V', KIND_SWITCH, AT(wants_version), NULL, NULL, 0, 0,
     NULL, "print versions and limits and exit"},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint64_t *number_at(struct options *options, size_t offset)
{
    return (uint64_t *)(void *)((char *)options + offset);
}

/* --- Values --------------------------------------------------------------- */

/* Digits, with a fraction where scale > 1; then one of the suffixes, which
 * say what to multiply by. False: no such number. */
static bool read_scaled(const char *text, const struct choice *suffixes,
                        uint64_t *value_out)
{
    char *end;
    double value;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtod(text, &end);
    if (errno != 0 || text[strspn(text, "0123456789.")] != *end)
        return false; /* no exponents, no hexadecimals */
    for (; suffixes->name; suffixes++) {
        if (strcmp(end, suffixes->name) != 0)
            continue;
        value *= (double)suffixes->value;
        if (value > 9e18 || (suffixes->value == 1 && strchr(text, '.')))
            return false;
        *value_out = (uint64_t)value;
        return true;
    }
    return false;
}

static bool read_choice(const struct choice *choices, const char *text,
                        uint64_t *value_out)
{
    for (; choices->name; choices++) {
        if (strcmp(text, choices->name) == 0) {
            *value_out = choices->value;
            return true;
        }
    }
    return false;
}

static bool read_number(const struct option_row *row, const char *text,
                        uint64_t *value_out)
{
    static const struct choice plain[] = {{"", 1}, {0}};
    static const struct choice sizes[] = {{"", 1},        {"K", 1 << 10},
                                          {"k", 1 << 10}, {"M", 1 << 20},
                                          {"m", 1 << 20}, {"G", 1 << 30},
                                          {"g", 1 << 30}, {0}};
    static const struct choice times[] = {
        {"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {0}};
    const struct choice *suffixes = row->kind == KIND_BYTES  ? sizes
                                    : row->kind == KIND_TIME ? times
                                                             : plain;

    return read_scaled(text, suffixes, value_out) && *value_out >= row->min &&
           *value_out <= row->max;
}

static bool read_rate(const struct option_row *row, const char *text,
                      uint64_t *value_out)
{
    static const struct choice rates[] = {{"", 1},
                                          {"k", 1000},
                                          {"K", 1000},
                                          {"m", 1000000},
                                          {"M", 1000000},
                                          {"g", 1000000000},
                                          {"G", 1000000000},
                                          {"kbit", 1000},
                                          {"mbit", 1000000},
                                          {"gbit", 1000000000},
                                          {0}};
    static const struct choice words[] = {
        {"off", OPTIONS_LINK_OFF}, {"auto", OPTIONS_LINK_AUTO}, {0}};

    return read_choice(words, text, value_out) ||
           (read_scaled(text, rates, value_out) && *value_out >= row->min &&
            *value_out <= row->max);
}

/* A value that goes into a response head must not end the line. */
static bool is_field_text(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return false;
    return true;
}

static bool is_format(const char *text, char fault[LOG_FAULT_BYTES_MAX])
{
    struct log_format format;

    return log_format_compile(&format, text, fault) == 0;
}

static bool set_value(struct options *options, const struct option_row *row,
                      const char *text)
{
    char *at = (char *)options + row->offset;
    char fault[LOG_FAULT_BYTES_MAX];

    switch (row->kind) {
    case KIND_SWITCH:
        *(bool *)at = true;
        return true;
    case KIND_NUMBER:
    case KIND_BYTES:
    case KIND_TIME:
        return read_number(row, text, number_at(options, row->offset));
    case KIND_CHOICE:
        return read_choice(row->choices, text, number_at(options, row->offset));
    case KIND_RATE:
        return read_rate(row, text, number_at(options, row->offset));
    case KIND_TEXT:
        memcpy(at, &text, sizeof(text));
        return text[0] != '\0' && is_field_text(text);
    case KIND_FORMAT:
        memcpy(at, &text, sizeof(text));
        return is_format(text, fault);
    case KIND_LISTEN:
        if (options->listen_count == OPTIONS_LISTEN_MAX)
            return false;
        options->listen[options->listen_count++] = text;
        return true;
    case KIND_PREFIX:
        return status_read_prefix(text, (struct bytes *)(void *)at);
    case KIND_CIDR:
        return options->status_allow_count < OPTIONS_STATUS_ALLOW_MAX &&
               cidr_parse(&options->status_allow[options->status_allow_count++],
                          text);
    }
    return false;
}

static void explain(FILE *errors, const struct option_row *row,
                    const char *text)
{
    char fault[LOG_FAULT_BYTES_MAX];

    fprintf(errors, "sprintd: --%s: '%s' is not ", row->name, text);
    switch (row->kind) {
    case KIND_NUMBER:
        fprintf(errors, "a number from %llu to %llu",
                (unsigned long long)row->min, (unsigned long long)row->max);
        break;
    case KIND_BYTES:
        fprintf(errors, "a size from %llu to %llu bytes, such as 64K or 1M",
                (unsigned long long)row->min, (unsigned long long)row->max);
        break;
    case KIND_TIME:
        fputs("a time of at most 24 hours, such as 500ms, 30 or 2m", errors);
        break;
    case KIND_RATE:
        fputs("auto, off, or bits a second from 8K on, such as 80M", errors);
        break;
    case KIND_CHOICE:
        fputs("one of", errors);
        for (const struct choice *choice = row->choices; choice->name; choice++)
            fprintf(errors, " %s", choice->name);
        break;
    case KIND_LISTEN:
        fprintf(errors, "accepted: at most %d listeners", OPTIONS_LISTEN_MAX);
        break;
    case KIND_PREFIX:
        fprintf(errors,
                "a path of letters, digits and \"-._~\", such as /_sprintd, of "
                "at most %d bytes",
                STATUS_PREFIX_BYTES_MAX);
        break;
    case KIND_CIDR:
        fprintf(errors,
                "a block of addresses, such as 192.0.2.0/24, with no bit set "
                "behind its length; at most %d of them are taken",
                OPTIONS_STATUS_ALLOW_MAX);
        break;
    case KIND_FORMAT:
        if (!is_format(text, fault))
            fprintf(errors, "a format: %s", fault);
        break;
    case KIND_SWITCH:
    case KIND_TEXT:
        fputs("a text without control characters", errors);
        break;
    }
    fputc('\n', errors);
}

/* --- The command line ----------------------------------------------------- */

/* The row that argument names, with *value_out behind its '=', if any. */
static const struct option_row *find_row(const char *argument,
                                         const char **value_out)
{
    size_t len = strcspn(argument, "=");

    *value_out = argument[len] == '=' ? argument + len + 1 : NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (argument[1] == '-'
                ? strlen(rows[i].name) == len - 2 &&
                      memcmp(rows[i].name, argument + 2, len - 2) == 0
                : rows[i].letter != 0 && len == 2 &&
                      rows[i].letter == argument[1])
            return &rows[i];
    }
    return NULL;
}

static void set_presets(struct options *options)
{
    *options = (struct options){.root = "www"};
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].preset && !set_value(options, &rows[i], rows[i].preset))
            abort(); /* the table contradicts itself */
}

/* Takes the option at argv[*at_ref] and its value. 0 or -EINVAL. */
static int read_option(struct options *options, int argc, char **argv,
                       int *at_ref, FILE *errors)
{
    const char *argument = argv[*at_ref];
    const char *value;
    const struct option_row *row = find_row(argument, &value);

    if (!row) {
        fprintf(errors,
                "sprintd: unknown option '%s'; 'sprintd --help' lists them\n",
                argument);
        return -EINVAL;
    }
    if (row->kind == KIND_SWITCH && value) {
        fprintf(errors, "sprintd: --%s takes no value\n", row->name);
        return -EINVAL;
    }
    if (row->kind != KIND_SWITCH && !value) {
        if (*at_ref + 1 == argc) {
            fprintf(errors, "sprintd: --%s needs a value: --%s %s\n", row->name,
                    row->name, row->value_name);
            return -EINVAL;
        }
        value = argv[++*at_ref];
    }
    if (set_value(options, row, value))
        return 0;
    explain(errors, row, value);
    return -EINVAL;
}

int options_read(struct options *options, int argc, char **argv, FILE *errors)
{
    bool has_root = false;
    bool options_end = false;

    set_presets(options);
    for (int at = 1; at < argc; at++) {
        if (!options_end && strcmp(argv[at], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[at][0] == '-' && argv[at][1] != '\0') {
            if (read_option(options, argc, argv, &at, errors) != 0)
                return -EINVAL;
        } else if (has_root) {
            fprintf(errors, "sprintd: one DOCROOT only, '%s' is another\n",
                    argv[at]);
            return -EINVAL;
        } else {
            options->root = argv[at];
            has_root = true;
        }
    }
    return 0;
}

void options_print_help(FILE *to)
{
    enum { HELP_COLUMN = 30 };

    fputs("Usage: sprintd [OPTIONS] [DOCROOT]\n"
          "       sprintd top [--once] URL\n"
          "Serves the files below DOCROOT (default: www) over HTTP/1.1, the\n"
          "shortest response first; or watches a server that does, by the\n"
          "URL of its --status (a DOCROOT named top is ./top).\n",
          to);
    for (size_t i = 0; i < ROWS; i++) {
        const struct option_row *row = &rows[i];
        int column;

        if (row->group)
            fprintf(to, "\n%s:\n", row->group);
        if (row->letter)
            column = fprintf(to, "  -%c, --%s", row->letter, row->name);
        else
            column = fprintf(to, "      --%s", row->name);
        if (row->value_name)
            column += fprintf(to, " %s", row->value_name);
        if (column + 2 > HELP_COLUMN) {
            fputc('\n', to);
            column = 0;
        }
        fprintf(to, "%*s", HELP_COLUMN - column, "");
        for (const char *c = row->help; *c; c++) {
            fputc(*c, to);
            if (*c == '\n')
                fprintf(to, "%*s", HELP_COLUMN, "");
        }
        if (row->preset)
            fprintf(to, " [%s]", row->preset);
        fputc('\n', to);
    }
    fputs("\nSizes take K, M, G (1024); times take ms, s, m.\n"
          "SIGTERM and SIGINT stop gracefully, a second one at once; SIGUSR1\n"
          "opens the access log anew, SIGUSR2 prints statistics.\n",
          to);
}

static const char *name_of(const struct choice *choice, uint64_t value)
{
    while (choice->name && choice->value != value)
        choice++;
    return choice->name ? choice->name : "?";
}

const char *options_schedule_name(const struct options *options)
{
    return name_of(schedules, options->schedule);
}

const char *options_cache_policy_name(const struct options *options)
{
    return name_of(cache_policies, options->cache_policy);
}
