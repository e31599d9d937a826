/*
 * options - the values from the command line and the configuration file.
 * option_table.h lists the options; configuration.h reads them.
 *
 * Thread: the main thread's; constant once they were read.
 * Owns:   its arena. Texts lie in the arena or in argv, or are static.
 */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include <stdint.h>

#include "handler/site.h"

enum {
    OPTIONS_LISTEN_MAX = 16,
    OPTIONS_WORKERS_MAX = 1024,
    OPTIONS_STATUS_ALLOW_MAX = 16,
    OPTIONS_STATUS_HOST_MAX = 16,
    OPTIONS_KV_MAX = 8,
    OPTIONS_PROXY_MAX = 16,
    OPTIONS_CERTIFICATES_MAX = 64 /* certificates of a site */
};

/* The value of options->https if HTTPS is off: a number larger than any
 * port. */
#define OPTIONS_HTTPS_OFF 65536

/* The values of the option acme: whether a site's certificates are obtained
 * from an authority. */
#define OPTIONS_ACME_OFF 0
#define OPTIONS_ACME_ON 1

#define OPTIONS_LINK_OFF 0
#define OPTIONS_LINK_AUTO UINT64_MAX

struct managed_certificate;

/* Whether the kernel may encrypt TLS, and for which connections HTTP/2 is
 * spoken. */
enum options_tls_kernel { OPTIONS_TLS_KERNEL_AUTO, OPTIONS_TLS_KERNEL_OFF };
enum options_http2 { OPTIONS_HTTP2_TLS, OPTIONS_HTTP2_ALL, OPTIONS_HTTP2_OFF };

/* Whether the Server Statistic Report is printed at exit. */
enum options_report {
    OPTIONS_REPORT_OFF,
    OPTIONS_REPORT_AUTO, /* printed if standard error is a terminal */
    OPTIONS_REPORT_ALWAYS
};

/* How trusted proxies name the client's address. */
enum options_client {
    OPTIONS_CLIENT_PEER, /* no field is read: the peer is the client */
    OPTIONS_CLIENT_X_FORWARDED_FOR,
    OPTIONS_CLIENT_FORWARDED,
    OPTIONS_CLIENT_PROXY_PROTOCOL
};

/* The origin of a value: a line of the files (config_line.h) if above 0, or one
 * of these constants. */
enum options_origin { ORIGIN_COMMAND_LINE = -1, ORIGIN_DEFAULT = 0 };

/* The origins of a site's or location's values. */
struct option_origins {
    int line;  /* where the section begins */
    int *rows; /* one origin per row; ORIGIN_DEFAULT: not set here */
    int hosts; /* origin of a site's hosts */
    struct option_origins *locations; /* origins of its locations, in order */
};

