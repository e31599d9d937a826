#include "server/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../place.h"

static struct place place;
static struct reach reach;
static struct options options;

static int set_up(void **state)
{
    (void)state;
    options = (struct options){.location = {.root = "/srv/www"}};
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    reach_close(&reach);
    arena_fini(&options.arena);
    return place_close(&place);
}

static bool reaches(const char *path, enum path_access access)
{
    for (size_t i = 0; i < reach.count; i++)
        if (strcmp(reach.paths[i].path, path) == 0 &&
            reach.paths[i].access == access)
            return true;
    return false;
}

static void tell_proxy(const char *text)
{
    assert_true(texts_add(&options.proxy, &options.arena, text));
}

static void sockets_of_servers_need_nothing(void **state)
{
    (void)state;
    tell_proxy("/=unix:/run/app,unix:/run/other;backup");
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 1);
    assert_false(reach_connects(&options));
    assert_false(reach_looks_up(&options));
}

static void servers_at_addresses_are_connected_to(void **state)
{
    (void)state;
    tell_proxy("/=unix:/run/app");
    tell_proxy("/a=http://127.0.0.1:9000,http://[::1]");
    assert_true(reach_connects(&options));
    assert_false(reach_looks_up(&options));
    assert_true(reach_open(&reach, &options, ""));
    assert_true(reaches("/etc/hosts", PATH_READ));
    assert_true(reach.paths[1].may_be_missing);
}

static void servers_with_names_are_looked_up(void **state)
{
    (void)state;
    tell_proxy("/=http://127.0.0.1:9000,http://app");
    assert_true(reach_connects(&options));
    assert_true(reach_looks_up(&options));
}

static void by_default_it_is_the_root_alone(void **state)
{
    (void)state;
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 1);
    assert_true(reaches("/srv/www", PATH_READ));
}

static void roots_of_all_sites_and_locations_are_in_it(void **state)
{
    struct site_location location = {.options = {.root = "/c"}};
    struct site_options sites[] = {{.options = {.root = "/a"}},
                                   {.options = {.root = "/b"},
                                    .locations = &location,
                                    .location_count = 1}};

    (void)state;
    options.sites = sites;
    options.site_count = 2;
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 3);
    assert_true(reaches("/a", PATH_READ));
    assert_true(reaches("/b", PATH_READ));
    assert_true(reaches("/c", PATH_READ));
    assert_false(reach_is_everywhere(&options));
    location.options.follow_symlinks = true;
    assert_true(reach_is_everywhere(&options));
}

static void what_is_made_and_removed_has_its_place(void **state)
{
    const char *wheres[] = {"127.0.0.1:80", "unix:/run/x"};

    (void)state;
    options.access_log = "/var/log/a";
    options.pid_file = "/run/pid";
    options.listen = (struct texts){wheres, 2};
    assert_true(reach_open(&reach, &options, "/run/control"));
    assert_int_equal(reach.count, 5);
    assert_true(reaches("/var/log/a", PATH_PLACE));
    assert_true(reaches("/run/pid", PATH_PLACE));
    assert_true(reaches("/run/control", PATH_PLACE));
    assert_true(reaches("/run/x", PATH_PLACE));
}

static void logs_that_are_no_files_have_none(void **state)
{
    static const char *const wheres[] = {"-", "syslog:", "syslog:/dev/log"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        options.access_log = wheres[i];
        assert_true(reach_open(&reach, &options, ""));
        assert_int_equal(reach.count, 1);
        reach_close(&reach);
    }
}

/* Whoever edits them puts another file there by that name. */
static void files_that_are_replaced_bring_their_directory(void **state)
{
    (void)state;
    assert_int_equal(place_write(&place, "sprintd.conf", "port = 80\n"), 0);
    options.config = place_path(&place, "sprintd.conf");
    options.location.auth_file = "/etc/hostname";
    options.kv_token = "/etc/passwd";
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 4);
    assert_true(reaches("/etc/passwd", PATH_READ));
    assert_true(reaches(place.name, PATH_READ));
    assert_true(reaches("/etc/hostname", PATH_READ));
    assert_false(reaches("/etc", PATH_READ));
}

static void following_links_needs_everything(void **state)
{
    (void)state;
    options.location.follow_symlinks = true;
    assert_true(reach_open(&reach, &options, ""));
    assert_true(reaches("/", PATH_READ));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(function) \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)
        TEST(by_default_it_is_the_root_alone),
        TEST(sockets_of_servers_need_nothing),
        TEST(servers_at_addresses_are_connected_to),
        TEST(servers_with_names_are_looked_up),
        TEST(roots_of_all_sites_and_locations_are_in_it),
        TEST(what_is_made_and_removed_has_its_place),
        TEST(logs_that_are_no_files_have_none),
        TEST(files_that_are_replaced_bring_their_directory),
        TEST(following_links_needs_everything)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
