/* link: -Wl,--wrap=syscall */
#include "unit/handler/files_fixture.h"

#include <limits.h>

#include "unit/openat2.h"

/* --- Files --------------------------------------------------------------- */

TEST(a_small_file_is_answered_whole)
{
    get("/file.txt", "");
    assert_string_equal(answer.text,
                        "HTTP/1.1 200 OK\r\n"
                        "Date: Tue, 02 Oct 2096 07:06:40 GMT\r\n"
                        "X-Content-Type-Options: nosniff\r\n"
                        "Content-Type: text/plain; charset=utf-8\r\n"
                        "Content-Length: 10\r\n"
                        "Accept-Ranges: bytes\r\n"
                        "Last-Modified: " MODIFIED_TEXT "\r\n"
                        "ETag: \"ae1b981bc490a00-a\"\r\n"
                        "\r\n"
                        "0123456789");
    assert_int_equal(answer.status, 200);
    assert_body("0123456789");
}

TEST(a_large_file_is_answered_whole_by_every_method)
{
    for (int method = SEND_AUTO; method <= SEND_READ; method++) {
        cache_options.send_method = (enum send_method)method;
        remake();
        get("/large", "");
        assert_int_equal(answer.status, 200);
        assert_has("\r\nContent-Length: 50000\r\n");
        assert_int_equal(answer.body_len, LARGE_BYTES);
        assert_memory_equal(answer.body, large_bytes, LARGE_BYTES);
    }
}

TEST(an_empty_file_has_an_empty_body)
{
    write_file("empty", "");
    for (int method = SEND_AUTO; method <= SEND_READ; method++) {
        cache_options.send_method = (enum send_method)method;
        remake();
        get("/empty", "");
        assert_int_equal(answer.status, 200);
        assert_body("");
    }
}

TEST(head_has_the_head_of_get_and_no_body)
{
    static const char *const targets[] = {"/file.txt", "/large", "/none",
                                          "/folder", "/folder/"};

    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        static struct whole_answer expected;
        char request[100];

        get(targets[i], "");
        expected = answer;
        snprintf(request, sizeof(request),
                 "HEAD %s HTTP/1.1\r\nHost: h\r\n\r\n", targets[i]);
        ask(request);
        assert_int_equal(answer.body_len, 0);
        assert_int_equal(answer.status, expected.status);
        assert_memory_equal(answer.text, expected.text, strlen(answer.text));
    }
}

TEST(a_connection_that_ends_says_so)
{
    static const char *const targets[] = {"/file.txt", "/large", "/none"};
    char request[100];

    for (int i = 0; i < 3; i++) {
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n",
                 targets[i]);
        ask_as(request, false);
        assert_has("\r\nConnection: close\r\n");
        snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\n\r\n",
                 targets[i]);
        ask_as(request, false);
        assert_has("\r\nConnection: close\r\n");
        ask_as(request, true);
        assert_has("\r\nConnection: keep-alive\r\n");
    }
}

TEST(a_file_that_changed_is_not_sent_under_its_old_head)
{
    assert_int_equal(status_of("/large"), 200);
    assert_int_equal(truncate(place_path(&place, "large"), 40000), 0);
    assert_int_equal(status_of("/large"), 200); /* no check is due yet */
    assert_has("\r\nContent-Length: 40000\r\n");
    assert_int_equal(answer.body_len, 40000);
}

/* --- Methods ------------------------------------------------------------- */

TEST(options_says_what_is_allowed)
{
    ask("OPTIONS /file.txt HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(answer.status, 204);
    assert_has("HTTP/1.1 204 No Content\r\n");
    assert_has("\r\nAllow: GET, HEAD, OPTIONS\r\n");
    assert_has_not("Content-Length");
    assert_int_equal(answer.body_len, 0);
}

TEST(other_methods_are_405_with_what_is_allowed)
{
    static const char *const requests[] = {
        "POST /file.txt HTTP/1.1\r\nHost: h\r\n\r\n",
        "PUT /file.txt HTTP/1.1\r\nHost: h\r\n\r\n",
        "DELETE /file.txt HTTP/1.1\r\nHost: h\r\n\r\n",
        "PATCH /none HTTP/1.1\r\nHost: h\r\n\r\n",
        "TRACE /file.txt HTTP/1.1\r\nHost: h\r\n\r\n",
        "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n",
        "PROPFIND / HTTP/1.1\r\nHost: h\r\n\r\n"};

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        ask(requests[i]);
        assert_int_equal(answer.status, 405);
        assert_has("\r\nAllow: GET, HEAD, OPTIONS\r\n");
        assert_true(answer.persists);
    }
}

/* --- Paths --------------------------------------------------------------- */

TEST(statuses_of_paths)
{
    static const struct {
        const char *path;
        unsigned status;
    } cases[] = {{"/file.txt", 200},
                 {"/file%2Etxt", 200},
                 {"/./folder/../file.txt", 200},
                 {"/file.txt?query", 200},
                 {"/none", 404},
                 {"/file.txt/", 404},
                 {"/file.txt/more", 404},
                 {"/folder", 301},
                 {"/folder/", 403},
                 {"/", 403},
                 {"/.hidden", 404},
                 {"/.folder/file", 404},
                 {"/%2ehidden", 404},
                 {"/.well-known/file", 200},
                 {"/out/etc/passwd", 403},
                 {"/fifo", 403}};

    write_file(".hidden", "x");
    mkdirat(place.fd, ".folder", 0755);
    write_file(".folder/file", "x");
    mkdirat(place.fd, ".well-known", 0755);
    write_file(".well-known/file", "x");
    assert_int_equal(symlinkat("/", place.fd, "out"), 0);
    mkfifoat(place.fd, "fifo", 0644);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (status_of(cases[i].path) != cases[i].status)
            fail_msg("%s is %u", cases[i].path, answer.status);
}

