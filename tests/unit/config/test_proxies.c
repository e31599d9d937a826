#include "config/proxies.h"

#include "suite.h"

static struct options options;
static const struct forwarded_trust trust;
static struct proxies *proxies, *next;

static int set_up(void **state)
{
    (void)state;
    options = (struct options){.proxy_balance = "least-conn",
                               .proxy_name = "front",
                               .proxy_probe_status = "204",
                               .proxy_fails = 1,
                               .proxy_fail_window_ms = 1000,
                               .proxy_eject_ms = 5000,
                               .proxy_retries = 2};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    proxies_destroy(proxies);
    proxies_destroy(next);
    proxies = next = NULL;
    arena_fini(&options.arena);
    return 0;
}

static void tell(const char *text)
{
    assert_true(texts_add(&options.location.proxy, &options.arena, text));
}

static struct proxies *make(void)
{
    struct proxies *made = proxies_create(&options, &trust, NULL,
                                          &options.arena);

    assert_non_null(made);
    return made;
}

static const struct worker_proxy *list(size_t wanted)
{
    size_t count;
    const struct worker_proxy *items = proxies_list(proxies, &count);

    assert_int_equal(count, wanted);
    return items;
}

static struct stats_upstream row_of(const struct proxies *of, size_t number)
{
    const struct stats_upstreams *upstreams = proxies_upstreams(of);
    struct stats_upstream row;

    assert_true(number < upstreams->count);
    upstreams->read(upstreams->context, number, 1, &row);
    return row;
}

/* --- What workers get ---------------------------------------------------- */

TEST(without_any_there_is_nothing)
{
    struct proxy_told told;

    assert_null(proxies_check(&options, &told));
    proxies = make();
    (void)list(0);
    assert_int_equal(proxies_upstreams(proxies)->count, 0);
}

TEST(all_that_was_told_gets_there)
{
    const struct worker_proxy *item;

    options.proxy_host = PROXY_HOST_UPSTREAM;
    options.proxy_splice = true;
    options.proxy_probe = "/health";
    tell("/app=http://a:81/v1;weight=3,unix:/run/b:/v1;backup;max-conns=9");
    proxies = make();
    item = list(1);
    assert_true(bytes_eq(item->prefix, BYTES("/app")));
    assert_true(bytes_eq(item->options.relay.strip, BYTES("/app")));
    assert_true(bytes_eq(item->options.relay.replace, BYTES("/v1")));
    assert_true(bytes_eq(item->options.relay.pseudonym, BYTES("front")));
    assert_true(bytes_eq(item->options.relay.upgrade, BYTES("websocket")));
    assert_false(item->options.relay.keeps_host);
    assert_true(item->options.splices);
    assert_ptr_equal(item->options.relay.trust, &trust);
    assert_int_equal(item->options.upstream.balance.policy, BALANCE_LEAST_CONN);
    assert_int_equal(item->options.upstream.retries_max, 2);
    assert_int_equal(item->options.upstream.server_count, 2);
    assert_true(bytes_eq(item->options.upstream.endpoints[0].host, BYTES("a")));
    assert_int_equal(item->options.upstream.endpoints[0].port, 81);
    assert_null(item->options.upstream.endpoints[0].unix_path);
    assert_string_equal(item->options.upstream.endpoints[1].unix_path,
                        "/run/b");
    assert_int_equal(item->options.upstream.servers[0].weight, 3);
    assert_true(item->options.upstream.servers[1].is_backup);
    assert_int_equal(item->options.upstream.servers[1].conns_max, 9);
    assert_true(bytes_eq(item->probe.path, BYTES("/health")));
    assert_int_equal(item->probe.status_min, 204);
}

TEST(without_a_path_nothing_is_stripped)
{
    tell("/app=http://a");
    proxies = make();
    assert_int_equal(list(1)->options.relay.strip.len, 0);
    assert_int_equal(list(1)->options.relay.replace.len, 0);
}

TEST(an_ejection_never_lasts_less_than_the_first)
{
    options.proxy_eject_max_ms = 1;
    tell("/=http://a");
    proxies = make();
    assert_int_equal(list(1)->options.upstream.balance.eject_max_ms, 5000);
}

/* --- What is wrong with all of them -------------------------------------- */

static void check_refused(const char *which, const char *part)
{
    struct proxy_told told;
    const char *why = proxies_check(&options, &told);

    assert_non_null(why);
    assert_non_null(strstr(why, part));
    assert_string_equal(told.text, which);
}

TEST(a_prefix_has_one_owner)
{
    struct proxy_told told;

    tell("/a=http://a");
    tell("/a/b=http://a");
    assert_null(proxies_check(&options, &told));
    tell("/a/=http://b");
    check_refused("/a/=http://b", "taken");
    options.location.proxy.count = 2;
    options.status = BYTES("/a/b");
    check_refused("/a/b=http://a", "taken");
    options.status = BYTES("");
    assert_true(texts_add(&options.kv, &options.arena, "/a=folder"));
    check_refused("/a=http://a", "taken");
}

TEST(there_are_so_many_servers_in_all)
{
    static char rules[5][2048];
    struct proxy_told told;

    for (unsigned i = 0; i < 5; i++) {
        size_t len = (size_t)snprintf(rules[i], sizeof(rules[i]),
                                      "/%u=http://a", i);

        for (unsigned k = 1; k < 64 && i < 4; k++)
            len += (size_t)snprintf(rules[i] + len, sizeof(rules[i]) - len,
                                    ",http://a%u", k);
        tell(rules[i]);
        if (i < 4)
            assert_null(proxies_check(&options, &told));
    }
    check_refused(rules[4], "256");
    options.location.proxy.count = 4;
    proxies = make();
    assert_int_equal(proxies_upstreams(proxies)->count, PROXIES_SERVERS_MAX);
    assert_string_equal(row_of(proxies, 255).server, "a63");
    assert_string_equal(row_of(proxies, 255).proxy, "/3");
}

