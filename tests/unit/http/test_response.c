/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/response.h"

#include "http/error_page.h"
#include "unit/http/response_fixture.h"

/* --- Fields --------------------------------------------------------------- */

TEST(fields_begin_with_what_all_have)
{
    response_begin(&response, 404, &defaults);
    response_add_head(&response);
    assert_left("Server: sprintd\r\n"
                "X-Content-Type-Options: nosniff\r\n");
    assert_int_equal(response.status, 404);
    assert_true(response.has_head);
    assert_false(response.is_borrowed || response.is_framed);
    assert_int_equal(allocations, 0);
}

TEST(the_server_field_can_be_left_out)
{
    const struct server_defaults nameless = {.now = &now};

    response_begin(&response, 200, &nameless);
    response_add_head(&response);
    assert_left("X-Content-Type-Options: nosniff\r\n");
}

TEST(the_same_lines_go_into_any_text)
{
    char storage[200];
    struct buf text;

    buf_init(&text, storage, sizeof(storage), sizeof(storage));
    head_put_server_defaults(&text, &defaults);
    assert_true(bytes_eq(buf_bytes(&text),
                         BYTES("Server: sprintd\r\n"
                               "X-Content-Type-Options: nosniff\r\n")));
}

TEST(fields_are_lines)
{
    head_field(&response.head, BYTES("A"), BYTES("b c"));
    head_field(&response.head, BYTES("D"), (struct bytes){NULL, 0});
    head_number(&response.head, BYTES("E"), UINT64_MAX);
    head_number(&response.head, BYTES("F"), 0);
    response_add_head(&response);
    assert_left("A: b c\r\nD: \r\nE: 18446744073709551615\r\nF: 0\r\n");
}

TEST(fields_may_outgrow_their_own_room)
{
    static char value[30000];

    memset(value, 'v', sizeof(value));
    head_field(&response.head, BYTES("A"),
               (struct bytes){value, sizeof(value)});
    response.persists = true;
    response_add_head(&response);
    assert_int_equal(response.bytes_left, sizeof(value) + 5);
    assert_memory_equal(left().data, "A: vvv", 6);
    assert_memory_equal(left().data + left().len - 4, "vv\r\n", 4);
}

TEST(text_may_stand_behind_fields_that_have_been_ended)
{
    struct buf *head = &response.head;
    size_t at;

    head_field(head, BYTES("A"), BYTES("b"));
    assert_true(response_end_head(&response));
    at = head->len;
    buf_put_literal(head, "body");
    response_lay_head(&response);
    response_add_memory(&response,
                        bytes_between(head->data + at, head->data + head->len));
    assert_left("A: b\r\nbody");
    frame(); /* in the room between them */
    assert_non_null(strstr(left().data,
                           "\r\nA: b\r\nConnection: close\r\n\r\nbody"));
}

TEST(fields_of_a_cache_are_taken_as_they_are)
{
    response_begin_edited(&response, 304, BYTES("A: b\r\n"));
    response_add_head(&response);
    assert_left("A: b\r\n");
    assert_int_equal(response.status, 304);
    assert_true(response.is_edited);
}

TEST(a_borrowed_head_is_a_part)
{
    response_borrow_head(&response, BYTES("whole head\r\nbody"), 10);
    assert_left("whole head\r\nbody");
    assert_int_equal(response.head_bytes, 12);
    assert_true(response.has_head && response.is_borrowed);
}

/* Interim ones before it were no part of it. */
TEST(a_relayed_answer_begins_anew)
{
    buf_put_literal(&response.head, "interim");
    response_add_memory(&response, BYTES("interim"));
    response_advance(&response, 7);
    response.body_bytes = 7;
    response_begin_relayed(&response, 299, BYTES("Good"));
    assert_int_equal(response.status, 299);
    assert_int_equal(response.bytes_sent, 0);
    assert_int_equal(response.body_bytes, 0);
    head_field(&response.head, BYTES("A"), BYTES("b"));
    response_add_head(&response);
    assert_left("A: b\r\n");
}

