#include "handler/router.h"

#include "suite.h"

enum { ROUTES_MAX = 300 };

static struct route routes[ROUTES_MAX];
static struct router router;

static int set_up(void **state)
{
    (void)state;
    router = (struct router){.routes = routes};
    return 0;
}

/* A route whose place is its own text. */
static void add(const char *path)
{
    struct route route = {.path = bytes_of(path),
                          .place = (void *)(uintptr_t)path};

    if (*path == '=') {
        route.is_exact = true;
        route.path = bytes_of(path + 1);
    }
    router_add(&router, &route);
}

/* to: the text of a route, or NULL. */
static void assert_leads(const char *path, const char *to, const char *rest)
{
    struct bytes left = BYTES("untouched");
    const struct route *route = router_find(&router, bytes_of(path), &left);

    if (!to != !route || (to && strcmp(to, route->place) != 0))
        fail_msg("%s leads to %s", path,
                 route ? (const char *)route->place : "nothing");
    if (to && !bytes_eq(left, bytes_of(rest)))
        fail_msg("%s leaves %.*s", path, (int)left.len, left.data);
}

TEST(without_routes_nothing_leads_anywhere)
{
    assert_leads("/", NULL, "");
    assert_leads("/a", NULL, "");
}

TEST(a_prefix_leads_whole_segments_only)
{
    add("/a");
    assert_leads("/a", "/a", "");
    assert_leads("/a/", "/a", "/");
    assert_leads("/a/b", "/a", "/b");
    assert_leads("/ab", NULL, "");
    assert_leads("/", NULL, "");
    assert_leads("/b/a", NULL, "");
}

TEST(the_longest_prefix_leads_in_whatever_order_they_came)
{
    static const char *const paths[] = {"", "/a", "/a/bcd", "/a/b", "/oth.er"};

    for (size_t first = 0; first < 5; first++) {
        router.count = 0;
        for (size_t i = 0; i < 5; i++)
            add(paths[(first + i * 2) % 5]);
        assert_leads("/a/bcd/e", "/a/bcd", "/e");
        assert_leads("/a/b", "/a/b", "");
        assert_leads("/a/bc", "/a", "/bc");
        assert_leads("/oth.er/", "/oth.er", "/");
        assert_leads("/other", "", "/other");
        assert_leads("/", "", "/");
    }
}

TEST(an_exact_path_goes_before_every_prefix)
{
    add("/a/b");
    add("=/a");
    add("=/a/b");
    add("=/");
    assert_leads("/a", "=/a", "");
    assert_leads("/a/b", "=/a/b", "");
    assert_leads("/a/b/", "/a/b", "/");
    assert_leads("/a/", NULL, "");
    assert_leads("/", "=/", "");
}

TEST(of_two_alike_the_first_counts)
{
    static char other[] = "/a";

    add("/a");
    router_add(&router, &(struct route){.path = BYTES("/a"), .place = other});
    for (int i = 0; i < 2; i++) {
        struct bytes rest;

        assert_ptr_not_equal(router_find(&router, BYTES("/a"), &rest)->place,
                             other);
    }
}

TEST(hundreds_of_routes_all_lead)
{
    static char texts[ROUTES_MAX][16];

    for (size_t i = 0; i < ROUTES_MAX; i++) {
        snprintf(texts[i], sizeof(texts[i]), "/p%zu", i * 7919 % 100003);
        add(texts[i]);
    }
    for (size_t i = 0; i < ROUTES_MAX; i++) {
        char path[32];

        snprintf(path, sizeof(path), "%.16s/x", texts[i]);
        assert_leads(path, texts[i], "/x");
    }
}

SUITE(.each_begin = set_up);
