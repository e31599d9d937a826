#include "process/certificates/local_names.h"
#include "suite.h"

static bool has(const struct tls_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

TEST(this_machine_is_localhost_and_has_its_own_name)
{
    char host[HOST_NAME_MAX_BYTES + 1] = "";
    struct tls_names names;
    struct tls_names own = {0};

    local_names_find(&names);
    assert_true(has(&names, "localhost"));
    assert_true(has(&names, "127.0.0.1"));
    assert_true(has(&names, "::1"));
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    tls_names_add(&own, bytes_of(host));
    if (own.count > 0)
        assert_true(has(&names, own.items[0]));
}

TEST(names_that_go_on_behind_the_hosts_are_taken_from_a_text)
{
    static const char text[] = "# 10.0.0.1 box.comment\n"
                               "127.0.1.1\tBox.Example.org box\r\n"
                               "10.0.0.2 boxer.example.org   box.lan#box.no\n"
                               "\n"
                               "10.0.0.3 other box.\n"
                               "10.0.0.4 box.home";
    struct tls_names names = {0};

    local_names_add_hosts(&names, BYTES("box"), BYTES(text));
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], "box.example.org");
    assert_string_equal(names.items[1], "box.lan");
    assert_string_equal(names.items[2], "box.home");
}
