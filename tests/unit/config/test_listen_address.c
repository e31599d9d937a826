#include "config/listen_address.h"

#include "suite.h"

TEST(places_are_read)
{
    static const struct {
        const char *text;
        bool is_tls;
        const char *path;
        bool is_everywhere;
        const char *address;
        unsigned port;
    } cases[] = {
        {"127.0.0.1:80", false, NULL, false, "127.0.0.1", 80},
        {"http://127.0.0.1:80", false, NULL, false, "127.0.0.1", 80},
        {"https://127.0.0.1:443", true, NULL, false, "127.0.0.1", 443},
        {"[::1]:8080", false, NULL, false, "::1", 8080},
        {"https://[::]:443", true, NULL, false, "::", 443},
        {":0", false, NULL, true, "", 0},
        {"https://:65535", true, NULL, true, "", 65535},
        {"unix:/run/x", false, "/run/x", false, "", 0},
        {"http://unix:/run/x", false, "/run/x", false, "", 0},
        {"https://unix:/run/x", true, "/run/x", false, "", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct listen_address place;
        const char *path = listen_address_path(cases[i].text);

        if (!listen_address_read(&place, cases[i].text) ||
            place.is_tls != cases[i].is_tls ||
            place.is_everywhere != cases[i].is_everywhere ||
            place.port != cases[i].port || !path != !cases[i].path ||
            !place.path != !cases[i].path)
            fail_msg("%s", cases[i].text);
        assert_string_equal(place.address, cases[i].address);
        if (path)
            assert_string_equal(path, cases[i].path);
    }
}

TEST(what_is_no_place_is_refused)
{
    static const char *const cases[] = {
        "",
        "80",
        "127.0.0.1",
        "127.0.0.1:",
        "::1:80",
        "[::1:80",
        "::1]:80",
        "127.0.0.1:65536",
        "https://",
        "https://:",
        "127.0.0.1:+1",
        "127.0.0.1:80x",
        "ftp://a:80",
        "https:/:443/",
        "https://a:443/",
        "0123456789012345678901234567890123456789012345678901234567890123:1"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct listen_address place;

        if (listen_address_read(&place, cases[i]))
            fail_msg("'%s' is taken", cases[i]);
    }
}
