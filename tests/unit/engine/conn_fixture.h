/*
 * conn_fixture - connections over socket pairs, with a real handler over a
 * temporary root and a clock that the test moves.
 */
#ifndef UNIT_CONN_FIXTURE_H
#define UNIT_CONN_FIXTURE_H

#include "engine/conn_set.h"
#include "engine/h1/h1_priv.h"

#include "handler/sites/sites.h"
#include "suite.h"
#include "unit/place.h"
#include "unit/says.h"

enum { LARGE_BYTES = 3 << 20, MIDDLE_BYTES = 60000, RECEIVED_MAX = 4 << 20 };

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

extern struct place place;
extern struct ev_loop *loop;
extern struct now now;
extern struct access_log_options log_options;
extern struct location_options location;
extern struct sites_options sites_options;
extern struct cidrs proxies;
extern struct link_shared link_shared;
extern struct stats stats;
extern struct conn_set set;
extern char large_bytes[LARGE_BYTES]; /* the other large ones begin so too */

int place_make_files(void);

/* The connections alone, anew. */
int conn_fixture_init_set(enum sched_policy policy);

/* Gives the set anew what it needs; between init and fini limits and the like
 * may be changed. */
int conn_fixture_init(enum sched_policy policy);

void conn_fixture_fini(void);
int set_up(void **state);
int tear_down(void **state);

/* --- Clients ------------------------------------------------------------- */

struct client {
    int fd;
    bool has_ended; /* the server closed, or at least its sending side */
    size_t len;
    char *text; /* all received so far, with a NUL behind */
};

/* From where they connect. */
extern struct address client_peer;

void client_open_with(struct client *client, const char *request);
void client_open(struct client *client);

/* Speaks HTTP/2 with prior knowledge: sends SETTINGS, and acknowledges those of
 * the server, which it takes. */
void client_open_http2(struct client *client);
void client_close(struct client *client);

/* The only client closes, and no connection is left. */
void client_leave(struct client *client);
void client_send(const struct client *client, const char *text);
void client_send_bytes(const struct client *client, const char *bytes,
                       size_t len);

/* Of a literal that may have NULs in it. */
#define CLIENT_SEND(client, literal) \
    client_send_bytes(client, literal, sizeof(literal) - 1)

/* Takes what has come, at most so much. Returns how much. */
size_t client_receive(struct client *client, size_t most);

/* A turn as a worker makes it. */
void turn(void);

/* Turns until nothing more comes to the client. */
void settle(struct client *client);

/* Forgets what was received, sends, and takes what comes. */
const char *talk(struct client *client, const char *request);

/* Time goes by, and the deadlines are looked at. */
void pass(uint64_t ms);

/* What the access log says; closing it writes what it has. */
const char *read_log(void);

/* --- What was received --------------------------------------------------- */

unsigned count_of(const char *text, const char *part);

/* One answer of that status whose body is the text. */
void assert_answer(const char *answer, unsigned status, const char *body);

/* The only connection there is. */
struct conn *only_conn(void);

struct h1 *only_h1(void);

#endif
