/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/response.h"

#include "http/error_page.h"
#include "unit/http/response_fixture.h"

#define BEGIN                  \
    DATE "Server: sprintd\r\n" \
         "X-Content-Type-Options: nosniff\r\n"

static struct head_edits edits, own;

static int set_up_edits(void **state)
{
    edits = own = (struct head_edits){0};
    assert_null(head_edits_add(&edits, HEAD_ADD, BYTES("Place: 1")));
    assert_null(head_edits_add(&own, HEAD_SET, BYTES("Cache-Control: no")));
    set_up(state);
    response.edits = &edits;
    response.persists = true;
    return 0;
}

static void begin(void)
{
    response_begin(&response, 200, &defaults);
}

TEST(every_head_gets_the_edits_of_its_place)
{
    begin();
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" BEGIN "Place: 1\r\n\r\n");
    assert_int_equal(response.head_bytes, response.bytes_left);
}

TEST(an_answers_own_edits_and_lines_come_after_those)
{
    response.own_edits = &own;
    response_put_extra(&response, BYTES("Extra: "));
    response_put_extra(&response, BYTES("a\r\n"));
    assert_true(response_needs_own_head(&response));
    begin();
    head_field(&response.head, BYTES("Cache-Control"), BYTES("yes"));
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" BEGIN "Place: 1\r\n"
                "Cache-Control: no\r\nExtra: a\r\n\r\n");
}

static void begin_upstreams(void)
{
    response_begin_relayed(&response, 200, BYTES("OK"));
    buf_put(&response.head, BYTES("strict-transport-security: max-age=1\r\n"
                                  "Vary: Accept\r\n"
                                  "access-control-allow-origin: *\r\n"
                                  "access-control-allow-credentials: true\r\n"
                                  "access-control-expose-headers: A\r\n"));
}

TEST(what_the_site_says_stands_in_place_of_what_an_upstream_says)
{
    response_put_extra(&response, BYTES("Extra: a\r\n"));
    response.own_fields = RESPONSE_OWN_HSTS | RESPONSE_OWN_CORS;
    begin_upstreams();
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE "Vary: Accept\r\n"
                "access-control-expose-headers: A\r\n"
                "Place: 1\r\nExtra: a\r\n\r\n");
}

TEST(what_the_site_does_not_say_is_the_upstreams)
{
    response.own_fields = RESPONSE_OWN_CORS;
    begin_upstreams();
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE
                "strict-transport-security: max-age=1\r\n"
                "Vary: Accept\r\naccess-control-expose-headers: A\r\n"
                "Place: 1\r\n\r\n");
}

/* Another server's error, of which fields are kept, has them dropped, too. An
 * error whose body is replaced keeps the site's. */
TEST(errors_say_what_the_site_says_once)
{
    response.own_fields = RESPONSE_OWN_HSTS;
    response_put_extra(&response,
                       BYTES("Strict-Transport-Security: max-age=2\r\n"));
    response_make_error(&response, 405,
                        BYTES("Strict-Transport-Security: max-age=1\r\n"),
                        &defaults);
    assert_true(response_replace_body(&response, BYTES("text/x"), 5));
    response_add_memory(&response, BYTES("hello"));
    frame();
    assert_left("HTTP/1.1 405 Method Not Allowed\r\n" BEGIN "Place: 1\r\n"
                "Strict-Transport-Security: max-age=2\r\n"
                "Content-Type: text/x\r\nContent-Length: 5\r\n\r\nhello");
}

TEST(a_head_that_has_the_edits_gets_them_no_more)
{
    response_begin_edited(&response, 200, BYTES("Place: 1\r\n"));
    response.own_edits = &own;
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE
                "Place: 1\r\nCache-Control: no\r\n\r\n");
}

TEST(errors_have_all_of_it_too)
{
    char page[ERROR_PAGE_BYTES_MAX];
    char expected[512];

    response.own_edits = &own;
    response.is_head = true;
    response_put_extra(&response, BYTES("Extra: a\r\n"));
    response_begin_edited(&response, 200, BYTES("A: b\r\n"));
    response_make_error(&response, 405, BYTES("Allow: GET\r\n"), &defaults);
    assert_true(response.is_error);
    frame();
    snprintf(expected, sizeof(expected),
             "HTTP/1.1 405 Method Not Allowed\r\n" BEGIN "Allow: GET\r\n"
             "Content-Type: text/html; charset=utf-8\r\n"
             "Content-Length: %zu\r\n"
             "Place: 1\r\nCache-Control: no\r\nExtra: a\r\n\r\n",
             error_page_write(page, 405).len);
    assert_left(expected);
}

