#include "base/host_name.h"

#include "suite.h"

#define LABEL_63 \
    "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-g23"

TEST(what_names_machines_is_valid)
{
    static const char *const names[] = {
        "localhost",   "a",         "example.com", "example.com.",
        "EXAMPLE.Com", "x-1.y",     "redis_1",     "_dns.example",
        "10.in-addr",  "1.example", "1.2.3.a",     "xn--bcher-kva.example",
        "7eleven",     LABEL_63,    LABEL_63 ".de"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!host_name_is_valid(bytes_of(names[i])))
            fail_msg("'%s' is refused", names[i]);
}

TEST(what_names_no_machine_is_refused)
{
    static const char *const names[] = {"",
                                        ".",
                                        "..",
                                        ".example",
                                        "a..b",
                                        "example..",
                                        "1.2.3",
                                        "256.0.0.1",
                                        "1",
                                        "a.1",
                                        "a.1.",
                                        "a b",
                                        "a/b",
                                        "a:80",
                                        "[::1]",
                                        "::1",
                                        "user@a",
                                        "b\xC3\xBC"
                                        "cher.example",
                                        "a%00",
                                        "a\n",
                                        "*.example",
                                        LABEL_63 "4"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (host_name_is_valid(bytes_of(names[i])))
            fail_msg("'%s' is accepted", names[i]);
    assert_false(host_name_is_valid((struct bytes){"a\0b", 3}));
}

TEST(a_name_has_253_bytes_at_most)
{
    char name[256];

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = i % 50 == 49 ? '.' : 'a';
    assert_true(host_name_is_valid((struct bytes){name, 253}));
    assert_false(host_name_is_valid((struct bytes){name, 254}));
    name[253] = '.';
    assert_true(host_name_is_valid((struct bytes){name, 254}));
}
