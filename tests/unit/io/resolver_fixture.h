/*
 * resolver_fixture - a resolver, the name server it asks, and what they say.
 *
 * The test's clock stands until it is moved; c-ares has its own, which runs.
 */
#ifndef UNIT_RESOLVER_FIXTURE_H
#define UNIT_RESOLVER_FIXTURE_H

#include "suite.h"
#include "unit/await.h"
#include "unit/io/dns_server.h"
#include "unit/place.h"

/* Nothing is lost on loopback: only who waits for a time-out makes it short. */
enum { TRY_MS = 20 * 1000, SHORT_TRY_MS = 20 };

enum { BEGIN_MS = 1000000, PORT = 8080 };

extern struct ev_loop *loop;
extern struct now now;
extern struct place place;
extern struct dns_server server;
extern struct resolver_options options;
extern struct resolver *resolver;
extern struct resolver_name *name;
extern unsigned told; /* how often */
extern unsigned fds_before;

/* What the server says of every name. IPv4 addresses are 10.0.x.y, IPv6
 * fd00::x:y, numbered from first, turned around by turn. */
extern struct zone {
    unsigned ipv4_count;
    unsigned ipv6_count;
    unsigned first;
    unsigned turn;
    uint32_t ttl;
    uint32_t cname_ttl; /* 0: no CNAME */
    int rcode;
    bool is_silent;
    bool is_truncated;
    char last_name[256]; /* asked for */
} zone;

/* --- The resolver's timer ------------------------------------------------- */

/* Taken from `link: -Wl,--wrap=ev_timer_again`. */
extern ev_timer *timer;

/* Moves the clock, and has the timer look at it. */
void pass_ms(uint64_t ms);

/* --- The server's answers ------------------------------------------------- */

void answer_by_zone(const struct dns_question *question,
                    struct dns_message *message);

/* --- Set-up --------------------------------------------------------------- */

void on_change(void *context, struct resolver_name *its_name);

/* The machine's own resolv.conf is left out of it. */
int set_up(void **state);

/* Nothing is left open by any test. */
int tear_down(void **state);

/* Another resolver, made of options. */
void create_anew(void);

/* --- Looking -------------------------------------------------------------- */

void open_name(const char *host);

/* Opens it and waits until its first look-up is over. */
void find_name(const char *host);

/* Goes to when it is to be looked up again, and waits until that is done. */
void find_again(void);

size_t count_of(const struct resolver_name *of);

/* "fd00::1 10.0.0.1", with all ports looked at. */
const char *texts_of(const struct resolver_name *of);

#endif