TEST(hidden_names_are_served_when_asked_for)
{
    write_file(".hidden", "x");
    options.show_hidden = true;
    remake();
    assert_int_equal(status_of("/.hidden"), 200);
}

TEST(what_cannot_be_opened_for_now_is_500)
{
    static const int errors[] = {EMFILE, EIO, ENOMEM};

    for (int i = 0; i < 3; i++) {
        remake();
        lookup_errno = errors[i];
        lookup_failures_left = UINT_MAX;
        assert_int_equal(status_of("/file.txt"), 500);
        lookup_failures_left = 0;
        assert_int_equal(status_of("/file.txt"), 200);
    }
}

/* --- Directories --------------------------------------------------------- */

TEST(a_directory_is_redirected_to_its_slash)
{
    static const struct {
        const char *target;
        const char *location;
    } cases[] = {{"/folder", "/folder/"},
                 {"//folder", "/folder/"},
                 {"/./folder", "/folder/"},
                 {"/folder?a=b&c", "/folder/?a=b&c"},
                 {"/folder?", "/folder/?"},
                 {"/folder?a=100%&b=%zz", "/folder/?a=100%&b=%zz"},
                 {"/folder?a#b\xC3\xA9", "/folder/?a%23b%C3%A9"},
                 {"http://elsewhere/folder", "/folder/"},
                 {"/sp%61ce%20d", "/space%20d/"},
                 {"/folder/evil%0D%0Aname", "/folder/evil%0D%0Aname/"}};
    char expected[200];

    mkdirat(place.fd, "space d", 0755);
    mkdirat(place.fd, "folder/evil\r\nname", 0755);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(status_of(cases[i].target), 301);
        snprintf(expected, sizeof(expected), "\r\nLocation: %s\r\n",
                 cases[i].location);
        assert_has(expected);
    }
}

TEST(an_index_is_served_in_the_place_of_its_directory)
{
    write_file("folder/index.html", "<p>index");
    assert_int_equal(status_of("/folder/"), 200);
    assert_has("\r\nContent-Type: text/html; charset=utf-8\r\n");
    assert_body("<p>index");
    assert_int_equal(status_of("/folder"), 301);
}

TEST(a_directory_is_listed_when_allowed)
{
    options.autoindex = true;
    remake();
    assert_int_equal(status_of("/"), 200);
    assert_has("\r\nTransfer-Encoding: chunked\r\n");
    assert_has_not("Content-Length");
    assert_non_null(strstr(answer.body, "file.txt"));
    assert_string_equal(answer.body + answer.body_len - 7, "\r\n0\r\n\r\n");
    get("/", "Accept: application/json\r\n");
    assert_has("\r\nContent-Type: application/json");
    assert_int_equal(status_of("/folder"), 301);
    ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_false(answer.persists);
    assert_has("\r\nConnection: close\r\n");
    assert_has_not("Transfer-Encoding");
    ask("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_has("\r\nTransfer-Encoding: chunked\r\n");
    assert_int_equal(answer.body_len, 0);
}

TEST(a_listing_is_no_news_where_any_is_known)
{
    options.autoindex = true;
    remake();
    get("/", "If-None-Match: *\r\n");
    assert_has("HTTP/1.1 304 Not Modified\r\n");
    assert_has("\r\nVary: Accept\r\n");
    assert_has("\r\nVary: Accept-Encoding\r\n");
    assert_has("\r\nCache-Control: no-cache\r\n");
    assert_has_not("\r\nContent-");
    assert_int_equal(answer.body_len, 0);
}

/* --- Precompressed siblings ---------------------------------------------- */

TEST(the_sibling_a_client_likes_best_is_served)
{
    static const struct {
        const char *accept;
        const char *body;
    } cases[] = {{"", "plain"},
                 {"Accept-Encoding: gzip\r\n", "zipped"},
                 {"Accept-Encoding: br, gzip\r\n", "brotli"},
                 {"Accept-Encoding: br;q=0.1, gzip\r\n", "zipped"},
                 {"Accept-Encoding: zstd\r\n", "plain"},
                 {"Accept-Encoding: *\r\n", "brotli"},
                 {"Accept-Encoding: identity\r\n", "plain"},
                 {"Accept-Encoding: gzip;q=0\r\n", "plain"}};

    write_file("page.html", "plain");
    write_file("page.html.gz", "zipped");
    write_file("page.html.br", "brotli");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        get("/page.html", cases[i].accept);
        assert_body(cases[i].body);
        assert_has("\r\nVary: Accept-Encoding\r\n");
        assert_has("\r\nContent-Type: text/html; charset=utf-8\r\n");
        assert_int_equal(has("\r\nContent-Encoding: gzip\r\n"),
                         cases[i].body[0] == 'z');
        assert_int_equal(has("\r\nContent-Encoding: br\r\n"),
                         cases[i].body[0] == 'b');
    }
}

TEST(a_sibling_that_has_gone_is_replaced_by_the_file)
{
    write_file("page.html", "plain");
    write_file("page.html.gz", "zipped");
    get("/page.html", ""); /* which learns of the sibling */
    unlinkat(place.fd, "page.html.gz", 0);
    get("/page.html", "Accept-Encoding: gzip\r\n");
    assert_body("plain");
    assert_has_not("Content-Encoding");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
