/*
 * resolver_place - a resolver, the name server it asks, and what they say.
 *
 * The test's clock stands until it is moved; c-ares has its own, which runs.
 */
#ifndef UNIT_RESOLVER_PLACE_H
#define UNIT_RESOLVER_PLACE_H

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../place.h"
#include "dns_server.h"
#include "io/resolver.h"

/* Nothing is lost on loopback: only who waits for a time-out makes it short. */
enum { TRY_MS = 20 * 1000, SHORT_TRY_MS = 20 };
enum { BEGIN_MS = 1000000, PORT = 8080, PATIENCE_S = 60 };

static struct ev_loop *loop;
static struct now now;
static struct place place;
static struct dns_server server;
static struct resolver_options options;
static struct resolver *resolver;
static struct resolver_name *name;
static unsigned told; /* how often */
static unsigned fds_before;

/* What the server says of every name. IPv4 addresses are 10.0.x.y, IPv6
 * fd00::x:y, numbered from first, turned around by turn. */
static struct zone {
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
static ev_timer *timer;

void __real_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer);
void __wrap_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer);
void __wrap_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer)
{
    timer = its_timer;
    __real_ev_timer_again(its_loop, its_timer);
}

/* Moves the clock, and has the timer look at it. */
static inline void pass_ms(uint64_t ms)
{
    now.mono_ms += ms;
    assert_non_null(timer);
    ev_invoke(loop, timer, EV_TIMER);
}

static inline void give_up(struct ev_loop *its_loop, ev_timer *its_timer,
                           int events)
{
    (void)its_loop;
    (void)its_timer;
    (void)events;
    fail_msg("the loop has waited for %d s", PATIENCE_S);
}

#define AWAIT(condition)                                 \
    do {                                                 \
        ev_timer guard_;                                 \
                                                         \
        ev_timer_init(&guard_, give_up, PATIENCE_S, 0.); \
        ev_timer_start(loop, &guard_);                   \
        while (!(condition))                             \
            ev_run(loop, EVRUN_ONCE);                    \
        ev_timer_stop(loop, &guard_);                    \
    } while (0)

/* --- The server's answers ------------------------------------------------- */

static inline void make_octets(uint8_t octets[16], bool is_ipv6,
                               unsigned number)
{
    memset(octets, 0, 16);
    octets[0] = is_ipv6 ? 0xFD : 10;
    octets[is_ipv6 ? 14 : 2] = (uint8_t)(number >> 8);
    octets[is_ipv6 ? 15 : 3] = (uint8_t)number;
}

static inline void answer_by_zone(const struct dns_question *question,
                                  struct dns_message *message)
{
    bool is_ipv6 = question->type == DNS_AAAA;
    unsigned count = is_ipv6 ? zone.ipv6_count : zone.ipv4_count;
    unsigned owner = DNS_HEAD_BYTES;
    uint8_t octets[16];

    snprintf(zone.last_name, sizeof(zone.last_name), "%s", question->name);
    if (zone.is_silent)
        return;
    dns_begin(message, question, zone.rcode);
    if (zone.is_truncated && !question->is_tcp) {
        dns_truncate(message);
        return;
    }
    if (zone.cname_ttl > 0)
        owner = dns_put_record(message, owner, DNS_CNAME, zone.cname_ttl,
                               "\005other\004test", 12);
    for (unsigned i = 0; i < count; i++) {
        make_octets(octets, is_ipv6, zone.first + (i + zone.turn) % count);
        dns_put_record(message, owner, question->type, zone.ttl, octets,
                       is_ipv6 ? 16 : 4);
    }
}

/* --- Set-up --------------------------------------------------------------- */

static inline void on_change(void *context, struct resolver_name *its_name)
{
    assert_ptr_equal(context, &zone);
    assert_int_not_equal(resolver_name_state(its_name), RESOLVER_ASKING);
    told++;
}

/* The machine's own resolv.conf is left out of it. */
static inline int set_up(void **state)
{
    static char resolv_conf[128];

    (void)state;
    zone = (struct zone){.ipv4_count = 1, .first = 1, .ttl = 60};
    now.mono_ms = BEGIN_MS;
    told = 0;
    name = NULL;
    timer = NULL;
    resolver = NULL;
    if (place_open(&place) != 0 ||
        place_write(&place, "resolv.conf", "nameserver 127.0.0.1\n") != 0)
        return -1;
    snprintf(resolv_conf, sizeof(resolv_conf), "%s",
             place_path(&place, "resolv.conf"));
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!loop || dns_open(&server, loop) != 0)
        return -1;
    server.answer = answer_by_zone;
    options = (struct resolver_options){.loop = loop,
                                        .now = &now,
                                        .servers = server.text,
                                        .resolv_conf = resolv_conf,
                                        .try_ms = TRY_MS};
    ev_run(loop, EVRUN_NOWAIT); /* opens what it keeps open */
    fds_before = place_count_fds();
    return resolver_create(&resolver, &options);
}

/* Nothing is left open by any test. */
static inline int tear_down(void **state)
{
    bool is_tidy;

    (void)state;
    resolver_destroy(resolver);
    dns_close_conn(&server);
    is_tidy = place_count_fds() <= fds_before;
    dns_close(&server);
    ev_loop_destroy(loop);
    return place_close(&place) == 0 && is_tidy ? 0 : -1;
}

/* Another resolver, made of options. */
static inline void create_anew(void)
{
    resolver_destroy(resolver);
    resolver = NULL;
    assert_int_equal(resolver_create(&resolver, &options), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* --- Looking -------------------------------------------------------------- */

static inline void open_name(const char *host)
{
    assert_int_equal(resolver_name_open(&name, resolver, bytes_of(host), PORT,
                                        on_change, &zone),
                     0);
}

/* Opens it and waits until its first look-up is over. */
static inline void find_name(const char *host)
{
    open_name(host);
    AWAIT(resolver_name_state(name) != RESOLVER_ASKING);
}

/* Goes to when it is to be looked up again, and waits until that is done. */
static inline void find_again(void)
{
    pass_ms(resolver_name_ends_ms(name) - now.mono_ms);
    AWAIT(resolver_name_ends_ms(name) > now.mono_ms);
}

static inline size_t count_of(const struct resolver_name *of)
{
    size_t count;

    resolver_name_addresses(of, &count);
    return count;
}

/* "fd00::1 10.0.0.1", with all ports looked at. */
static inline const char *texts_of(const struct resolver_name *of)
{
    static char texts[RESOLVER_ADDRESSES_MAX * (ADDRESS_TEXT_MAX + 1)];
    size_t count;
    const struct address *addresses = resolver_name_addresses(of, &count);
    size_t len = 0;

    texts[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(addresses[i].port, PORT);
        if (i > 0)
            texts[len++] = ' ';
        len += address_format(&addresses[i], texts + len);
    }
    return texts;
}

#endif
