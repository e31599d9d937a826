#include "handler/try_files.h"

#include "unit/handler/asked.h"

#define NAVIGATES "Accept: text/html,*/*;q=0.8\r\n"

static struct try_files tries;

static int set_up(void **state)
{
    tries = (struct try_files){0};
    return begin_asking(state);
}

static void add(const char *text)
{
    const char *fault = try_files_add(&tries, bytes_of(text));

    if (fault)
        fail_msg("'%s' %s", text, fault);
}

/* All steps for the request that was asked, which should be these: paths as
 * they are, pages in [], and the status; '+' behind what has edits. */
static void assert_steps(const char *clean, const char *expected)
{
    struct try_progress progress = {0};
    struct try_step step;
    struct buf out;
    char text[2000];
    size_t len = 0;

    buf_init(&out, NULL, 0, 1000);
    do {
        step = try_files_next(&tries, &progress, &exchange.request,
                              bytes_of(clean), &out);
        switch (step.kind) {
        case TRY_FILE:
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s",
                                    (int)out.len, out.data);
            break;
        case TRY_PAGE:
            len += (size_t)snprintf(text + len, sizeof(text) - len, "[%.*s]",
                                    (int)out.len, out.data);
            break;
        case TRY_STATUS:
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%u",
                                    step.status);
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                step.edits ? "+" : "",
                                step.kind == TRY_STATUS ? "" : " ");
    } while (step.kind != TRY_STATUS);
    buf_fini(&out);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: '%s', not '%s'", clean, text, expected);
}

TEST(candidates_come_in_their_order)
{
    add("$path");
    add("$path.html");
    add("$path/index.html");
    add("/pages$path.txt");
    add("=410");
    ask("GET /", "");
    assert_steps("/a/b", "/a/b /a/b.html /a/b/index.html /pages/a/b.txt 410");
    assert_steps("/a b%", "/a b% /a b%.html /a b%/index.html "
                          "/pages/a b%.txt 410");
}

TEST(a_directory_is_asked_for_what_is_in_it_only)
{
    add("$path");
    add("$path.html");
    add("$path/index.html");
    ask("GET /", "");
    assert_steps("/a/", "/a/ /a/index.html 404");
    assert_steps("/", "/ /index.html 404");
}

TEST(a_page_is_for_those_who_navigate)
{
    static const struct {
        const char *line;
        const char *fields;
        const char *clean;
        const char *steps;
    } cases[] = {
        {"GET /", NAVIGATES, "/user/7", "/user/7 [/app.html]+ 404+"},
        {"HEAD /", NAVIGATES, "/user/7", "/user/7 [/app.html]+ 404+"},
        {"GET /", NAVIGATES, "/user/", "/user/ [/app.html]+ 404+"},
        {"GET /", NAVIGATES, "/v1.2/user", "/v1.2/user [/app.html]+ 404+"},
        {"GET /", "Accept: text/html\r\n", "/x", "/x [/app.html]+ 404+"},
        {"GET /", "Accept: a/b\r\nAccept: TEXT/HTML;q=0.1\r\n", "/x",
         "/x [/app.html]+ 404+"},
        {"GET /", "", "/x", "/x 404+"},
        {"GET /", "Accept: */*\r\n", "/x", "/x 404+"},
        {"GET /", "Accept: text/*\r\n", "/x", "/x 404+"},
        {"GET /", "Accept: text/html;q=0, */*\r\n", "/x", "/x 404+"},
        {"GET /", "Accept: application/json\r\n", "/x", "/x 404+"},
        {"GET /", NAVIGATES, "/x.js", "/x.js 404"},
        {"GET /", NAVIGATES, "/.x", "/.x 404"},
        {"GET /", NAVIGATES, "/x.", "/x. 404"},
        {"POST /", NAVIGATES, "/x", "/x 404"},
        {"OPTIONS /", NAVIGATES, "/x", "/x 404"},
    };

    add("$path");
    add("/app.html");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ask(cases[i].line, cases[i].fields);
        assert_steps(cases[i].clean, cases[i].steps);
    }
}