TEST(without_memory_for_fields_it_just_closes)
{
    response.persists = true;
    response.head.failed = true;
    response_add_head(&response);
    response_add_memory(&response, BYTES("body"));
    assert_left("");
    assert_int_equal(response.status, 500);
    assert_false(response.persists || response.has_head);
}

/* --- Parts --------------------------------------------------------------- */

TEST(a_new_response_has_nothing_to_send)
{
    assert_int_equal(response.status, 0);
    assert_left("");
    assert_true(response_is_done(&response));
    assert_false(response.persists || response.is_head || response.has_head ||
                 response.is_unsized || response.is_framed);
    assert_int_equal(response.bytes_sent, 0);
    assert_null(response.origin.object);
}

TEST(parts_are_sent_in_the_order_they_were_added)
{
    response_add_memory(&response, BYTES("abc"));
    response_add_file(&response, PART_SENDFILE, 7, 100, 5);
    response_add_memory(&response, BYTES("de"));
    response_add_file(&response, PART_READ, 8, 0, 1);
    assert_left("abc#####de#");
    assert_int_equal(response.part_count, 4);
    assert_int_equal(response.parts[1].kind, PART_SENDFILE);
    assert_int_equal(response.parts[1].fd, 7);
    assert_int_equal(response.parts[1].at.offset, 100);
    assert_int_equal(response.parts[3].kind, PART_READ);
    assert_int_equal(response.parts[3].fd, 8);
    assert_false(response_is_done(&response));
}

TEST(empty_parts_are_none)
{
    response_add_memory(&response, (struct bytes){NULL, 0});
    response_add_file(&response, PART_SENDFILE, 7, 100, 0);
    assert_int_equal(response.part_count, 0);
    assert_true(response_is_done(&response));
}

/* Wherever the kernel stops, the next byte is the one after. */
TEST(advancing_stops_anywhere_within_and_between_parts)
{
    static const char expected[] = "abc######de#f";
    enum { LEN = sizeof(expected) - 1 };

    for (size_t first = 0; first <= LEN; first++) {
        for (size_t second = first; second <= LEN; second++) {
            restart_response();
            assert_true(response_reserve_parts(&response, 6));
            response_add_memory(&response, BYTES("abc"));
            response_add_file(&response, PART_SENDFILE, 7, 100, 4);
            response_add_file(&response, PART_READ, 8, UINT64_C(1) << 40, 2);
            response_add_memory(&response, BYTES("de"));
            response_add_file(&response, PART_SENDFILE, 7, 0, 1);
            response_add_memory(&response, BYTES("f"));
            response_advance(&response, first);
            response_advance(&response, second - first);
            assert_left(expected + second);
            assert_int_equal(response.bytes_sent, second);
            assert_int_equal(response_is_done(&response), second == LEN);
            if (second >= 3 && second < 7)
                assert_int_equal(response.parts[1].at.offset, 97 + second);
            if (second >= 7 && second < 9)
                assert_int_equal(response.parts[2].at.offset,
                                 (UINT64_C(1) << 40) + second - 7);
            response_fini(&response);
        }
    }
}

TEST(parts_longer_than_32_bits_count)
{
    const uint64_t len = UINT64_C(5) << 32;

    response_add_file(&response, PART_SENDFILE, 7, 0, len);
    response_advance(&response, len - 1);
    assert_int_equal(response.bytes_left, 1);
    assert_int_equal(response.parts[0].at.offset, len - 1);
    response_advance(&response, 1);
    assert_true(response_is_done(&response));
    assert_int_equal(response.bytes_sent, len);
}

TEST(room_for_many_parts_keeps_those_there_are)
{
    response_add_memory(&response, BYTES("<"));
    assert_true(response_reserve_parts(&response, RESPONSE_PARTS_INLINE));
    assert_int_equal(allocations, 0);
    assert_true(response_reserve_parts(&response, 255));
    for (int i = 1; i < 254; i++)
        response_add_memory(&response, BYTES("-"));
    response_add_memory(&response, BYTES(">"));
    assert_int_equal(response.part_count, 255);
    assert_memory_equal(left().data, "<---", 4);
    response_advance(&response, 254);
    assert_left(">");
}

