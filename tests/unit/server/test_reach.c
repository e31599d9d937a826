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

static bool is_brokered(enum file_need need, const char *path)
{
    for (size_t i = 0; i < reach.brokered_count; i++)
        if (strcmp(reach.brokered[i].path, path) == 0 &&
            reach.brokered[i].need == need)
            return true;
    return false;
}

static void tell_proxy(const char *text)
{
    assert_true(texts_add(&options.location.proxy, &options.arena, text));
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

static void what_is_made_and_removed_is_left_to_the_broker(void **state)
{
    const char *wheres[] = {"127.0.0.1:80", "unix:/run/x"};

    (void)state;
    options.access_log = "/var/log/a";
    options.pid_file = "/run/pid";
    options.listen = (struct texts){wheres, 2};
    assert_true(reach_open(&reach, &options, "/run/control"));
    assert_int_equal(reach.count, 1);
    assert_int_equal(reach.brokered_count, 4);
    assert_true(is_brokered(FILE_APPEND, "/var/log/a"));
    assert_true(is_brokered(FILE_PID, "/run/pid"));
    assert_true(is_brokered(FILE_LISTEN, "/run/control"));
    assert_true(is_brokered(FILE_LISTEN, "/run/x"));
}

static void logs_that_are_no_files_have_none(void **state)
{
    static const char *const wheres[] = {"-", "/dev/stdout", "/dev/stderr",
                                         "syslog:", "syslog:/dev/log"};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        options.access_log = wheres[i];
        assert_true(reach_open(&reach, &options, ""));
        assert_int_equal(reach.count, 1);
        assert_int_equal(reach.brokered_count, 0);
        reach_close(&reach);
    }
}

/* Whoever edits them puts another file there by that name. */
static void files_that_are_replaced_do_not_open_what_lies_beside(void **state)
{
    const char *conf = place_path(&place, "sprintd.conf");

    (void)state;
    assert_int_equal(place_write(&place, "sprintd.conf", "port = 80\n"), 0);
    options.config = conf;
    options.location.auth_file = "/etc/hostname";
    options.kv_token = "/etc/passwd";
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 4);
    assert_true(reaches(conf, PATH_READ));
    assert_true(reaches("/etc/hostname", PATH_READ));
    assert_true(reaches("/etc/passwd", PATH_READ));
    assert_int_equal(reach.brokered_count, 3);
    assert_true(is_brokered(FILE_READ, conf));
    assert_true(is_brokered(FILE_READ, "/etc/hostname"));
    assert_true(is_brokered(FILE_READ, "/etc/passwd"));
}

static void a_folder_for_settings_is_read_as_a_whole(void **state)
{
    static const char path[] = "/etc/ld.so.conf.d/libc.conf";

    (void)state;
    if (access(path, F_OK) == -1)
        skip();
    options.config = path;
    assert_true(reach_open(&reach, &options, ""));
    assert_int_equal(reach.count, 2);
    assert_true(reaches("/etc/ld.so.conf.d", PATH_READ));
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
        TEST(what_is_made_and_removed_is_left_to_the_broker),
        TEST(logs_that_are_no_files_have_none),
        TEST(files_that_are_replaced_do_not_open_what_lies_beside),
        TEST(a_folder_for_settings_is_read_as_a_whole),
        TEST(following_links_needs_everything)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
