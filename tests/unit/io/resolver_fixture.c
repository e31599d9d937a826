#include "unit/io/resolver_fixture.h"

#include "io/resolver.h"
#include "wrap.h"

struct ev_loop *loop;
struct now now;
struct place place;
struct dns_server server;
struct resolver_options options;
struct resolver *resolver;
struct resolver_name *name;
unsigned told;
unsigned fds_before;
struct zone zone;

/* --- The resolver's timer ------------------------------------------------- */

ev_timer *timer;

WRAP(void, ev_timer_again, struct ev_loop *its_loop, ev_timer *its_timer)
{
    timer = its_timer;
    __real_ev_timer_again(its_loop, its_timer);
}

void pass_ms(uint64_t ms)
{
    now.mono_ms += ms;
    assert_non_null(timer);
    ev_invoke(loop, timer, EV_TIMER);
}

/* --- The server's answers ------------------------------------------------- */

static void make_octets(uint8_t octets[16], bool is_ipv6, unsigned number)
{
    memset(octets, 0, 16);
    octets[0] = is_ipv6 ? 0xFD : 10;
    octets[is_ipv6 ? 14 : 2] = (uint8_t)(number >> 8);
    octets[is_ipv6 ? 15 : 3] = (uint8_t)number;
}

void answer_by_zone(const struct dns_question *question,
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

void on_change(void *context, struct resolver_name *its_name)
{
    assert_ptr_equal(context, &zone);
    assert_int_not_equal(resolver_name_state(its_name), RESOLVER_ASKING);
    told++;
}

int set_up(void **state)
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

int tear_down(void **state)
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

void create_anew(void)
{
    resolver_destroy(resolver);
    resolver = NULL;
    assert_int_equal(resolver_create(&resolver, &options), 0);
}

/* --- Looking -------------------------------------------------------------- */

void open_name(const char *host)
{
    assert_int_equal(resolver_name_open(&name, resolver, bytes_of(host), PORT,
                                        on_change, &zone),
                     0);
}

void find_name(const char *host)
{
    open_name(host);
    AWAIT(resolver_name_state(name) != RESOLVER_ASKING);
}

void find_again(void)
{
    pass_ms(resolver_name_ends_ms(name) - now.mono_ms);
    AWAIT(resolver_name_ends_ms(name) > now.mono_ms);
}

size_t count_of(const struct resolver_name *of)
{
    size_t count;

    resolver_name_addresses(of, &count);
    return count;
}

const char *texts_of(const struct resolver_name *of)
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