TEST(no_memory_for_parts_is_told_and_harms_nothing)
{
    response_add_memory(&response, BYTES("abc"));
    allocations_left = 0;
    assert_false(response_reserve_parts(&response, RESPONSE_PARTS_INLINE + 1));
    assert_left("abc");
}

TEST(what_was_borrowed_is_given_back_once)
{
    borrow();
    response_fini(&response);
    assert_int_equal(releases, 1);
    response_fini(&response);
    assert_int_equal(releases, 1);
}

/* --- Errors -------------------------------------------------------------- */

#define ERROR_HEAD                                          \
    "HTTP/1.1 404 Not Found\r\n" DATE "Server: sprintd\r\n" \
    "X-Content-Type-Options: nosniff\r\n"
#define ERROR_TYPE "Content-Type: text/html; charset=utf-8\r\n"

/* What a 404 with these fields is, and what ends its head. */
static const char *error_404(const char *fields, const char *end)
{
    static char whole[2048];
    char page[ERROR_PAGE_BYTES_MAX];
    struct bytes body = error_page_write(page, 404);
    size_t len = (size_t)snprintf(whole, sizeof(whole),
                                  ERROR_HEAD "%s" ERROR_TYPE
                                             "Content-Length: %zu\r\n%s\r\n",
                                  fields, body.len, end);

    memcpy(whole + len, body.data, body.len);
    whole[len + body.len] = '\0';
    return whole;
}

TEST(an_error_is_a_page_that_names_it)
{
    char page[ERROR_PAGE_BYTES_MAX];
    size_t page_bytes = error_page_write(page, 404).len;

    response.persists = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame();
    assert_left(error_404("", ""));
    assert_int_equal(response.status, 404);
    assert_int_equal(response.body_bytes, page_bytes);
    assert_int_equal(response.head_bytes, response.bytes_left - page_bytes);
    assert_int_equal(allocations, 0);
}

TEST(an_error_takes_further_fields)
{
    response.persists = true;
    response_make_error(&response, 404, BYTES("Allow: GET\r\nVary: A\r\n"),
                        &defaults);
    frame();
    assert_left(error_404("Allow: GET\r\nVary: A\r\n", ""));
}

TEST(an_error_in_answer_to_head_has_no_body_but_its_length)
{
    const char *whole;

    response.is_head = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame();
    whole = error_404("", "Connection: close\r\n");
    assert_memory_equal(left().data, whole, left().len);
    assert_int_equal(left().len, strstr(whole, "<!DOCTYPE") - whole);
    assert_int_equal(response.body_bytes, 0);
    assert_int_equal(response.head_bytes, response.bytes_left);
}

TEST(an_error_to_an_old_client_says_that_the_connection_goes_on)
{
    response.persists = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame_for_http10();
    assert_left(error_404("", "Connection: keep-alive\r\n"));
}

TEST(every_error_page_is_as_long_as_it_says)
{
    for (unsigned status = 100; status < 600; status++) {
        char length[60];
        const char *text;
        const char *body;

        response_make_error(&response, status, BYTES(""), &defaults);
        frame();
        text = left().data;
        body = strstr(text, "\r\n\r\n") + 4;
        snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n",
                 strlen(body));
        assert_non_null(strstr(text, length));
        assert_int_equal(strlen(body), response.body_bytes);
        assert_int_equal(strtoul(text + strlen("HTTP/1.1 "), NULL, 10), status);
    }
}

TEST(an_error_takes_the_place_of_what_was_there)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "1")};

    response_begin_relayed(&response, 200, BYTES("Fine"));
    response.has_date = true;
    response_add_source(&response, begin_script(lines));
    assert_true(response_reserve_parts(&response, 9));
    response_add_file(&response, PART_SENDFILE, 7, 0, 1000);
    response.body_bytes = 1000;
    response.persists = true;
    borrow();
    frame();
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame();
    assert_left(error_404("", ""));
    assert_int_equal(releases, 1);
    assert_int_equal(script.destroyed, 1);
    assert_null(response.source);
    assert_false(response.is_unsized);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