/* --- What is shared ------------------------------------------------------ */

static void note_failure(const struct worker_proxy *item, unsigned server)
{
    const struct upstream_shared *shared = item->options.upstream.shared;

    atomic_store(&shared->counts[server].failures, 7);
    atomic_store(&shared->counts[server].bytes_in, 1ull << 40);
    atomic_store(&shared->counts[server].idle, 3);
    atomic_store(&shared->balance[server].active, 2);
    atomic_store(&shared->balance[server].is_down, true);
}

TEST(reports_have_a_row_for_each_server)
{
    struct stats_upstream row;

    tell("/=http://a:80,http://b");
    tell("/c=unix:/run/c:/");
    proxies = make();
    note_failure(&list(2)[0], 1);
    assert_int_equal(proxies_upstreams(proxies)->count, 3);
    row = row_of(proxies, 0);
    assert_string_equal(row.proxy, "/");
    assert_string_equal(row.server, "a:80");
    assert_int_equal(row.state, STATS_UPSTREAM_UP);
    assert_int_equal(row.up, 1);
    assert_int_equal(row.failures, 0);
    row = row_of(proxies, 1);
    assert_string_equal(row.server, "b");
    assert_int_equal(row.state, STATS_UPSTREAM_DOWN);
    assert_int_equal(row.up, 0);
    assert_int_equal(row.failures, 7);
    assert_int_equal(row.bytes_in, 1ull << 40);
    assert_int_equal(row.idle, 3);
    assert_int_equal(row.active, 2);
    row = row_of(proxies, 2);
    assert_string_equal(row.proxy, "/c");
    assert_string_equal(row.server, "unix:/run/c");
}

TEST(what_is_said_the_same_again_is_known_still)
{
    tell("/=http://a");
    tell("/b=http://b");
    proxies = make();
    note_failure(&list(2)[0], 0);
    note_failure(&list(2)[1], 0);
    options.location.proxy = (struct texts){0};
    tell("/b=http://b;weight=2");
    tell("/new=http://a");
    tell("/=http://a");
    next = make();
    proxies_inherit(next, proxies);
    proxies_destroy(proxies);
    proxies = NULL;
    assert_int_equal(row_of(next, 0).failures, 0);
    assert_int_equal(row_of(next, 1).failures, 0);
    assert_int_equal(row_of(next, 2).failures, 7);
    assert_int_equal(row_of(next, 2).state, STATS_UPSTREAM_DOWN);
}

/* --- In sites and locations ---------------------------------------------- */

static struct site_location locations[2];
static struct site_options sites[2];

/* Two sites; the first has a list of its own, and in a location one more. */
static void tell_sites(void)
{
    tell("/=http://a");
    memset(locations, 0, sizeof(locations));
    memset(sites, 0, sizeof(sites));
    for (size_t i = 0; i < 2; i++)
        sites[i].options = options.location;
    sites[0].name = "one";
    sites[1].name = "two";
    sites[0].options.proxy = (struct texts){0};
    assert_true(texts_add(&sites[0].options.proxy, &options.arena,
                          "/app=http://b"));
    locations[0].path = BYTES("/in");
    locations[1].path = BYTES("/in");
    locations[1].is_exact = true;
    for (size_t i = 0; i < 2; i++)
        assert_true(texts_add(&locations[i].options.proxy, &options.arena,
                              "http://c/v1"));
    sites[0].locations = locations;
    sites[0].location_count = 2;
    options.sites = sites;
    options.site_count = 2;
}

TEST(each_is_there_once_with_a_name_of_its_own)
{
    static const char *const names[] = {"/", "one:/app", "one:/in",
                                        "one:= /in"};
    struct proxy_told told;
    const struct worker_proxy *items;

    tell_sites();
    assert_null(proxies_check(&options, &told));
    proxies = make();
    items = list(4);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(row_of(proxies, i).proxy, names[i]);
    assert_ptr_equal(items[0].said_in, options.location.proxy.items);
    assert_ptr_equal(items[1].said_in, sites[0].options.proxy.items);
    assert_ptr_equal(items[3].said_in, locations[1].options.proxy.items);
    assert_true(bytes_eq(items[2].prefix, BYTES("/in")));
    assert_true(bytes_eq(items[2].options.relay.strip, BYTES("/in")));
    note_failure(&items[2], 0);
    next = make();
    proxies_inherit(next, proxies);
    assert_int_equal(row_of(next, 2).failures, 7);
    assert_int_equal(row_of(next, 3).failures, 0);
}

TEST(one_that_nobody_inherits_is_none)
{
    tell_sites();
    options.site_count = 1;
    proxies = make();
    assert_string_equal((list(3), row_of(proxies, 0).proxy), "one:/app");
}

TEST(what_a_location_cannot_ask_is_refused)
{
    static const char *const long_name =
        "a name of a site that is longer than forty bytes";

    tell_sites();
    locations[0].options.proxy.items[0] = "/x=http://c";
    check_refused("/x=http://c", "PREFIX");
    locations[0].options.proxy.items[0] = "http://c/";
    locations[0].path = BYTES("/with space");
    check_refused("http://c/", "letters");
    locations[0].options.proxy.items[0] = "http://c";
    locations[0].path = BYTES("/app");
    check_refused("http://c", "taken");
    locations[0].path = BYTES("/with space");
    sites[0].name = long_name;
    check_refused("/app=http://b", "40 bytes");
    sites[0].name = "one";
    assert_true(texts_add(&locations[1].options.proxy, &options.arena,
                          "http://d"));
    check_refused("http://c/v1", "alone");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
