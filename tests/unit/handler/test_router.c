#include "handler/router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A handler that notes that it was asked, and for what. */
struct place {
    unsigned asked;
    char rest[HTTP1_LINE_BYTES_MAX + 1];
};

static struct place files, a, ab, other;
static struct router router;
static struct exchange exchange;

static void answer(void *self, struct exchange *asked, struct bytes rest)
{
    struct place *place = self;

    assert_ptr_equal(asked, &exchange);
    assert_in_range(rest.len, 0, HTTP1_LINE_BYTES_MAX);
    place->asked++;
    memcpy(place->rest, rest.data, rest.len);
    place->rest[rest.len] = '\0';
}

static struct handler handler_of(struct place *place)
{
    return (struct handler){.answer = answer, .self = place};
}

static int set_up(void **state)
{
    (void)state;
    router_init(&router, handler_of(&files));
    return 0;
}

/* In an order that is none. */
static void add_all(void)
{
    router_add(&router, BYTES("/a"), handler_of(&a));
    router_add(&router, BYTES("/a/bcd"), handler_of(&ab));
    router_add(&router, BYTES("/oth.er"), handler_of(&other));
}

/* Who is asked for path, and what for. */
static void assert_leads(const char *path, const struct place *to,
                         const char *rest)
{
    files.asked = a.asked = ab.asked = other.asked = 0;
    exchange.request.path = bytes_of(path);
    router_answer(&router, &exchange);
    if (files.asked + a.asked + ab.asked + other.asked != 1 || to->asked != 1)
        fail_msg("%s leads elsewhere", path);
    if (strcmp(to->rest, rest) != 0)
        fail_msg("%s leaves %s", path, to->rest);
}

static void without_prefixes_everything_leads_to_the_files(void **state)
{
    (void)state;
    assert_leads("/", &files, "/");
    assert_leads("*", &files, "*");
    assert_leads("/a/../%61", &files, "/a/../%61");
}

static void the_longest_prefix_leads(void **state)
{
    (void)state;
    add_all();
    assert_leads("/a", &a, "");
    assert_leads("/a/", &a, "/");
    assert_leads("/a/b", &a, "/b");
    assert_leads("/a/bcd", &ab, "");
    assert_leads("/a/bcd/", &ab, "/");
    assert_leads("/a/bcd/x/y", &ab, "/x/y");
    assert_leads("/oth.er/x", &other, "/x");
}

static void a_prefix_ends_where_a_segment_does(void **state)
{
    (void)state;
    add_all();
    assert_leads("/ab", &files, "/ab");
    assert_leads("/a.html", &files, "/a.html");
    assert_leads("/a/bcde", &a, "/bcde");
    assert_leads("/A", &files, "/A");
    assert_leads("/x/a", &files, "/x/a");
    assert_leads("/", &files, "/");
}

static void another_spelling_leads_the_same_way(void **state)
{
    (void)state;
    add_all();
    assert_leads("/%61", &a, "");
    assert_leads("//a", &a, "");
    assert_leads("/./a//b", &a, "/b");
    assert_leads("/x/../a/b%63d/%20", &ab, "/ ");
    assert_leads("/a/../x", &files, "/a/../x");
    assert_leads("/a/bcd/../../oth%2eer", &other, "");
}

/* Whoever is asked will refuse them. */
static void what_cannot_be_cleaned_leads_to_the_files(void **state)
{
    (void)state;
    add_all();
    assert_leads("*", &files, "*");
    assert_leads("/a/../../a", &files, "/a/../../a");
    assert_leads("/a%2Fb", &files, "/a%2Fb");
    assert_leads("/a/%", &files, "/a/%");
    assert_leads("/a%00", &files, "/a%00");
}

/* Longer than any that comes out of a request line; it must not be written
 * to where there is no room. */
static void the_longest_paths_are_led_too(void **state)
{
    static char path[HTTP1_LINE_BYTES_MAX + 1];
    static char rest[HTTP1_LINE_BYTES_MAX + 1];

    (void)state;
    add_all();
    memset(path, 'x', HTTP1_LINE_BYTES_MAX);
    memcpy(path, "/%61/", 5);
    memset(rest, 'x', HTTP1_LINE_BYTES_MAX);
    rest[0] = '/';
    rest[HTTP1_LINE_BYTES_MAX - 4] = '\0';
    assert_leads(path, &a, rest);
}

static void there_is_room_for_as_many_as_promised(void **state)
{
    static char prefixes[ROUTER_ROUTES_MAX][8];

    (void)state;
    for (int i = 0; i < ROUTER_ROUTES_MAX; i++) {
        snprintf(prefixes[i], sizeof(prefixes[i]), "/p%.*s%x", i % 3, "xx", i);
        router_add(&router, bytes_of(prefixes[i]),
                   handler_of(i == 7 ? &ab : &a));
    }
    assert_leads("/px7/y", &ab, "/y");
    assert_leads("/p0/y", &a, "/y");
    assert_leads("/pf", &a, "");
    assert_leads("/p7", &files, "/p7");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(without_prefixes_everything_leads_to_the_files),
        TEST(the_longest_prefix_leads),
        TEST(a_prefix_ends_where_a_segment_does),
        TEST(another_spelling_leads_the_same_way),
        TEST(what_cannot_be_cleaned_leads_to_the_files),
        TEST(the_longest_paths_are_led_too),
        TEST(there_is_room_for_as_many_as_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
