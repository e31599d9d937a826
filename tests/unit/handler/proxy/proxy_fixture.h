/*
 * proxy_fixture - a proxy between a client and a server that the test plays:
 * all in one thread, over real sockets.
 */
#ifndef UNIT_PROXY_FIXTURE_H
#define UNIT_PROXY_FIXTURE_H

#include "unit/engine/conn_fixture.h"

#include "handler/proxy/proxy_priv.h"

extern int listener;
extern int served; /* the connection that came last */
extern char seen[1 << 20];
extern size_t seen_len;
extern struct proxy_options options;
extern struct upstream_endpoint server_place;
extern struct balance_server_shared server_shared;
extern struct upstream_counts server_counts;
extern struct pipes pipes;

/* As options say. */
int start_proxy(void);

void stop_proxy(void);
int set_up_proxy(void **state);
int tear_down_proxy(void **state);

/* --- The server behind --------------------------------------------------- */

/* Turns, until there is something from the proxy. What has come since the last
 * answer. */
const char *hear(void);

void say_bytes(const char *text, size_t len);
void say(const char *text);
void hang_up(void);

/* What has come to the client after some turns. */
const char *await(struct client *client);

/* As who crashes does. */
void reset(void);

/* Time goes by, and the proxy's limits are looked at. */
void pass_there(uint64_t ms);

void forget(struct client *client);

#define OK(fields, body) "HTTP/1.1 200 OK\r\n" fields "\r\n" body

#endif