struct options {
    uint64_t port;
    const char *bind;             /* address to listen at; NULL: all */
    struct texts listen;          /* if empty, `port` and `bind` count */
    const char *https_told;       /* a port, or names; NULL: HTTPS is off */
    uint64_t https;               /* port of --https, or OPTIONS_HTTPS_OFF */
    struct texts https_names;     /* the names in https_told */
    const char *https_folder;     /* local authority's folder, or NULL */
    uint64_t tls_profile;         /* enum tls_profile */
    uint64_t tls_kernel;          /* enum options_tls_kernel */
    uint64_t http2;               /* enum options_http2 */
    const char *ticket_file;      /* file of keys; NULL: keys are made */
    uint64_t redirect_port;       /* port in redirects; 0: the listener's */
    const char *state_directory;  /* a folder; NULL: see state_folder.h */
    struct texts acme_directory;  /* URLs of authorities, in order */
    const char *acme_email;       /* contact address; NULL: none is given */
    const char *acme_ca;          /* file of authorities; NULL: the system's */
    struct texts acme_challenge;  /* if empty, the listeners decide */
    const char *acme_profile;     /* a profile; NULL: authority chooses */
    const char *acme_eab_id;      /* name of an existing account */
    const char *acme_eab_key;     /* file with the account's secret */
    const char *acme_dns_command; /* a command; NULL: there is none */
    uint64_t acme_retry_ms;
    uint64_t acme_start; /* 1: the server starts sprintd-acme */
    uint64_t acme_key;   /* enum acme_key_kind */
    /* Folder of sprintd-acme's files, as it was configured; or NULL. */
    const char *acme_folder_told;
    /* The same folder, as it is used; NULL if no certificate is managed. */
    const char *acme_folder;
    struct managed_certificate *managed; /* managed.h */
    size_t managed_count;
    struct texts local_names; /* names that no authority certifies */
    uint64_t workers;         /* 0: one per CPU of the affinity mask */
    uint64_t schedule;        /* enum sched_policy */
    uint64_t starvation_bound;
    uint64_t starvation_factor;
    uint64_t link_rate; /* bits per second, or OPTIONS_LINK_* */
    uint64_t chunk_bytes;
    uint64_t send_method; /* enum send_method */
    uint64_t compress_threads;
    uint64_t compress_streams;
    uint64_t dictionary_versions;
    const char *dictionary_folder; /* NULL: no dictionaries are kept */
    uint64_t cache_bytes;
    uint64_t cache_entries;
    uint64_t cache_policy;            /* enum evict_policy */
    uint64_t connections_max;         /* 0: as many as descriptors allow */
    uint64_t address_connections_max; /* 0: connections_max / 4 */
    uint64_t requests_max;
    uint64_t keepalive_ms;
    uint64_t header_ms;
    uint64_t body_ms;
    uint64_t send_ms;
    uint64_t send_rate_min;
    uint64_t drain_ms;
    struct bytes status; /* prefix without a slash at its end; empty: off */
    struct cidrs status_allow;
    struct texts status_host; /* names of this machine, for `status` */
    const char *access_log;
    const char *log_format;
    uint64_t request_id;   /* 1: make and show X-Request-Id */
    uint64_t log_overflow; /* enum log_overflow */
    uint64_t log_level;    /* enum log_level */
    uint64_t report;       /* enum options_report */
    bool hides_server;
    bool server_timing;
    bool profile;
    bool daemon;
    const char *pid_file;
    const char *user;
    const char *group;
    const char *control; /* a socket; NULL: a default (server.c) */
    uint64_t sandbox;    /* enum sandbox_mode */
    bool wants_help;
    bool wants_version;
    bool wants_test;
    bool wants_dump;
    struct texts kv;          /* "PREFIX=FOLDER", "PREFIX=URL" */
    struct texts kv_compress; /* prefixes of stores */
    const char *kv_sync;
    uint64_t kv_value_bytes_max;
    uint64_t kv_bytes_max;
    uint64_t kv_memory_bytes; /* 0: a share of the machine's memory */
    uint64_t kv_watchers_max; /* watchers per store and worker */
    uint64_t kv_cache_bytes;
    uint64_t kv_cache_policy; /* enum evict_policy */
    uint64_t kv_lock_groups;
    struct {
        const char *ca;              /* file of authorities; NULL: system's */
        const char *certificate;     /* file to show; NULL: none */
        const char *certificate_key; /* file; NULL: the certificate's */
    } kv_tls;
    const char *kv_token;
    bool kv_open_writes;
    bool kv_read_only;
    bool kv_require_match;
    const char *proxy_balance;    /* proxy_rule.h */
    uint64_t proxy_host;          /* enum proxy_host */
    uint64_t proxy_encoded_slash; /* enum proxy_slash */
    uint64_t proxy_buffer_bytes;
    uint64_t proxy_request_bytes; /* bytes held before a server is asked */
    uint64_t proxy_redirect;      /* whether Location etc. are rewritten */
    bool proxy_intercept_errors;
    uint64_t proxy_traceparent;            /* enum proxy_trace */
    uint64_t proxy_splice;                 /* whether bodies are spliced */
    const char *proxy_tls_ca;              /* authorities; NULL: system's */
    const char *proxy_tls_certificate;     /* file to show; NULL: none */
    const char *proxy_tls_certificate_key; /* file; NULL: the certificate's */
    const char *proxy_tls_name;            /* NULL: each server's own name */
    /* Whether the certificate of a client is passed on to servers. */
    uint64_t proxy_tls_client;
    uint64_t proxy_tls_verify; /* whether servers are verified */
    uint64_t proxy_connect_ms;
    uint64_t proxy_reply_ms;
    uint64_t proxy_idle_ms;
    uint64_t proxy_tunnel_ms;
    uint64_t proxy_idle_max; /* idle connections per worker and server */
    uint64_t proxy_keepalive_ms;
    uint64_t proxy_requests_max; /* requests per connection; 0: no limit */
    uint64_t proxy_retries;
    uint64_t proxy_fails; /* failures that eject; 0: none do */
    uint64_t proxy_fail_window_ms;
    uint64_t proxy_eject_ms;
    uint64_t proxy_eject_max_ms;
    uint64_t proxy_slow_start_ms;
    const char *proxy_probe; /* NULL: no server is probed */
    uint64_t proxy_probe_interval_ms;
    uint64_t proxy_probe_ms;
    const char *proxy_probe_status; /* good statuses, like "200-399" */
    uint64_t proxy_probe_rise;
    uint64_t proxy_probe_fall;
    const char *proxy_name;
    const char *proxy_cache; /* "memory" or a folder; NULL: no cache */
    uint64_t proxy_cache_bytes;
    uint64_t proxy_cache_object_bytes;
    const char *proxy_cache_token;
    uint64_t proxy_cache_policy; /* enum evict_policy */
    struct cidrs trusted_proxies;
    uint64_t client_address;          /* enum options_client */
    const char *config;               /* the file read first; NULL: none */
    struct texts files;               /* `config` and all files it includes */
    struct texts include_folders;     /* where included files may appear */
    struct texts include_ways;        /* paths that new files may have */
    struct location_options location; /* values at the top, for all sites */
    struct site_options *sites;       /* NULL: only `location` applies */
    size_t site_count;
    /* The origins of the values at the top level. */
    struct option_origins origins;
    /* The origins of the values of `sites`, in the same order. */
    struct option_origins *site_origins;
    struct arena arena;
};

static inline void options_fini(struct options *options)
{
    arena_fini(&options->arena);
}

#endif
