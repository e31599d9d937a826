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

/* What the server does, or how it ends. */
enum shutdown_mode {
    SERVER_SERVES,
    SERVER_LEAVES, /* leaves the service to a successor */
    SERVER_STOPS,  /* drains until --drain-timeout */
    SERVER_QUITS   /* drains without a time limit */
};

/* The state of renewal.c, zeroed at first. */
struct renewal {
    uint64_t look_ms; /* next check of the files */
    uint64_t seen;    /* the files at their last check */
    /* The files at their last reading, even if that failed. */
    uint64_t tried;
    uint64_t again_ms; /* next try of files that could not be read */
    uint64_t pause_ms; /* between that and the last one */
    uint64_t https_ms; /* last renewal of the file of --https */
    int64_t warn_at_s; /* next warning of certificates that end soon */
    bool has_told;     /* logged that some cannot be read again */
};

struct server {
    struct link_shared link;  /* first: it is aligned to cache lines */
    struct generation *first; /* kept: it has what never changes */
    struct generation *generation;
    const struct options *options; /* those of `first` */
    char **argv;                   /* a reload reads it again */
    int argc;
    int drained_fd; /* an eventfd: counts ended workers */
    sem_t changed;  /* posted when a worker has taken a change */
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
    struct address_count *addresses;       /* NULL: not counted */
    struct password_check *password_check; /* NULL: there are no passwords */
    struct compressor *compressor;         /* NULL: nothing compresses */
    struct dictionary_store *dictionaries; /* NULL: no dictionaries */
    struct stores stores;
    struct cache_store *cache;  /* NULL: no proxy cache */
    struct kv_memory kv_bodies; /* all workers and stores together */
    struct kv_memory kv_values;
    struct acceptor *acceptor;
    size_t ended; /* workers that have ended */

    int signal_fd;
    enum shutdown_mode shutdown_mode;
    uint64_t started_ms; /* on the monotonic clock */

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
    char control_path[108]; /* "": none */
    bool is_asked;          /* told to end while leaving to a successor */
    bool is_patient;        /* drains without a time limit */
    bool is_hurried;        /* told a second time to end */
    bool is_activated;      /* systemd has opened the listeners */
    struct control *control;
    struct control_commands commands;
    struct watchdog *watchdog;
    struct sandbox sandbox;
};

/* --- privileges.c: dropping rights -------------------------------------- */

/* From here on files are used by the rights of --user, and by root's only where
 * that is safe (root_files.h). Returns EX_OK, or a status after one line on
 * stderr. */
MUST_USE int privileges_begin(struct server *server);

/* Becomes --user for good, and enters the sandbox (confine/sandbox.h): only the
 * rights needed to serve are left. Returns EX_OK, or a status after one line on
 * stderr. */
MUST_USE int privileges_drop(struct server *server);

/* Whether an upgrade with these options could give no right back: the new
 * program would read nothing that the confined server can change. False: after
 * one line in errors. */
MUST_USE bool privileges_stay_dropped(const struct server *server,
                                      const struct options *options,
                                      FILE *errors);

/* --- worker_pool.c: workers and the acceptor ----------------------------- */

/* Starts the threads. Returns EX_OK, or a status after one line on stderr. */
MUST_USE int worker_pool_start(struct server *server);
void worker_pool_command(const struct server *server, unsigned commands);

/* Makes all workers serve the generation from their next turn on, or none of
 * them. Returns 0 or -errno. */
MUST_USE int worker_pool_change(struct server *server,
                                struct generation *generation);

/* Waits until all workers serve the generation. False: one is busy for too
 * long. */
MUST_USE bool worker_pool_await(struct server *server);

/* How many workers had no memory for it, and serve as before. */
size_t worker_pool_count_refused(const struct server *server);

/* Ends the acceptor, so that no connections come in. */
void worker_pool_close_door(struct server *server);

/* Waits for all threads and frees them; workers stay, so that their counts can
 * still be read. */
void worker_pool_join(struct server *server);
void worker_pool_free(struct server *server);

/* --- main_loop.c: what comes while it serves ----------------------------- */

/* Opens signal_fd. Returns EX_OK, or a status after one line on stderr. */
MUST_USE int main_loop_open_signals(struct server *server);

/* Runs until the server must end, and then until all has ended. */
void main_loop_run(struct server *server);

/* Tells the server how to end; a second call ends it at once. */
void main_loop_end(struct server *server, enum shutdown_mode shutdown_mode);

/* Begins to hand over to a new server. Returns 0 or -errno, explained in
 * why. */
MUST_USE int main_loop_upgrade(struct server *server, struct buf *why);

/* --- commands.c ---------------------------------------------------------- */

extern const struct control_commands commands_of_server;

/* --- renewal.c: certificates and ticket keys that change ----------------- */

/* Reads changed certificates anew, rotates the keys of session tickets, and
 * warns of certificates that end soon. Returns the ms until the next call. */
int renewal_tick(struct server *server, uint64_t now_ms);

/* Reads changed certificates anew, at once. */
void renewal_take_news(struct server *server);

/* --- reload.c ------------------------------------------------------------ */

/* Reads the configuration anew and serves it; a faulty one changes nothing.
 * text: what is wrong, or which changes have no effect yet; both are logged,
 * too. */
bool reload(struct server *server, struct buf *text);

#endif