TEST(what_has_nothing_besides_is_not_special)
{
    assert_false(response_needs_own_head(&response));
    response.own_edits = &own;
    assert_true(response_needs_own_head(&response));
    response.own_edits = NULL;
    response.is_timed = true;
    assert_true(response_needs_own_head(&response));
}

TEST(room_for_timing_is_behind_the_edits)
{
    response.is_timed = true;
    begin();
    response_add_head(&response);
    response_set_timing(&response, BYTES("app"));
    assert_non_null(strstr(left().data, "Place: 1\r\nServer-Timing: app  "));
}

TEST(an_error_with_another_body_keeps_its_fields)
{
    response.own_edits = &own;
    response_put_extra(&response, BYTES("Extra: a\r\n"));
    response_make_error(&response, 405, BYTES("Allow: GET\r\n"), &defaults);
    assert_true(response_replace_body(&response, BYTES("text/x"), 5));
    response_add_memory(&response, BYTES("hello"));
    frame();
    assert_left("HTTP/1.1 405 Method Not Allowed\r\n" BEGIN "Allow: GET\r\n"
                "Place: 1\r\nCache-Control: no\r\nExtra: a\r\n"
                "Content-Type: text/x\r\nContent-Length: 5\r\n\r\nhello");
    assert_int_equal(response.status, 405);
    assert_int_equal(response.body_bytes, 5);
    assert_int_equal(response.head_bytes, response.bytes_left - 5);
    assert_false(response.is_error);
}

TEST(nothing_of_the_body_that_was_replaced_follows)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(END, "the old one")};

    response.edits = NULL;
    response_begin(&response, 502, &defaults);
    head_number(&response.head, BYTES("Content-Length"), 11);
    response_add_source(&response, begin_script(lines));
    response.is_error = response.has_length = true;
    response.length_left = 11;
    assert_true(response_replace_body(&response, BYTES("a/b"), 3));
    response_add_memory(&response, BYTES("new"));
    frame();
    assert_non_null(strstr(left().data, "Content-Length: 3\r\n\r\nnew"));
    assert_false(response_has_more(&response));
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

TEST(that_head_ends_and_is_timed_as_any)
{
    response.edits = NULL;
    response.persists = false;
    response.is_timed = true;
    response.is_head = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    assert_true(response_replace_body(&response, BYTES("a/b"), 7));
    frame();
    response_set_timing(&response, BYTES("app"));
    assert_int_equal(response.body_bytes, 0);
    assert_non_null(strstr(left().data,
                           "\r\nContent-Type: a/b\r\nContent-Length: 7\r\n"
                           "Server-Timing: app  "));
    assert_non_null(strstr(left().data, "  \r\nConnection: close\r\n\r\n"));
    assert_ptr_equal(strstr(left().data, "Connection"),
                     left().data + left().len - 21);
}

TEST(an_error_that_was_not_written_is_none_to_change)
{
    static char fields[RESPONSE_HEAD_BYTES_MAX];

    memset(fields, 'f', sizeof(fields));
    response_make_error(&response, 404, (struct bytes){fields, sizeof(fields)},
                        &defaults);
    assert_int_equal(response.bytes_left, 0);
    assert_false(response.is_error);
}

TEST(without_memory_for_another_body_it_just_closes)
{
    static char type[RESPONSE_HEAD_INLINE];

    memset(type, 't', sizeof(type));
    response_make_error(&response, 404, BYTES(""), &defaults);
    allocations_left = 0;
    assert_false(response_replace_body(&response,
                                       (struct bytes){type, sizeof(type)}, 7));
    assert_int_equal(response.bytes_left, 0);
    assert_false(response.persists);
}

TEST(without_memory_for_edits_it_just_closes)
{
    static char value[RESPONSE_HEAD_INLINE + 4] = "A: ";

    memset(value + 3, 'v', sizeof(value) - 4);
    assert_null(head_edits_add(&edits, HEAD_SET, bytes_of(value)));
    allocations_left = 0;
    begin();
    response_add_head(&response);
    assert_int_equal(response.bytes_left, 0);
    assert_int_equal(response.status, 500);
    assert_false(response.persists);
    response_make_error(&response, 500, BYTES(""), &defaults);
    assert_int_equal(response.bytes_left, 0);
    assert_true(response.edits == &edits);
}

SUITE(.each_begin = set_up_edits, .each_end = tear_down);
