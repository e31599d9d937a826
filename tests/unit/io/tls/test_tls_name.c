#include "io/tls/tls_name.h"
#include "suite.h"

TEST(names_are_made_comparable)
{
    static const struct {
        const char *host;
        const char *normal;
    } cases[] = {
        {"example.org", "example.org"},
        {"EXAMPLE.Org", "example.org"},
        {"example.org.", "example.org"},
        {"example.org:8443", "example.org"},
        {"Example.ORG.:443", "example.org"},
        {"*.Example.org", "*.example.org"},
        {"192.0.2.1:80", "192.0.2.1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:DB8:0:0::1]:443", "2001:db8::1"},
        {"2001:db8:0::1", "2001:db8::1"},
        {"", ""},
        {".", ""},
        {":443", ""},
        {"[::1", ""},
        {"[not:an:address]", ""},
        {"a:b:c", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[TLS_NAME_MAX + 1];
        struct bytes name = tls_name_normalise(bytes_of(cases[i].host), text);

        if (!bytes_eq(name, bytes_of(cases[i].normal)))
            fail_msg("%s became %.*s", cases[i].host, (int)name.len, name.data);
    }
}

TEST(names_that_are_too_long_are_none)
{
    char host[TLS_NAME_MAX + 2];
    char text[TLS_NAME_MAX + 1];

    memset(host, 'a', sizeof(host));
    assert_int_equal(
        tls_name_normalise((struct bytes){host, TLS_NAME_MAX}, text).len,
        TLS_NAME_MAX);
    assert_int_equal(
        tls_name_normalise((struct bytes){host, TLS_NAME_MAX + 1}, text).len,
        0);
}

TEST(wildcards_stand_for_one_label)
{
    static const struct {
        const char *pattern;
        const char *name;
        bool matches;
    } cases[] = {
        {"a.example", "a.example", true},
        {"a.example", "b.example", false},
        {"*.example", "a.example", true},
        {"*.example", "a.b.example", false},
        {"*.example", "example", false},
        {"*.example", ".example", false},
        {"*.b.example", "a.b.example", true},
        {"*.example", "*.example", true},
        {"*", "a", false},
        {"*.", "a.", false},
        {"", "", false},
        {"a*.example", "ab.example", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (tls_name_matches(bytes_of(cases[i].pattern),
                             bytes_of(cases[i].name)) != cases[i].matches)
            fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

TEST(the_name_of_a_client_hello_is_read)
{
    static const char good[] = "\0\x0c\0\0\x09"
                               "a.example";
    struct bytes name =
        tls_name_read_extension((struct bytes){good, sizeof(good) - 1});

    assert_true(bytes_eq(name, BYTES("a.example")));
}

/* Copies of exactly that many bytes, for the sanitizer to see. */
TEST(no_other_extension_names_anybody)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"", 0},
        {"\0\x0c\0\0\x09"
         "a.exampl",
         13}, /* cut */
        {"\0\x0c\0\0\x09"
         "a.example!",
         15}, /* more behind it */
        {"\0\x0c\x01\0\x09"
         "a.example",
         14}, /* another type */
        {"\0\x0d\0\0\x09"
         "a.example",
         14}, /* a wrong list */
        {"\0\x0c\0\0\x08"
         "a.example",
         14},
        {"\0\x0c\0\0\x09"
         "a.exa\0ple",
         14},
        {"\0\x03\0\0\0", 5},
        {"\xff\xff\0\xff\xff", 5},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *copy = test_malloc(cases[i].len + 1);
        char *at = copy + 1; /* a byte in front, none behind */

        memcpy(at, cases[i].bytes, cases[i].len);
        if (tls_name_read_extension((struct bytes){at, cases[i].len}).len != 0)
            fail_msg("case %zu", i);
        test_free(copy);
    }
}
