/* link: -Wl,--wrap=ev_timer_again */
#include "io/resolver.h"

#include "base/log.h"
#include "unit/io/resolver_fixture.h"

/* --- Without network ------------------------------------------------------ */

TEST(an_address_is_there_at_once_and_stays)
{
    static const char *const texts[] = {"192.0.2.7", "2001:db8::7", "0.0.0.0"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        open_name(texts[i]);
        assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
        assert_string_equal(texts_of(name), texts[i]);
        assert_int_equal(resolver_name_ends_ms(name), 0);
        assert_null(resolver_name_why(name));
    }
    assert_null(timer);
    assert_int_equal(server.asked, 0);
}

TEST(localhost_is_there_at_once)
{
    static const char *const texts[] = {"localhost", "LocalHost"};

    for (size_t i = 0; i < 2; i++) {
        open_name(texts[i]);
        assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
        if (strcmp(texts_of(name), "::1 127.0.0.1") != 0 &&
            strcmp(texts_of(name), "127.0.0.1") != 0)
            fail_msg("%s", texts_of(name));
        assert_int_equal(resolver_name_ends_ms(name),
                         BEGIN_MS + RESOLVER_HOSTS_TTL_MS);
    }
    pass_ms(RESOLVER_HOSTS_TTL_MS);
    assert_int_equal(resolver_name_ends_ms(name),
                     BEGIN_MS + 2 * RESOLVER_HOSTS_TTL_MS);
    assert_int_equal(told, 0);
    assert_int_equal(server.asked, 0);
}

/* --- Answers -------------------------------------------------------------- */

TEST(ipv6_and_ipv4_take_turns)
{
    zone.ipv4_count = 3;
    zone.ipv6_count = 2;
    open_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_ASKING);
    assert_int_equal(count_of(name), 0);
    assert_int_equal(told, 0);
    AWAIT(told > 0);
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
    assert_string_equal(texts_of(name),
                        "fd00::1 10.0.0.1 fd00::2 10.0.0.2 10.0.0.3");
    assert_int_equal(told, 1);
    assert_int_equal(server.asked, 2);
    assert_string_equal(zone.last_name, "www.test");
}

TEST(one_family_is_enough)
{
    find_name("four.test");
    assert_string_equal(texts_of(name), "10.0.0.1");
    zone.ipv4_count = 0;
    zone.ipv6_count = 1;
    find_name("six.test");
    assert_string_equal(texts_of(name), "fd00::1");
}

TEST(a_name_is_looked_up_again_when_its_ttl_is_over)
{
    static const struct {
        uint32_t ttl_s;
        uint32_t cname_ttl_s;
        uint64_t ends_ms;
    } cases[] = {
        {60, 0, 60000},
        {60, 7, 7000},
        {7, 60, 7000},
        {0, 0, RESOLVER_TTL_MIN_MS},
        {0x80000000, 0, RESOLVER_TTL_MIN_MS},
        {0xFFFFFFFF, 0, RESOLVER_TTL_MIN_MS},
        {60, 0x80000000, RESOLVER_TTL_MIN_MS},
        {3600, 0, RESOLVER_TTL_MAX_MS},
        {3601, 0, RESOLVER_TTL_MAX_MS},
        {0x7FFFFFFF, 0x7FFFFFFF, RESOLVER_TTL_MAX_MS},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        zone.ttl = cases[i].ttl_s;
        zone.cname_ttl = cases[i].cname_ttl_s;
        find_name("www.test");
        assert_string_equal(texts_of(name), "10.0.0.1");
        assert_int_equal(resolver_name_ends_ms(name) - now.mono_ms,
                         cases[i].ends_ms);
        server.asked = 0;
        pass_ms(cases[i].ends_ms - 1);
        assert_int_equal(resolver_name_ends_ms(name) - now.mono_ms, 1);
        find_again();
        assert_int_equal(server.asked, 2);
        resolver_name_close(name);
    }
}

TEST(a_list_turned_around_is_no_news)
{
    zone.ipv4_count = 3;
    zone.ipv6_count = 3;
    find_name("www.test");
    for (zone.turn = 1; zone.turn <= 3; zone.turn++)
        find_again();
    assert_int_equal(told, 1);
    assert_string_equal(texts_of(name),
                        "fd00::1 10.0.0.1 fd00::2 10.0.0.2 fd00::3 10.0.0.3");
}

TEST(other_addresses_are_news)
{
    zone.ipv4_count = 2;
    find_name("www.test");
    zone.ipv4_count = 3;
    find_again();
    assert_int_equal(told, 2);
    assert_string_equal(texts_of(name), "10.0.0.1 10.0.0.2 10.0.0.3");
    zone.first = 2;
    zone.ipv4_count = 2;
    find_again();
    assert_int_equal(told, 3);
    assert_string_equal(texts_of(name), "10.0.0.2 10.0.0.3");
}

