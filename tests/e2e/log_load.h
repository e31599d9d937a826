/*
 * log_load - numbered requests of several clients, and their lines in the
 * access log: each must be whole, and there once.
 *
 * The site must have a file "canary"; the log must be in Combined format.
 *
 * Thread: the test's.
 */
#ifndef E2E_LOG_LOAD_H
#define E2E_LOG_LOAD_H

#include "client.h"

enum {
    LOAD_CLIENTS = 8,
    LOAD_VOLLEY = 16, /* requests of a client that are under way at once */
    LOAD_TURN = LOAD_CLIENTS * LOAD_VOLLEY,
    LOAD_REQUESTS_MAX = 65536
};

struct load {
    struct client *clients[LOAD_CLIENTS];
    unsigned sent;                /* requests; they are numbered from 0 */
    unsigned answered;            /* of them, with 200 */
    bool seen[LOAD_REQUESTS_MAX]; /* of those sent, in the log */
};

/* Connects the clients; freed after the test. */
struct load *load_open(const struct server *server);
void load_send(struct load *load);
void load_receive(struct load *load);
void load_turn(struct load *load); /* both */

/* How many lines text has. */
unsigned load_count(struct load *load, const char *text);

/* A path that nothing has yet, in folder(). */
char *log_new_path(void);

/* How many lines the server has said it lost in all. */
unsigned log_lost(const struct server *server);

/* Whether, and how often, it said so on standard error. */
bool server_says(const struct server *server, const char *part);
unsigned server_says_times(const struct server *server, const char *part);

#endif
