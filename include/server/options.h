/*
 * options - what the command line asks for.
 *
 * One table in options.c describes every option: name, kind of value, limits,
 * default and help text; reading, --help and the defaults all come from it.
 *
 * Thread: the main thread's.
 * Owns:   nothing; texts point into argv or are static.
 */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "base/cidr.h"

enum {
    OPTIONS_LISTEN_MAX = 16,
    OPTIONS_WORKERS_MAX = 1024,
    OPTIONS_STATUS_ALLOW_MAX = 16
};

#define OPTIONS_LINK_OFF 0
#define OPTIONS_LINK_AUTO UINT64_MAX

/* When the Server Statistic Report is printed at exit. */
enum options_report {
    OPTIONS_REPORT_OFF,
    OPTIONS_REPORT_AUTO, /* when standard error is a terminal */
    OPTIONS_REPORT_ALWAYS
};

struct options {
    const char *root;
    uint64_t port;
    const char *bind; /* NULL: all addresses */
    const char *listen[OPTIONS_LISTEN_MAX];
    uint64_t listen_count; /* 0: port and bind count */
    uint64_t workers;      /* 0: one per CPU of the affinity mask */
    uint64_t schedule;     /* enum sched_policy */
    uint64_t starvation_bound;
    uint64_t link_rate; /* bits a second, or one of the two below */
    uint64_t chunk_bytes;
    uint64_t send_method; /* enum send_method */
    uint64_t cache_bytes;
    uint64_t cache_entries;
    uint64_t cache_policy;    /* enum evict_policy */
    uint64_t connections_max; /* 0: as descriptors allow */
    uint64_t requests_max;
    uint64_t keepalive_ms;
    uint64_t header_ms;
    uint64_t body_ms;
    uint64_t send_ms;
    uint64_t send_rate_min;
    uint64_t drain_ms;
    const char *cache_control;
    struct bytes status; /* without a slash at its end; empty: off */
    struct cidr status_allow[OPTIONS_STATUS_ALLOW_MAX];
    uint64_t status_allow_count;
    const char *access_log;
    const char *log_format;
    uint64_t log_overflow; /* enum log_overflow */
    uint64_t log_level;    /* enum log_level */
    uint64_t report;       /* enum options_report */
    bool follow_symlinks;
    bool show_hidden;
    bool autoindex;
    bool hides_server;
    bool server_timing;
    bool profile;
    bool wants_help;
    bool wants_version;
};

/* Fills in defaults and what argv says. 0, or -EINVAL after one line on
 * errors that names the option, what is wrong and what would be right. */
MUST_USE int options_read(struct options *options, int argc, char **argv,
                          FILE *errors);

void options_print_help(FILE *to);

/* The name of a value of an option with a choice ("srpt"). */
const char *options_schedule_name(const struct options *options);
const char *options_cache_policy_name(const struct options *options);

#endif