static char long_field[RESPONSE_HEAD_BYTES_MAX];

static struct bytes field_of(size_t len)
{
    memset(long_field, 'x', len);
    memcpy(long_field, "Location: /", 11);
    memcpy(long_field + len - 2, "\r\n", 2);
    return (struct bytes){long_field, len};
}

TEST(an_error_may_have_long_fields)
{
    struct bytes field = field_of(25000); /* an 8 KiB path, escaped */

    response_make_error(&response, 404, field, &defaults);
    frame();
    assert_int_equal(response.bytes_left,
                     strlen(error_404("", "Connection: close\r\n")) + 25000);
    assert_non_null(memmem(left().data, left().len, field.data, field.len));
    assert_true(response.status == 404 && !response.head.failed);
}

TEST(an_error_without_memory_just_closes)
{
    response.persists = true;
    borrow();
    allocations_left = 0;
    response_make_error(&response, 301, field_of(25000), &defaults);
    frame_for_http10();
    assert_left("");
    assert_true(response_is_done(&response));
    assert_int_equal(response.status, 301);
    assert_int_equal(response.head_bytes, 0);
    assert_int_equal(response.body_bytes, 0);
    assert_false(response.persists);
    assert_int_equal(releases, 1);
}

/* Wherever its room ends: in the fields, the room behind them, or the page. */
TEST(an_error_is_whole_or_just_closes)
{
    bool is_whole = true;

    allocations_left = 0;
    for (size_t len = 20; len < RESPONSE_HEAD_INLINE; len++) {
        restart_response();
        response.persists = true;
        response_make_error(&response, 404, field_of(len), &defaults);
        frame();
        if (response.bytes_left == 0) {
            is_whole = false;
            assert_false(response.persists);
            continue;
        }
        assert_true(is_whole); /* no longer one fits */
        assert_int_equal(response.bytes_left, strlen(error_404("", "")) + len);
        assert_memory_equal(left().data + left().len - 8, "</html>\n", 8);
    }
    assert_false(is_whole);
}

TEST(an_error_over_the_ceiling_just_closes)
{
    response.persists = true;
    response_make_error(&response, 301, field_of(RESPONSE_HEAD_BYTES_MAX),
                        &defaults);
    assert_left("");
    assert_false(response.persists);
}

/* --- Server-Timing ------------------------------------------------------- */

TEST(a_timed_head_says_what_is_known_when_it_leaves)
{
    char expected[200];

    response.persists = true;
    response.is_timed = true;
    buf_put(&response.head, BYTES("A: b\r\n"));
    response_begin(&response, 404, &(struct server_defaults){.now = &now});
    response_add_head(&response);
    response_set_timing(&response, BYTES("a;dur=10, b"));
    frame();
    response_set_timing(&response, BYTES("a;dur=2"));
    snprintf(expected, sizeof(expected),
             "HTTP/1.1 404 Not Found\r\n" DATE "A: b\r\n"
             "X-Content-Type-Options: nosniff\r\n"
             "Server-Timing: %-*s\r\n\r\n",
             RESPONSE_TIMING_BYTES, "a;dur=2");
    assert_left(expected);
    assert_int_equal(response.head_bytes, response.bytes_left);
    response_advance(&response, 1); /* too late */
    response_set_timing(&response, BYTES("a;dur=3"));
    assert_non_null(memmem(response.head.data, response.head.len, "dur=2", 5));
}

TEST(an_error_page_is_timed_like_any_other)
{
    response.is_timed = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame();
    response_set_timing(&response, BYTES("queue;dur=1"));
    assert_non_null(memmem(left().data, response.head_bytes,
                           "\r\nServer-Timing: queue;dur=1 ", 29));
    assert_int_equal(response.bytes_left,
                     response.head_bytes + response.body_bytes);
}

TEST(what_is_not_timed_has_no_room_for_it)
{
    response_make_error(&response, 404, BYTES(""), &defaults);
    response_set_timing(&response, BYTES("queue;dur=1"));
    assert_null(memmem(response.head.data, response.head.len, "queue", 5));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