/* By UDP, in 512 bytes, there would be room for 30. */
TEST(a_hundred_addresses_come_by_tcp_and_some_stay)
{
    char before[1024];

    zone.is_truncated = true;
    zone.ipv4_count = 100;
    zone.ipv6_count = 100;
    find_name("www.test");
    assert_int_equal(server.asked, 2);
    assert_int_equal(server.asked_tcp, 2);
    assert_int_equal(count_of(name), RESOLVER_ADDRESSES_MAX);
    snprintf(before, sizeof(before), "%s", texts_of(name));
    zone.turn = 50;
    find_again();
    assert_string_equal(texts_of(name), before);
    assert_int_equal(told, 1);
}

TEST(resolv_conf_says_where_to_search)
{
    assert_int_equal(place_write(&place, "resolv.conf",
                                 "nameserver 127.0.0.1\nsearch corp.test\n"),
                     0);
    create_anew();
    find_name("db");
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
    assert_string_equal(zone.last_name, "db.corp.test");
}

TEST(the_next_server_is_asked_when_one_is_not_there)
{
    struct dns_server gone;
    char servers[80];

    assert_int_equal(dns_open(&gone, loop), 0);
    dns_close(&gone);
    snprintf(servers, sizeof(servers), "%s,%s", gone.text, server.text);
    options.servers = servers;
    create_anew();
    find_name("www.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
}

/* --- Many ----------------------------------------------------------------- */

enum { MANY = 60 };

static struct resolver_name *many[MANY];

static void open_many(void)
{
    char host[32];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(host, sizeof(host), "n%u.test", i);
        open_name(host);
        many[i] = name;
    }
    AWAIT(told == MANY);
}

static unsigned count_asking(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < MANY; i++)
        count += resolver_name_ends_ms(many[i]) == 0;
    return count;
}

TEST(those_due_together_are_asked_for_in_several_turns)
{
    open_many();
    assert_int_equal(count_asking(), 0);
    server.asked = 0;
    pass_ms(60000);
    assert_in_range(count_asking(), 1, MANY / 2);
    AWAIT(server.asked >= 2 * MANY && count_asking() == 0);
    assert_int_equal(told, MANY);
}

TEST(there_are_so_many_names_and_no_more)
{
    static struct resolver_name *names[RESOLVER_NAMES_MAX];

    for (size_t i = 0; i < RESOLVER_NAMES_MAX; i++)
        assert_int_equal(resolver_name_open(&names[i], resolver,
                                            BYTES("192.0.2.1"), PORT, on_change,
                                            &zone),
                         0);
    assert_int_equal(resolver_name_open(&name, resolver, BYTES("192.0.2.1"),
                                        PORT, on_change, &zone),
                     -ENOSPC);
    resolver_name_close(names[7]);
    open_name("192.0.2.1");
}

/* --- Closing -------------------------------------------------------------- */

TEST(what_is_closed_under_way_is_never_told)
{
    struct resolver_name *other;

    open_name("gone.test");
    other = name;
    open_name("www.test");
    resolver_name_close(other);
    AWAIT(told > 0);
    AWAIT(server.asked == 4);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(told, 1);
    resolver_name_close(NULL);
}

static void close_all(void *context, struct resolver_name *its_name)
{
    (void)context;
    told++;
    for (unsigned i = 0; i < MANY; i++) {
        if (many[i] == its_name)
            told += 1000;
        resolver_name_close(many[i]);
        many[i] = NULL;
    }
}

TEST(who_is_told_may_close_any_name)
{
    zone.is_silent = true;
    options.try_ms = SHORT_TRY_MS;
    create_anew();
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(resolver_name_open(&many[i], resolver,
                                            BYTES("www.test"), PORT, close_all,
                                            NULL),
                         0);
    AWAIT(told > 0);
    assert_int_equal(told, 1001);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(told, 1001);
}

static void open_another(void *context, struct resolver_name *its_name)
{
    (void)context;
    (void)its_name;
    open_name("two.test");
}

TEST(who_is_told_may_open_a_name)
{
    struct resolver_name *first;

    assert_int_equal(resolver_name_open(&first, resolver, BYTES("one.test"),
                                        PORT, open_another, NULL),
                     0);
    AWAIT(told == 1);
    assert_string_equal(zone.last_name, "two.test");
    assert_int_equal(resolver_name_state(name), RESOLVER_KNOWN);
}

TEST(destroy_ends_what_is_under_way)
{
    zone.is_silent = true;
    open_name("one.test");
    resolver_name_close(name);
    open_name("two.test");
    AWAIT(server.asked >= 4);
    resolver_destroy(resolver);
    resolver = NULL;
    assert_int_equal(place_count_fds(), fds_before);
    assert_int_equal(told, 0);
    dns_close(&server);
    assert_int_equal(ev_run(loop, 0), 0); /* nobody waits for anything */
    resolver_destroy(NULL);
}

TEST(between_look_ups_no_socket_is_open)
{
    zone.is_truncated = true;
    find_name("www.test");
    dns_close_conn(&server);
    assert_int_equal(place_count_fds(), fds_before);
}

static int quieten(void **state)
{
    (void)state;
    log_set_lightest(LOG_LEVEL_ERROR);
    return 0;
}

SUITE(.begin = quieten, .each_begin = set_up, .each_end = tear_down);
