/*
 * server_priv - what the files of the server share: server.c (start and end),
 * privileges.c (the rights that it drops before it serves), worker_pool.c (its
 * threads), renewal.c (certificates and ticket keys), main_loop.c (what it
 * minds while it serves), commands.c (what operators ask for) and reload.c
 * (another configuration).
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

/* What it is about to do, by signals and by operators. */
enum shutdown_mode {
    SERVER_SERVES,
    SERVER_LEAVES, /* a successor has taken over */
    SERVER_STOPS,  /* what is under way has --drain-timeout */
    SERVER_QUITS   /* what is under way ends in its own time */
};

/* The state of renewal.c, all zero at first. */
struct renewal {
    uint64_t look_ms; /* when files are looked at next */
    uint64_t seen;    /* how the files were when they were last looked at */
    /* How the files were when they were last read, perhaps in vain. */
    uint64_t tried;
    uint64_t https_ms; /* when the file of --https was renewed last */
    int64_t warn_at_s; /* when what ends soon is told next */
    bool has_told;     /* that some cannot be read again */
};

struct server {
    struct link_shared link;  /* first: it is aligned to cache lines */
    struct generation *first; /* stays: it has what cannot change */
    struct generation *generation;
    const struct options *options; /* the first one's */
    char **argv;                   /* read anew by a reload */
    int argc;
    int drained_fd; /* counts workers that have ended */
    sem_t changed;  /* perhaps another worker has taken a change */
    struct limits limits;
    struct listener listeners[OPTIONS_LISTEN_MAX];
    size_t listener_count;
    struct mime *mime;
    struct access_log access_log;
    struct statistics statistics;
    struct spare_memory spare_memory;

    struct worker **workers;
    size_t worker_count;                   /* created */
    size_t started;                        /* workers that run */
    struct address_count *addresses;       /* NULL: they are not counted */
    struct password_check *password_check; /* NULL: nobody has passwords */
    struct compressor *compressor;         /* NULL: nothing is compressed */
    struct dictionary_store *dictionaries; /* NULL: there are none */
    struct stores stores;
    struct cache_store
        *cache; /* NULL: nothing is kept of what proxies answer */
    struct kv_memory kv_bodies; /* of all workers, for all stores */
    struct kv_memory kv_values;
    struct acceptor *acceptor;
    size_t ended; /* workers that have, seen so far */

    int signal_fd;
    enum shutdown_mode shutdown_mode;
    uint64_t started_ms; /* monotonic */

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
    bool is_asked;          /* to end, when another process serves */
    bool is_patient;        /* what is under way ends in its own time */
    bool is_hurried;        /* asked to end again, while it did */
    bool is_activated;      /* systemd has opened the listeners */
    struct control *control;
    struct control_commands commands;
    struct watchdog *watchdog;
    struct sandbox sandbox;
};

/* --- privileges.c: dropping rights -------------------------------------- */

/* From here on files are used with the rights of --user, and with root's only
 * where that is safe (root_files.h). EX_OK, or a status after one line on
 * stderr. */
MUST_USE int privileges_begin(struct server *server);

/* Becomes --user for good, and enters the sandbox (confine/sandbox.h): no
 * rights are left but those that are needed to serve. EX_OK, or a status after
 * one line on stderr. */
MUST_USE int privileges_drop(struct server *server);

/* Whether the server would get no right back by an upgrade with these options:
 * the new program would read nothing that the server could change inside its
 * sandbox. False: after one line in errors. */
MUST_USE bool privileges_stay_dropped(const struct server *server,
                                      const struct options *options,
                                      FILE *errors);

/* --- worker_pool.c: workers and the acceptor ----------------------------- */

/* EX_OK, or a status after one line on stderr. */
MUST_USE int worker_pool_start(struct server *server);
void worker_pool_command(const struct server *server, unsigned commands);

/* Has all workers serve the generation from their next turn on, or none. 0 or
 * -errno. */
MUST_USE int worker_pool_change(struct server *server,
                                struct generation *generation);

/* Waits until all do so. False: one is at something that takes its time. */
MUST_USE bool worker_pool_await(struct server *server);

/* Ends the acceptor, so that nobody new comes in. */
void worker_pool_close_door(struct server *server);

/* Waits for all that was started, and frees it, but for the workers: what
 * they have counted can still be read. */
void worker_pool_join(struct server *server);
void worker_pool_free(struct server *server);

/* --- main_loop.c: what comes while it serves ----------------------------- */

/* EX_OK, or a status after one line on stderr. */
MUST_USE int main_loop_open_signals(struct server *server);

/* Runs until the server is to end, and then until all has ended. */
void main_loop_run(struct server *server);

/* Wishes it to end; the second time, at once. */
void main_loop_end(struct server *server, enum shutdown_mode shutdown_mode);

/* Begins to hand over to a new server. 0 or -errno, said in why. */
MUST_USE int main_loop_upgrade(struct server *server, struct buf *why);

/* --- commands.c ---------------------------------------------------------- */

extern const struct control_commands commands_of_server;

/* --- renewal.c: certificates and ticket keys that change ----------------- */

/* Reads certificates anew whose files have changed, rotates the keys of session
 * tickets, and warns of certificates that end soon. Returns in how many ms
 * there will be more to do. */
int renewal_tick(struct server *server, uint64_t now_ms);

/* Reads certificates anew whose files have changed, at once. */
void renewal_take_news(struct server *server);

/* --- reload.c ------------------------------------------------------------ */

/* Reads the configuration anew and serves by it; when it is faulty, all stays
 * as it is. text: what is wrong; or what has changed and takes no effect
 * yet. The log has it either way. */
bool reload(struct server *server, struct buf *text);

#endif
