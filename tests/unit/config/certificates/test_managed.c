#include "config/certificates/managed.h"

#include <stdlib.h>

#include "config/configuration.h"
#include "suite.h"

static struct options options;
static char said[4096];

/* Reads a command line; its status. */
static int read_line(const char *const words[])
{
    const char *argv[32] = {"sprintd"};
    FILE *errors = fmemopen(said, sizeof(said), "w");
    int argc = 1;
    int status;

    while (*words)
        argv[argc++] = *words++;
    memset(said, 0, sizeof(said));
    status = configuration_read(&options, argc, (char **)(uintptr_t)argv,
                                errors);
    fclose(errors);
    return status;
}
#define READ(...) read_line((const char *const[]){__VA_ARGS__, NULL})

TEST(names_stand_for_ports_a_redirect_and_a_certificate)
{
    assert_int_equal(READ("--https", "example.org,WWW.example.org",
                          "--state-directory", "/s", "/"),
                     0);
    assert_int_equal(options.listen.count, 2);
    assert_string_equal(options.listen.items[0], "http://:80");
    assert_string_equal(options.listen.items[1], "https://:443");
    assert_true(options.location.https_redirect);
    assert_int_equal(options.managed_count, 1);
    assert_string_equal(options.managed[0].path,
                        "/s/acme/live/example.org.pem");
    assert_int_equal(options.managed[0].names.count, 2);
    assert_string_equal(options.managed[0].names.items[1], "www.example.org");
    assert_true(options.location.certificate_is_managed);
    assert_int_equal(options.https, OPTIONS_HTTPS_OFF);
    options_fini(&options);
}

TEST(a_port_stays_one)
{
    assert_int_equal(READ("--https", "8443", "/"), 0);
    assert_int_equal(options.https, 8443);
    assert_int_equal(options.managed_count, 0);
    options_fini(&options);
    assert_int_equal(READ("/"), 0);
    assert_int_equal(options.https, OPTIONS_HTTPS_OFF);
    options_fini(&options);
}

TEST(ports_and_addresses_that_are_told_are_kept)
{
    assert_int_equal(READ("--https", "example.org", "--port", "8080", "--bind",
                          "::1", "/"),
                     0);
    assert_string_equal(options.listen.items[0], "http://[::1]:8080");
    assert_string_equal(options.listen.items[1], "https://[::1]:443");
    options_fini(&options);
    assert_int_equal(READ("--https", "example.org", "--listen", ":81", "/"), 0);
    assert_int_equal(options.listen.count, 1);
    assert_int_equal(options.managed_count, 0);
    options_fini(&options);
}

TEST(what_is_neither_is_refused)
{
    static const char *const bad[] = {"65536",        "a..b",      "a,,b",
                                      ",a",           "a,",        "-1",
                                      "a b",          "1.2.3.4:5", "",
                                      "a.example:443"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (READ("--https", bad[i], "/") == 0)
            fail_msg("'%s' is taken", bad[i]);
        options_fini(&options);
    }
}

TEST(names_of_this_machine_ask_nobody)
{
    static const char *const inside[] = {"localhost", "printer", "a.internal",
                                         "b.test",    "c.local", "d.home.arpa"};

    for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
        assert_false(managed_is_public(inside[i]));
        assert_int_equal(READ("--https", inside[i], "/"), 0);
        assert_int_equal(options.managed_count, 0);
        assert_int_equal(options.local_names.count, 1);
        options_fini(&options);
    }
    assert_true(managed_is_public("example.org"));
    /* An authority that is told may know them, but not this machine alone. */
    assert_int_equal(READ("--https", "a.internal,localhost", "--acme-directory",
                          "https://ca.internal/dir", "/"),
                     0);
    assert_int_equal(options.managed_count, 1);
    assert_int_equal(options.managed[0].names.count, 1);
    assert_int_equal(options.local_names.count, 1);
    options_fini(&options);
}

TEST(all_names_need_dns)
{
    assert_int_not_equal(READ("--https", "*.example.org", "/"), 0);
    assert_non_null(strstr(said, "acme-challenge"));
    options_fini(&options);
}

SUITE(.begin = NULL);
