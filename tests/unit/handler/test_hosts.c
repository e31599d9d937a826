#include "handler/hosts.h"

#include "suite.h"

static struct arena arena;
static struct hosts hosts;

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    hosts = (struct hosts){0};
    return 0;
}

/* A name whose site is its own text. */
static void add(const char *name)
{
    assert_true(hosts_add(&hosts, &arena, bytes_of(name),
                          (void *)(uintptr_t)name));
}

static void assert_finds(const char *host, const char *site)
{
    const char *found = hosts_find(&hosts, bytes_of(host));

    if (!site != !found || (site && strcmp(found, site) != 0))
        fail_msg("%s is %s", host, found ? found : "nobody's");
}

TEST(a_name_has_255_bytes_at_most)
{
    char name[300];

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = i % 50 == 49 ? '.' : 'a';
    assert_true(hosts_add(&hosts, &arena, (struct bytes){name, 255}, name));
    assert_ptr_equal(hosts_find(&hosts, (struct bytes){name, 255}), name);
    assert_null(hosts_find(&hosts, (struct bytes){name, 256}));
    assert_null(hosts_find(&hosts, (struct bytes){name, sizeof(name)}));
}

TEST(a_host_is_found_whatever_its_case_port_and_final_dot)
{
    add("example.org");
    add("[2001:db8::1]");
    add("192.0.2.1");
    assert_finds("example.org", "example.org");
    assert_finds("eXample.ORG", "example.org");
    assert_finds("example.org:8080", "example.org");
    assert_finds("example.org:", "example.org");
    assert_finds("example.org.", "example.org");
    assert_finds("Example.Org.:80", "example.org");
    assert_finds("[2001:DB8::1]:80", "[2001:db8::1]");
    assert_finds("[2001:db8::1]", "[2001:db8::1]");
    assert_finds("[2001:0db8:0:0::0001]:80", "[2001:db8::1]");
    assert_finds("[2001:db8::1", NULL);
    assert_finds("[2001:db8::1]x", NULL);
    assert_finds("[]", NULL);
    assert_finds("192.0.2.1:80", "192.0.2.1");
    assert_finds("www.example.org", NULL);
    assert_finds("example.or", NULL);
    assert_finds("", NULL);
    assert_finds(".", NULL);
    assert_finds(":80", NULL);
    assert_finds(".example.org", NULL);
    assert_finds("[", NULL);
}

TEST(below_a_wildcard_the_longest_name_counts)
{
    add("*.example.org");
    add("*.b.example.org");
    add("a.example.org");
    add("*.org");
    assert_finds("a.example.org", "a.example.org");
    assert_finds("x.example.org", "*.example.org");
    assert_finds("x.y.example.org", "*.example.org");
    assert_finds("x.b.example.org", "*.b.example.org");
    assert_finds("b.example.org", "*.example.org");
    assert_finds("x.a.example.org", "*.example.org");
    assert_finds("example.org", "*.org");
    assert_finds("org", NULL);
    assert_finds(".example.org", NULL);
    assert_finds("..example.org", NULL);
    assert_finds("example.com", NULL);
}

TEST(thousands_of_hosts_are_all_found)
{
    enum { COUNT = 3000 };
    static char names[COUNT][24];

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "%sh%zu.example",
                 i % 3 == 0 ? "*." : "", i * 7919 % 100003);
        add(names[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        char host[32];

        snprintf(host, sizeof(host), "%s%s", i % 3 == 0 ? "x" : "",
                 names[i] + (i % 3 == 0 ? 1 : 0));
        assert_finds(host, names[i]);
    }
}

SUITE(.each_end = tear_down);
