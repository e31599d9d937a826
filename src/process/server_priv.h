/*
 * server_priv - shared by the files of the server: server.c (start and end),
 * privileges.c (drops rights before serving), worker_pool.c (threads),
 * renewal.c (certificates and ticket keys), main_loop.c (events while serving),
 * commands.c (operators' commands) and reload.c (a new configuration).
 */
#ifndef PROCESS_SERVER_PRIV_H
#define PROCESS_SERVER_PRIV_H

#include <semaphore.h>

#include "confine/identity.h"
#include "confine/sandbox.h"
#include "process/acceptor.h"
#include "process/activation.h"
#include "process/companion/broker.h"
#include "process/companion/steward.h"
#include "process/control.h"
#include "process/generation.h"
#include "process/limits.h"
#include "process/notify.h"
#include "process/pid_file.h"
#include "process/proxy_cache.h"
#include "process/readiness.h"
#include "process/spare_memory.h"
#include "process/statistics.h"
#include "process/stores.h"
#include "process/stray_descriptors.h"
#include "process/upgrade.h"
#include "process/watchdog.h"

/* Whether the server serves, or how it ends. */
enum shutdown_mode {
    SERVER_SERVES,
    SERVER_LEAVES, /* leaves the service to a successor */
    SERVER_STOPS,  /* drains until --drain-timeout */
    SERVER_QUITS   /* drains without a time limit */
};

/* The state of renewal.c, zeroed at first. */
struct renewal {
    uint64_t look_ms; /* next check of the files */
    uint64_t seen;    /* state of the files at their last check */
    /* State of the files at the last reading, even if the reading failed. */
    uint64_t tried;
    uint64_t again_ms; /* next try to read unreadable files */
    uint64_t pause_ms; /* pause before that try, which grows */
    uint64_t https_ms; /* last try to renew the file of --https */
    int64_t warn_at_s; /* when to warn next of certificates that end soon */
    bool has_told;     /* a failure to read files again was logged */
};

struct server {
    struct link_shared link;  /* first: it is aligned to cache lines */
    struct generation *first; /* kept, since `options` points into it */
    struct generation *generation;
    const struct options *options; /* the options of `first` */
    /* the command line; a reload reads it again */
    char **argv;
    int argc;
    int drained_fd; /* an eventfd that counts ended workers */
    sem_t changed;  /* posted when a worker has applied a change */
    struct limits limits;
    struct listener listeners[OPTIONS_LISTEN_MAX];
    size_t listener_count;
    struct mime *mime;
    struct access_log access_log;
    struct statistics statistics;
    struct spare_memory spare_memory;

    struct worker **workers;
    size_t worker_count;                   /* workers created */
    size_t started;                        /* workers running */
    struct address_count *addresses;       /* NULL without counting */
    struct password_check *password_check; /* NULL without passwords */
    struct compressor *compressor;         /* NULL without compression */
    struct dictionary_store *dictionaries; /* NULL without dictionaries */
    struct stores stores;
    struct cache_store *cache;  /* NULL without a proxy cache */
    struct kv_memory kv_bodies; /* one limit for all workers and stores */
    struct kv_memory kv_values;
    struct acceptor *acceptor;
    size_t ended; /* workers that have ended */

    int signal_fd;
    enum shutdown_mode shutdown_mode;
    uint64_t started_ms; /* time of the start, on the monotonic clock */

    struct readiness readiness;
    struct upgrade upgrade;
    struct renewal renewal;
    unsigned reloads;
    struct notify notify;
    struct activation activation;
    struct identity identity;
    struct stray_descriptors stray_descriptors;
    struct broker broker;
    struct steward steward;
    struct pid_file pid_file;
    char control_path[108]; /* "" without a socket */
    bool is_asked;          /* was told to end while a successor takes over */
    bool is_patient;        /* drains without a time limit */
    bool is_hurried;        /* was told a second time to end */
    bool is_activated;      /* systemd has opened the listeners */
    struct control *control;
    struct control_commands commands;
    struct watchdog *watchdog;
    struct sandbox sandbox;
};

/* --- privileges.c: dropping rights -------------------------------------- */

/* Makes the process use files with the rights of --user from now on, and with
 * root's rights only where that is safe (root_files.h). Returns EX_OK, or a
 * status after one line on stderr. */
MUST_USE int privileges_begin(struct server *server);

/* Becomes the user of --user for good, and enters the sandbox
 * (confine/sandbox.h). Only the rights that are needed to serve are left.
 * Returns EX_OK, or a status after one line on stderr. */
MUST_USE int privileges_drop(struct server *server);

/* Returns true if an upgrade with these options is safe: it must give no rights
 * back to an attacker who has taken the confined server over. So the server
 * must not be able to change any file that the new program would read. Returns
 * false after writing one line to `errors`. */
MUST_USE bool privileges_stay_dropped(const struct server *server,
                                      const struct options *options,
                                      FILE *errors);

/* --- worker_pool.c: workers and the acceptor ----------------------------- */

/* Starts the threads. Returns EX_OK, or a status after one line on stderr. */
MUST_USE int worker_pool_start(struct server *server);
void worker_pool_command(const struct server *server, unsigned commands);

/* Makes all workers serve the generation from their next turn on. Returns 0, or
 * -errno if no worker will change. */
MUST_USE int worker_pool_change(struct server *server,
                                struct generation *generation);

/* Waits until all workers serve the generation. Returns false if a worker is
 * busy for too long. */
MUST_USE bool worker_pool_await(struct server *server);

/* Returns how many workers had no memory for the generation, and still serve
 * the previous generation. */
size_t worker_pool_count_refused(const struct server *server);

/* Ends the acceptor, so that no new connections are accepted. */
void worker_pool_close_door(struct server *server);

/* worker_pool_join() waits for the end of all threads. The workers' memory
 * stays until worker_pool_free(), so that their counts can still be read. */
void worker_pool_join(struct server *server);
void worker_pool_free(struct server *server);

/* --- main_loop.c: what comes while it serves ----------------------------- */

/* Opens signal_fd. Returns EX_OK, or a status after one line on stderr. */
MUST_USE int main_loop_open_signals(struct server *server);

/* Runs until the server must end, and then until all workers have ended. */
void main_loop_run(struct server *server);

/* Makes the server end in the given mode. A second call ends it at once. */
void main_loop_end(struct server *server, enum shutdown_mode shutdown_mode);

/* Begins an upgrade: hands over to a new server. Returns 0, or -errno after
 * writing an explanation to `why`. */
MUST_USE int main_loop_upgrade(struct server *server, struct buf *why);

/* --- commands.c ---------------------------------------------------------- */

extern const struct control_commands commands_of_server;

/* --- renewal.c: certificates and ticket keys that change ----------------- */

/* Reads changed certificates anew, rotates the keys of session tickets, and
 * warns of certificates that end soon. Returns the ms until the next call. */
int renewal_tick(struct server *server, uint64_t now_ms);

/* Reads changed certificates anew at once. To be called when sprintd-acme
 * reports a new certificate. */
void renewal_take_news(struct server *server);

/* --- reload.c ------------------------------------------------------------ */

/* Reads the configuration anew and serves it. Returns false if the
 * configuration is faulty; nothing changes then. `text` gets what is wrong, or
 * which changes have no effect yet; the same is logged. */
bool reload(struct server *server, struct buf *text);

#endif