TEST(a_file_behind_a_page_depends_on_accept_as_well)
{
    add("/app.html");
    add("$path");
    ask("GET /", "");
    assert_steps("/x", "/x+ 404+");
    assert_steps("/x.y", "/x.y 404");
}

TEST(a_page_says_that_it_is_for_this_request_only)
{
    struct try_progress progress = {0};
    struct try_step step;
    struct buf out;

    add("/app.html");
    ask("GET /", NAVIGATES);
    buf_init(&out, NULL, 0, 100);
    step = try_files_next(&tries, &progress, &exchange.request, BYTES("/x"),
                          &out);
    assert_int_equal(step.kind, TRY_PAGE);
    exchange.response.own_edits = step.edits;
    response_begin(&exchange.response, 200, &defaults);
    buf_put_literal(&exchange.response.head, "Vary: Accept-Encoding\r\n"
                                             "Cache-Control: max-age=9\r\n");
    response_add_head(&exchange.response);
    assert_string_equal(answer_text(),
                        "HTTP/1.1 200 OK\r\n" BEGIN "Vary: Accept-Encoding\r\n"
                        "Cache-Control: no-cache\r\nVary: Accept\r\n\r\n");
    buf_fini(&out);
}

TEST(an_error_that_came_of_accept_says_so)
{
    struct try_progress progress = {0};
    struct try_step step;
    struct buf out;

    add("/app.html");
    ask("GET /", "Accept: */*\r\n");
    buf_init(&out, NULL, 0, 100);
    step = try_files_next(&tries, &progress, &exchange.request, BYTES("/x"),
                          &out);
    assert_int_equal(step.kind, TRY_STATUS);
    exchange.response.own_edits = step.edits;
    response_make_error(&exchange.response, step.status, BYTES(""), &defaults);
    assert_has("HTTP/1.1 404 Not Found\r\n");
    assert_has("\r\nVary: Accept\r\n");
    assert_has_not("Cache-Control");
    buf_fini(&out);
}

TEST(a_path_without_room_is_too_long)
{
    struct try_progress progress = {0};
    struct try_step step;
    struct buf out;
    char storage[8];

    add("$path.html");
    ask("GET /", "");
    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    step = try_files_next(&tries, &progress, &exchange.request, BYTES("/abc"),
                          &out);
    assert_int_equal(step.kind, TRY_STATUS);
    assert_int_equal(step.status, 414);
    buf_fini(&out);
}

TEST(what_is_no_candidate_is_refused)
{
    static const char *const faulty[] = {
        "",         "a.html", "/$path",     "/a/$path", "$paths$path",
        "/a$",      "$uri",   "/../x",      "/a/./b",   "/a//b",
        "/%61",     "/..",    "$path/../x", "$path//x", "$path/.x",
        "$path\n",  "=",      "=200",       "=399",     "=600",
        "=4040",    "=40x",   "=-404",      "=404 ",    "/a/../b$path",
        "$path/..", "./x",    "/\x7F",      "=401",     "=405",
        "=407",     "=416",   "=426"};
    char text[TRY_FILES_TEXT_MAX + 2] = "/";

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!try_files_add(&tries, bytes_of(faulty[i])))
            fail_msg("'%s' is taken", faulty[i]);
    assert_int_equal(tries.count, 0);
    memset(text + 1, 'x', TRY_FILES_TEXT_MAX);
    assert_non_null(try_files_add(&tries, bytes_of(text)));
    text[TRY_FILES_TEXT_MAX] = '\0';
    add(text);
    while (tries.count < TRY_FILES_MAX)
        add("$path");
    assert_non_null(try_files_add(&tries, BYTES("$path")));
    add("=404");
    assert_non_null(try_files_add(&tries, BYTES("=404")));
}

TEST(nothing_stands_behind_the_status)
{
    add("=403");
    assert_non_null(try_files_add(&tries, BYTES("$path")));
    ask("GET /", "");
    assert_steps("/x", "403");
}

SUITE(.each_begin = set_up, .each_end = end_asking);
