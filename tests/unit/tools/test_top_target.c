#include "tools/top_target.h"

#include "suite.h"

TEST(understands_addresses_as_people_write_them)
{
    static const struct {
        const char *url;
        const char *host;
        const char *port;
        const char *path;
    } cases[] = {
        {"http://localhost:8080/_sprintd/", "localhost", "8080",
         "/_sprintd/status.json"},
        {"http://localhost:8080/_sprintd", "localhost", "8080",
         "/_sprintd/status.json"},
        {"http://localhost:8080/_sprintd/status.json", "localhost", "8080",
         "/_sprintd/status.json"},
        {"http://h/a/b", "h", "80", "/a/b/status.json"},
        {"http://h/a/notstatus.json", "h", "80",
         "/a/notstatus.json/status.json"},
        {"http://h", "h", "80", "/_sprintd/status.json"},
        {"HTTP://h:8", "h", "8", "/_sprintd/status.json"},
        {"http://h/", "h", "80", "/_sprintd/status.json"},
        {"http://h/status.json", "h", "80", "/_sprintd/status.json"},
        {"h:1", "h", "1", "/_sprintd/status.json"},
        {"192.0.2.1:65535/x/", "192.0.2.1", "65535", "/x/status.json"},
        {"http://[::1]:8080/x", "::1", "8080", "/x/status.json"},
        {"[2001:db8::192.0.2.1]", "2001:db8::192.0.2.1", "80",
         "/_sprintd/status.json"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct top_target target;
        const char *wrong = top_target_read(&target, cases[i].url);

        if (wrong)
            fail_msg("%s: %s", cases[i].url, wrong);
        assert_false(target.is_unix);
        assert_string_equal(target.host, cases[i].host);
        assert_string_equal(target.port, cases[i].port);
        assert_string_equal(target.path, cases[i].path);
    }
}

TEST(understands_sockets_by_their_path)
{
    static const struct {
        const char *url;
        const char *socket;
        const char *path;
    } cases[] = {
        {"unix:/run/sprintd.sock", "/run/sprintd.sock",
         "/_sprintd/status.json"},
        {"unix:/run/sprintd.sock:/s/", "/run/sprintd.sock", "/s/status.json"},
        {"unix:s:/s/status.json", "s", "/s/status.json"},
        {"unix:a:b", "a:b", "/_sprintd/status.json"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct top_target target;

        assert_null(top_target_read(&target, cases[i].url));
        assert_true(target.is_unix);
        assert_int_equal(target.socket.sun_family, AF_UNIX);
        assert_string_equal(target.socket.sun_path, cases[i].socket);
        assert_string_equal(target.host, "localhost");
        assert_string_equal(target.path, cases[i].path);
    }
}

TEST(refuses_what_it_would_not_understand)
{
    static const char *const cases[] = {"",
                                        "http://",
                                        "http:///x",
                                        "https://h/",
                                        "ftp://h/",
                                        "http://user@h/",
                                        "http://h:/",
                                        "http://h:0/",
                                        "http://h:65536/",
                                        "http://h:99999999999/",
                                        "http://h:-1/",
                                        "http://h:8080x/",
                                        "http://h:80:80/",
                                        "http://[::1/",
                                        "http://[]/",
                                        "http://[h]/",
                                        "http://[::1]x/",
                                        "http://h?x",
                                        "http://h/x?y",
                                        "http://h/x#y",
                                        "http://h#x",
                                        "http://h/ x",
                                        "http://h/\r\nX: y",
                                        "http://h\r\nX: y/",
                                        "http://h/\303\251",
                                        "http://h/\177",
                                        "unix:",
                                        "unix:a:/x?y",
                                        "unix:a b"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct top_target target;

        if (!top_target_read(&target, cases[i]))
            fail_msg("accepted: %s", cases[i]);
    }
}

/* "BEFOREaaa...AFTER" with count of 'a'. */
static const char *try_long(const char *before, size_t count)
{
    static char url[4096];
    struct top_target target;
    size_t len = strlen(before);

    memcpy(url, before, len);
    memset(url + len, 'a', count);
    url[len + count] = '\0';
    return top_target_read(&target, url);
}

TEST(every_part_has_a_longest)
{
    const size_t rest = strlen("/") + strlen("/" TOP_DOCUMENT);

    assert_null(try_long("http://", TOP_HOST_BYTES_MAX));
    assert_non_null(try_long("http://", TOP_HOST_BYTES_MAX + 1));
    assert_null(try_long("http://h/", TOP_PATH_BYTES_MAX - rest));
    assert_non_null(try_long("http://h/", TOP_PATH_BYTES_MAX - rest + 1));
    assert_non_null(try_long("http://h/", TOP_PATH_BYTES_MAX));
    assert_null(try_long("unix:", 107));
    assert_non_null(try_long("unix:", 108));
}
