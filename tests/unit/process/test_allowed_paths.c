#include "process/allowed_paths.h"

#include "suite.h"
#include "unit/place.h"

static struct place place;
static struct allowed_paths allowed;
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
    allowed_paths_close(&allowed);
    arena_fini(&options.arena);
    return place_close(&place);
}

static bool reaches(const char *path, enum path_access access)
{
    for (size_t i = 0; i < allowed.count; i++)
        if (strcmp(allowed.paths[i].path, path) == 0 &&
            allowed.paths[i].access == access)
            return true;
    return false;
}

static bool is_brokered(enum file_need need, const char *path)
{
    for (size_t i = 0; i < allowed.brokered_count; i++)
        if (strcmp(allowed.brokered[i].path, path) == 0 &&
            allowed.brokered[i].need == need)
            return true;
    return false;
}

static void tell_proxy(const char *text)
{
    assert_true(texts_add(&options.location.proxy, &options.arena, text));
}

TEST(sockets_of_servers_need_nothing)
{
    tell_proxy("/=unix:/run/app,unix:/run/other;backup");
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.count, 1);
    assert_false(allowed_paths_connects(&options));
    assert_false(allowed_paths_looks_up(&options));
    assert_true(allowed_paths_asks_sockets(&options));
}

TEST(servers_at_addresses_are_connected_to)
{
    tell_proxy("/=unix:/run/app");
    tell_proxy("/a=http://127.0.0.1:9000,http://[::1]");
    assert_true(allowed_paths_connects(&options));
    assert_false(allowed_paths_looks_up(&options));
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_true(reaches("/etc/hosts", PATH_READ));
    assert_true(allowed.paths[1].may_be_missing);
}

TEST(servers_with_names_are_looked_up)
{
    tell_proxy("/=http://127.0.0.1:9000,http://app");
    assert_false(allowed_paths_asks_sockets(&options));
    assert_true(allowed_paths_connects(&options));
    assert_true(allowed_paths_looks_up(&options));
}

TEST(by_default_it_is_the_root_alone)
{
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.count, 1);
    assert_true(reaches("/srv/www", PATH_READ));
}

TEST(roots_of_all_sites_and_locations_are_in_it)
{
    struct site_location location = {.options = {.root = "/c"}};
    struct site_options sites[] = {{.options = {.root = "/a"}},
                                   {.options = {.root = "/b"},
                                    .locations = &location,
                                    .location_count = 1}};

    options.sites = sites;
    options.site_count = 2;
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.count, 3);
    assert_true(reaches("/a", PATH_READ));
    assert_true(reaches("/b", PATH_READ));
    assert_true(reaches("/c", PATH_READ));
    assert_false(allowed_paths_is_everywhere(&options));
    location.options.follow_symlinks = true;
    assert_true(allowed_paths_is_everywhere(&options));
}

TEST(what_is_made_and_removed_is_left_to_the_broker)
{
    const char *wheres[] = {"127.0.0.1:80", "unix:/run/x"};

    options.access_log = "/var/log/a";
    options.pid_file = "/run/pid";
    options.listen = (struct texts){wheres, 2};
    assert_true(allowed_paths_open(&allowed, &options, "/run/control"));
    assert_int_equal(allowed.count, 1);
    assert_int_equal(allowed.brokered_count, 4);
    assert_true(is_brokered(FILE_APPEND, "/var/log/a"));
    assert_true(is_brokered(FILE_PID, "/run/pid"));
    assert_true(is_brokered(FILE_LISTEN, "/run/control"));
    assert_true(is_brokered(FILE_LISTEN, "/run/x"));
}

TEST(logs_that_are_no_files_have_none)
{
    static const char *const wheres[] = {"-", "/dev/stdout", "/dev/stderr",
                                         "syslog:", "syslog:/dev/log"};

    for (size_t i = 0; i < 5; i++) {
        options.access_log = wheres[i];
        assert_true(allowed_paths_open(&allowed, &options, ""));
        assert_int_equal(allowed.count, 1);
        assert_int_equal(allowed.brokered_count, 0);
        allowed_paths_close(&allowed);
    }
}

/* Whoever edits them puts another file there by that name. */
TEST(files_that_are_replaced_do_not_open_what_lies_beside)
{
    const char *conf = place_path(&place, "sprintd.conf");

    assert_int_equal(place_write(&place, "sprintd.conf", "port = 80\n"), 0);
    options.config = conf;
    options.location.auth_file = "/etc/hostname";
    options.kv_token = "/etc/passwd";
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.count, 4);
    assert_true(reaches(conf, PATH_READ));
    assert_true(reaches("/etc/hostname", PATH_READ));
    assert_true(reaches("/etc/passwd", PATH_READ));
    assert_int_equal(allowed.brokered_count, 3);
    assert_true(is_brokered(FILE_READ, conf));
    assert_true(is_brokered(FILE_READ, "/etc/hostname"));
    assert_true(is_brokered(FILE_READ, "/etc/passwd"));
}

TEST(files_of_upstreams_over_tls_can_be_read_again)
{
    options.proxy_tls_ca = "/etc/hostname";
    options.proxy_tls_certificate = "/etc/passwd";
    options.proxy_tls_certificate_key = "/etc/group";
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.brokered_count, 3);
    assert_true(is_brokered(FILE_READ, "/etc/hostname"));
    assert_true(is_brokered(FILE_READ, "/etc/passwd"));
    assert_true(is_brokered(FILE_READ, "/etc/group"));
    assert_true(reaches("/etc/hostname", PATH_READ));
    assert_true(reaches("/etc/passwd", PATH_READ));
    assert_true(reaches("/etc/group", PATH_READ));
}

TEST(a_folder_for_settings_is_read_as_a_whole)
{
    static const char path[] = "/etc/ld.so.conf.d/libc.conf";

    if (access(path, F_OK) == -1)
        skip();
    options.config = path;
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_int_equal(allowed.count, 2);
    assert_true(reaches("/etc/ld.so.conf.d", PATH_READ));
}

TEST(following_links_needs_everything)
{
    options.location.follow_symlinks = true;
    assert_true(allowed_paths_open(&allowed, &options, ""));
    assert_true(reaches("/", PATH_READ));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
