/*
 * client_model - a naive model of client_share, which a scheduler is held
 * against: V is computed as its definition says, by looking at every client
 * each time.
 *
 * It has the scheduler too, and what waits there. All is in bytes.
 */
#ifndef UNIT_ENGINE_CLIENT_MODEL_H
#define UNIT_ENGINE_CLIENT_MODEL_H

#include "engine/sched.h"
#include "unit/draw.h"

enum { MODEL_ITEMS = 120, MODEL_CLIENTS = 12 };

struct model_job {
    int client;
    uint64_t left; /* 0: it does not wait */
    uint64_t had;  /* of a stream */
    bool is_stream;
    bool is_away; /* its socket takes nothing for now */
};

struct model_client {
    double had;
    int waiting;      /* items */
    double since;     /* V when it began to wait */
    double first;     /* b */
    double sent;      /* since */
    double late_v;    /* V at a moment since, */
    double late_sent; /* and what had been sent then */
};

extern struct client_model {
    struct sched sched;
    struct sched_item items[MODEL_ITEMS];
    struct model_job jobs[MODEL_ITEMS];
    struct {
        double v;
        struct model_client of[MODEL_CLIENTS];
    } naive;
    double grace; /* of what the link carries */
    double ahead;
    int taken; /* whose place was taken last, and goes on where it was when it
                  is put back before anything else happens; -1: none */
} model;

/* Before and behind each test. */
int model_set_up(void **state);
int model_tear_down(void **state);

/* Begins anew, with these bounds of the scheduler, on a link of unknown rate.
 */
void model_use(uint64_t bound, uint64_t factor);

/* The link carries so many bytes a second. */
void model_use_rate(uint64_t rate);

/* A job of so many bytes comes, and waits. */
void model_arrive(int at, int client, uint64_t bytes, bool is_stream);

/* A job waits again, whose socket takes something again. */
void model_put(int at);

/* Sends a quantum of whoever is next; -1: nobody waits. Of so many one finds
 * that its socket takes no more; 0: none. */
int model_serve(uint64_t quantum, unsigned away_of);

/* The claims of client_share.h hold for every client. */
void model_check_bounds(double factor, double quantum);

/* All of a client have the level that its bytes allow, on top of their own. */
void model_check_level(int client);

#endif
