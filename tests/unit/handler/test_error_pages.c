/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc */
#include "handler/error_pages.h"

#include "unit/files/file_cache_fixture.h"
#include "unit/handler/sent.h"

static struct error_pages pages;
static struct response response;
static struct response_room room;
static struct server_defaults defaults = {.now = &now};

static int set_up_pages(void **state)
{
    pages = (struct error_pages){0};
    if (set_up(state) != 0)
        return -1;
    response_init(&response, &room);
    response.persists = true;
    return 0;
}

static int tear_down_pages(void **state)
{
    response_fini(&response);
    return tear_down(state);
}

static void add(const char *text)
{
    const char *fault = error_pages_add(&pages, bytes_of(text));

    if (fault)
        fail_msg("'%s' %s", text, fault);
}

static void assert_finds(unsigned status, const char *path)
{
    struct bytes found = error_pages_find(&pages, status);

    if (!bytes_eq(found, bytes_of(path)))
        fail_msg("%u: '%.*s'", status, (int)found.len, found.data);
}

/* All of the answer's text. */
static const char *text_of(void)
{
    static char text[10000];

    http1_frame(&response, false, &now);
    assert_true(sent_is_memory(&response));
    sent_copy(&response, text, sizeof(text));
    return text;
}

static bool has(const char *part)
{
    return strstr(text_of(), part);
}

static void make_error(unsigned status)
{
    response_make_error(&response, status, BYTES("Allow: GET\r\n"), &defaults);
    error_pages_apply(&pages, cache, &space, &response);
}

TEST(a_status_has_the_page_it_was_named_with)
{
    add("404 /404.html");
    add("403 410\t451  /xy.html ");
    assert_finds(404, "/404.html");
    assert_finds(403, "/xy.html");
    assert_finds(410, "/xy.html");
    assert_finds(451, "/xy.html");
    assert_finds(500, "");
}

TEST(a_number_comes_before_its_class)
{
    add("503 /busy.html");
    add("5xx 4xx /x.html");
    add("404 /404.html");
    assert_finds(400, "/x.html");
    assert_finds(404, "/404.html");
    assert_finds(499, "/x.html");
    assert_finds(500, "/x.html");
    assert_finds(503, "/busy.html");
    assert_finds(599, "/x.html");
}

TEST(what_is_no_error_has_no_page)
{
    add("4xx 5xx /x.html");
    assert_finds(0, "");
    assert_finds(200, "");
    assert_finds(399, "");
    assert_finds(600, "");
    assert_finds(UINT32_MAX, "");
}

TEST(what_is_no_page_is_refused_and_changes_nothing)
{
    static const char *const faulty[] = {
        "",          " ",          "404",     "/404.html",  "404 x.html",
        "404 /",     "404 /x/",    "404 //x", "404 /../x",  "404 /./x",
        "404 /%41",  "200 /x",     "399 /x",  "600 /x",     "40 /x",
        "4040 /x",   "4x4 /x",     "6xx /x",  "xx /x",      "40x /x",
        "-04 /x",    "404 404 /x", "500 /x",  "404 500 /x", "404 5xx /x",
        "404 /x /y",
    };
    char text[600] = "404 /";

    add("500 5xx /sorry.html");
    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!error_pages_add(&pages, bytes_of(faulty[i])))
            fail_msg("'%s' is taken", faulty[i]);
    assert_finds(404, "");
    memset(text + 5, 'x', 500);
    assert_non_null(error_pages_add(&pages, bytes_of(text)));
    assert_int_equal(pages.count, 1);
    text[504] = '\0';
    add(text);
}

TEST(there_is_a_limit_to_pages)
{
    for (unsigned i = 0; i <= ERROR_PAGES_MAX; i++) {
        static char texts[ERROR_PAGES_MAX + 1][30]; /* they are borrowed */
        const char *fault;

        snprintf(texts[i], sizeof(texts[i]), "%u /%u.html", 400 + i, i);
        fault = error_pages_add(&pages, bytes_of(texts[i]));
        assert_true((fault == NULL) == (i < ERROR_PAGES_MAX));
    }
    assert_finds(431, "/31.html");
    assert_finds(432, "");
}

TEST(an_error_gets_the_page_and_stays_what_it_was)
{
    write_file("404.html", "<p>gone");
    add("404 /404.html");
    make_error(404);
    assert_int_equal(response.status, 404);
    assert_true(has("HTTP/1.1 404 Not Found\r\nDate: "));
    assert_true(has("\r\nAllow: GET\r\n"));
    assert_true(has("\r\nContent-Type: text/html; charset=utf-8\r\n"
                    "Content-Length: 7\r\n\r\n<p>gone"));
    assert_int_equal(response.body_bytes, 7);
    assert_false(has("ETag"));
}

/* The operator's type is for the files of the place. */
TEST(a_page_has_its_own_type)
{
    static struct head_edits edits;

    edits = (struct head_edits){0};
    assert_null(head_edits_add(&edits, HEAD_SET, BYTES("Content-Type: a/b")));
    space.edits = response.edits = &edits;
    write_file("404.html", "<p>gone");
    add("404 /404.html");
    make_error(404);
    space.edits = NULL;
    assert_true(has("\r\nContent-Type: text/html; charset=utf-8\r\n"));
    assert_true(has("\r\n\r\n<p>gone"));
}

TEST(head_gets_its_length_only)
{
    write_file("404.html", "<p>gone");
    add("404 /404.html");
    response.is_head = true;
    make_error(404);
    assert_true(has("\r\nContent-Length: 7\r\n\r\n"));
    assert_false(has("gone"));
    assert_null(response.origin.object);
}

TEST(an_empty_page_is_one)
{
    write_file("empty", "");
    add("404 /empty");
    make_error(404);
    assert_true(has("\r\nContent-Length: 0\r\n\r\n"));
    assert_false(has("<h1>"));
}

TEST(a_page_too_large_for_memory_comes_from_its_file)
{
    write_zeros("large", SNAPSHOT_BYTES + 1);
    add("404 /large");
    make_error(404);
    assert_int_equal(response.part_count, 2);
    assert_int_equal(response.parts[1].kind, PART_READ);
    assert_int_equal(response.parts[1].len, SNAPSHOT_BYTES + 1);
    assert_true(response.origin.is_intact(response.origin.object));
}

TEST(a_page_that_is_not_there_leaves_the_short_one)
{
    assert_int_equal(mkdirat(place.fd, "folder", 0755), 0);
    add("404 /none.html");
    add("403 /folder");
    make_error(404);
    assert_true(has("<h1>404 Not Found</h1>"));
    make_error(403);
    assert_true(has("<h1>403 Forbidden</h1>"));
    make_error(500);
    assert_true(has("<h1>500 Internal Server Error</h1>"));
    assert_true(response.is_error);
}

TEST(no_memory_for_a_page_leaves_the_short_one)
{
    write_file("404.html", "<p>gone");
    add("404 /404.html");
    allocations_left = 0;
    make_error(404);
    allocations_left = -1;
    assert_true(has("<h1>404 Not Found</h1>"));
}

TEST(an_answer_with_a_body_of_its_own_keeps_it)
{
    write_file("404.html", "<p>gone");
    add("404 /404.html");
    response_begin(&response, 404, &defaults);
    response_add_head(&response);
    response_add_memory(&response, BYTES("own"));
    error_pages_apply(&pages, cache, &space, &response);
    assert_true(has("\r\n\r\nown"));
}

SUITE(.each_begin = set_up_pages, .each_end = tear_down_pages);
