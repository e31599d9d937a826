/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/http1/http1_frame.h"

#include "http/status.h"
#include "unit/http/response_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct line empty[SCRIPT_MAX] = {SAY(END, "")};
static const struct line some[SCRIPT_MAX] = {SAY(END, "001")};

/* A response of one field, to be framed. */
static void put_field(void)
{
    head_field(&response.head, BYTES("A"), BYTES("b"));
}

static void begin(unsigned status)
{
    restart_response();
    response.persists = true;
    response.status = (uint16_t)status;
    put_field();
}

/* --- Heads of the response's own ----------------------------------------- */

TEST(a_head_begins_with_what_all_have)
{
    response_begin(&response, 404, &defaults);
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 404 Not Found\r\n" DATE "Server: sprintd\r\n"
                "X-Content-Type-Options: nosniff\r\n"
                "Connection: close\r\n\r\n");
    assert_int_equal(response.head_bytes, response.bytes_left);
    assert_int_equal(response.part_count, 1);
    assert_int_equal(allocations, 0);
}

TEST(the_server_field_can_be_left_out)
{
    const struct server_defaults nameless = {.now = &now};

    response_begin(&response, 200, &nameless);
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE "X-Content-Type-Options: nosniff\r\n"
                "Connection: close\r\n\r\n");
}

TEST(what_ends_a_head_is_there_where_it_is_due)
{
    static const struct {
        bool persists, is_http10, is_unsized, is_head;
        const char *end;
        bool goes_on; /* the connection */
    } cases[] = {
        {true, false, false, false, "\r\n", true},
        {true, true, false, false, "Connection: keep-alive\r\n\r\n", true},
        {false, false, false, false, "Connection: close\r\n\r\n", false},
        {false, true, false, false, "Connection: close\r\n\r\n", false},
        {true, false, true, false, "Transfer-Encoding: chunked\r\n\r\n", true},
        {true, true, true, false, "Connection: close\r\n\r\n", false},
        {false, false, true, false,
         "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n", false},
        {false, true, true, false, "Connection: close\r\n\r\n", false},
        {true, false, true, true, "Transfer-Encoding: chunked\r\n\r\n", true},
        {true, true, true, true, "Connection: close\r\n\r\n", false},
        {true, false, false, true, "\r\n", true},
        {true, true, false, true, "Connection: keep-alive\r\n\r\n", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char expected[200];

        begin(200);
        response.persists = cases[i].persists;
        response.is_head = cases[i].is_head;
        if (cases[i].is_unsized)
            response_add_source(&response, begin_script(empty));
        else
            response_add_head(&response);
        http1_frame(&response, cases[i].is_http10, &now);
        snprintf(expected, sizeof(expected),
                 "HTTP/1.1 200 OK\r\n" DATE "A: b\r\n%s", cases[i].end);
        assert_left(expected);
        assert_int_equal(response.head_bytes, response.bytes_left);
        assert_int_equal(response.persists, cases[i].goes_on);
    }
}

TEST(a_date_that_came_with_an_answer_is_its_own)
{
    response.persists = true;
    response_begin_relayed(&response, 200, BYTES("OK"));
    response.has_date = true;
    buf_put_literal(&response.head, "Date: then\r\n");
    response_add_head(&response);
    frame();
    assert_left("HTTP/1.1 200 OK\r\nDate: then\r\n\r\n");
}

static char long_phrase[RESPONSE_PHRASE_MAX + 2];

TEST(a_phrase_that_came_with_an_answer_is_kept)
{
    static const char *const phrases[] = {"", " ", "Very  good",
                                          long_phrase + 1};

    memset(long_phrase, 'p', RESPONSE_PHRASE_MAX + 1);
    for (size_t i = 0; i < COUNT(phrases); i++) {
        char expected[300];

        restart_response();
        response.persists = true;
        response_begin_relayed(&response, 299, bytes_of(phrases[i]));
        put_field();
        response_add_head(&response);
        frame();
        snprintf(expected, sizeof(expected),
                 "HTTP/1.1 299 %s\r\n" DATE "A: b\r\n\r\n", phrases[i]);
        assert_left(expected);
    }
}

TEST(a_phrase_too_long_for_anybody_is_not)
{
    static const unsigned statuses[] = {200, 299};

    memset(long_phrase, 'p', RESPONSE_PHRASE_MAX + 1);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        char expected[200];
        struct bytes ours = status_reason(statuses[i]);

        restart_response();
        response.persists = true;
        response_begin_relayed(&response, statuses[i], bytes_of(long_phrase));
        put_field();
        response_add_head(&response);
        frame();
        snprintf(expected, sizeof(expected),
                 "HTTP/1.1 %u %.*s\r\n" DATE "A: b\r\n\r\n", statuses[i],
                 (int)ours.len, ours.data);
        assert_left(expected);
    }
}

/* It lies where more fields than there was room for have been moved from. */
TEST(a_phrase_stays_before_a_head_that_outgrows_its_room)
{
    static char value[30000];

    memset(value, 'v', sizeof(value));
    response.persists = true;
    response_begin_relayed(&response, 200, BYTES("Fine"));
    head_field(&response.head, BYTES("A"),
               (struct bytes){value, sizeof(value)});
    response_add_head(&response);
    frame();
    assert_memory_equal(left().data, "HTTP/1.1 200 Fine\r\n" DATE "A: vvv", 62);
    assert_memory_equal(left().data + left().len - 6, "vv\r\n\r\n", 6);
    assert_int_equal(response.bytes_left,
                     19 + sizeof(DATE) - 1 + sizeof(value) + 7);
    assert_int_equal(response.part_count, 1);
}

/* For each length that fields may have, room or none. */
TEST(a_head_is_whole_or_the_connection_closes)
{
    static char text[RESPONSE_HEAD_INLINE + 10];
    bool is_whole = true;

    memset(text, 'f', sizeof(text));
    allocations_left = 0;
    for (size_t len = 1; len < sizeof(text); len++) {
        restart_response();
        response_begin_relayed(&response, 200, bytes_of(long_phrase + 1));
        buf_put(&response.head, (struct bytes){text, len});
        response_add_source(&response, begin_script(some));
        allocations_left = response.source ? -1 : 0; /* chunks have their own */
        frame();
        allocations_left = 0;
        if (response.bytes_left == 0) {
            is_whole = false;
            assert_false(response.persists);
            assert_true(response_is_done(&response));
            continue;
        }
        assert_true(is_whole); /* no longer one fits */
        assert_int_equal(response.bytes_left, 15 + RESPONSE_PHRASE_MAX +
                                                  sizeof(DATE) - 1 + len + 49);
    }
    assert_false(is_whole);
    assert_int_equal(script.destroyed, 1);
}

TEST(more_framing_does_nothing)
{
    begin(200);
    response_add_source(&response, begin_script(some));
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE
                "A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    response_advance(&response, 10);
    frame();
    frame_for_http10();
    assert_true(response.persists);
    assert_int_equal(left().len, response.head_bytes - 10);
    response_advance(&response, response.bytes_left);
    assert_true(response_pull(&response, UINT64_MAX));
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

TEST(what_has_not_been_made_is_not_framed)
{
    response.persists = true;
    response.status = 200;
    put_field();
    frame();
    assert_left("");
    assert_true(response.persists);
    response_add_head(&response); /* now it is */
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE "A: b\r\n\r\n");
}

TEST(a_head_is_copied_for_logs_as_it_leaves)
{
    struct buf copy;

    buf_init(&copy, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    response.head_copy = &copy;
    response.persists = true;
    response_make_error(&response, 404, BYTES(""), &defaults);
    frame();
    assert_int_equal(copy.len, response.head_bytes);
    assert_memory_equal(copy.data, left().data, copy.len);
    response_make_error(&response, 500, BYTES(""),
                        &defaults); /* in its place */
    frame();
    assert_memory_equal(copy.data, "HTTP/1.1 500 ", 13);
    assert_int_equal(copy.len, response.head_bytes);
    assert_memory_equal(copy.data, left().data, copy.len);
    buf_fini(&copy);
}

/* --- Protocols that change, and what comes before an answer -------------- */

TEST(a_switch_says_that_it_is_one)
{
    static const bool persists[] = {true, false};

    for (size_t i = 0; i < COUNT(persists); i++) {
        restart_response();
        response.persists = persists[i];
        response_begin_relayed(&response, 101, BYTES("Switching"));
        response.is_timed = true; /* a bare head gets nothing besides */
        response.id_line = BYTES("X-Request-Id: a\r\n");
        buf_put_literal(&response.head, "Upgrade: websocket\r\n");
        response_add_bare_head(&response);
        frame();
        assert_left("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n"
                    "Connection: upgrade\r\n\r\n");
        assert_int_equal(response.head_bytes, response.bytes_left);
    }
}

TEST(an_interim_response_is_whole)
{
    char storage[200];
    struct buf out;

    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    http1_put_interim(&out, 100, BYTES("Continue"), BYTES(""));
    http1_put_interim(&out, 103, BYTES(""), BYTES("Link: </a>\r\n"));
    assert_true(bytes_eq(buf_bytes(&out),
                         BYTES("HTTP/1.1 100 Continue\r\n\r\n"
                               "HTTP/1.1 103 \r\nLink: </a>\r\n\r\n")));
}

/* --- Bodies of unknown length -------------------------------------------- */

TEST(a_source_goes_in_chunks_and_the_connection_stays)
{
    begin(200);
    response_add_source(&response, begin_script(some));
    frame();
    assert_true(response.persists);
    response_advance(&response, response.bytes_left);
    assert_true(response_pull(&response, UINT64_MAX));
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_done();
}

TEST(to_http10_a_source_ends_with_the_connection)
{
    begin(200);
    response_add_source(&response, begin_script(some));
    frame_for_http10();
    assert_false(response.persists);
    response_advance(&response, response.bytes_left);
    assert_true(response_pull(&response, UINT64_MAX));
    assert_left("001");
    response_advance(&response, response.bytes_left);
    assert_done();
}

TEST(a_known_length_serves_a_client_of_http10_that_goes_on)
{
    begin(200);
    response_add_source_of(&response, NULL, 0);
    frame_for_http10();
    assert_left("HTTP/1.1 200 OK\r\n" DATE "A: b\r\nContent-Length: 0\r\n"
                "Connection: keep-alive\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

TEST(head_says_the_framing_and_has_no_source)
{
    begin(200);
    response.is_head = true;
    response_add_source(&response, begin_script(some));
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE
                "A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_null(response.source);
    assert_int_equal(script.pulls, 0);
    assert_int_equal(script.destroyed, 1);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

TEST(head_needs_no_source)
{
    begin(200);
    response.is_head = true;
    allocations = 0;
    response_add_source(&response, NULL);
    frame();
    assert_left("HTTP/1.1 200 OK\r\n" DATE
                "A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(allocations, 0);
    assert_true(response.persists);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

TEST(without_memory_for_chunks_the_connection_just_closes)
{
    begin(200);
    borrow();
    response_add_source(&response, begin_script(some));
    allocations_left = 0;
    frame();
    assert_left("");
    assert_true(response_is_done(&response));
    assert_false(response.persists);
    assert_int_equal(response.status, 500);
    assert_int_equal(response.head_bytes, 0);
    assert_int_equal(script.destroyed, 1);
    assert_null(response.source);
    response_fini(&response);
    assert_int_equal(releases, 1);
}

/* --- Heads that a cache has made ----------------------------------------- */

#define CACHED "HTTP/1.1 200 OK\r\n" DATE "A: b\r\n"

/* As it lies in an entry: head, empty line, body. */
static const char block[] = CACHED "\r\nbody";
enum { CACHED_BYTES = sizeof(CACHED) - 1, BODY_AT = CACHED_BYTES + 2 };

enum body_place { BODY_BEHIND, BODY_ELSEWHERE, BODY_IN_FILE, NO_BODY };

static void borrow_head(bool persists, enum body_place place)
{
    size_t len = place == BODY_BEHIND ? sizeof(block) - 1 : (size_t)BODY_AT;

    restart_response();
    response.persists = persists;
    response.status = 200;
    response_borrow_head(&response, (struct bytes){block, len}, CACHED_BYTES);
    if (place == BODY_ELSEWHERE)
        response_add_memory(&response, BYTES("body"));
    else if (place == BODY_IN_FILE)
        response_add_file(&response, PART_READ, 7, 3, 4);
}

TEST(a_cached_head_has_its_date_where_another_may_be_written)
{
    char storage[300];
    struct buf head;

    buf_init(&head, storage, sizeof(storage), sizeof(storage));
    http1_begin_cached_head(&head, &now);
    assert_int_equal(head.len, HTTP1_CACHED_FIELDS_AT);
    assert_true(bytes_eq(buf_bytes(&head), BYTES("HTTP/1.1 200 OK\r\n" DATE)));
    assert_memory_equal(head.data + HTTP1_CACHED_DATE_AT,
                        "Sun, 06 Nov 1994 08:49:37 GMT\r\n", 31);
}

TEST(a_cached_head_and_the_body_behind_it_leave_in_one_part)
{
    borrow_head(true, BODY_BEHIND);
    frame();
    assert_left(CACHED "\r\nbody");
    assert_int_equal(response.part_count, 1);
    assert_ptr_equal(response.parts[0].at.memory, block);
    assert_int_equal(response.head_bytes, BODY_AT);
    assert_int_equal(allocations, 0);
}

TEST(a_body_that_lies_elsewhere_is_a_part_of_its_own)
{
    borrow_head(true, BODY_ELSEWHERE);
    frame();
    assert_left(CACHED "\r\nbody");
    assert_int_equal(response.part_count, 2);
    assert_int_equal(response.head_bytes, BODY_AT);
    borrow_head(true, BODY_IN_FILE);
    frame();
    assert_left(CACHED "\r\n####");
    assert_int_equal(response.part_count, 2);
    assert_int_equal(response.parts[1].kind, PART_READ);
    assert_int_equal(response.parts[1].at.offset, 3);
}

/* What says so stands between the head and the body, and is in neither. */
TEST(what_the_connection_does_is_said_behind_a_cached_head)
{
    static const char *const bodies[] = {[BODY_BEHIND] = "body",
                                         [BODY_ELSEWHERE] = "body",
                                         [BODY_IN_FILE] = "####",
                                         [NO_BODY] = ""};
    static const struct {
        bool persists, is_http10;
        const char *between;
    } cases[] = {
        {true, false, "\r\n"},
        {false, false, "Connection: close\r\n\r\n"},
        {false, true, "Connection: close\r\n\r\n"},
        {true, true, "Connection: keep-alive\r\n\r\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t place = 0; place < COUNT(bodies); place++) {
            char expected[200];

            borrow_head(cases[i].persists, (enum body_place)place);
            http1_frame(&response, cases[i].is_http10, &now);
            snprintf(expected, sizeof(expected), CACHED "%s%s",
                     cases[i].between, bodies[place]);
            for (int again = 0; again < 2; again++) {
                assert_left(expected);
                assert_int_equal(response.head_bytes,
                                 CACHED_BYTES + strlen(cases[i].between));
                assert_int_equal(response.persists, cases[i].persists);
                frame(); /* more does nothing */
            }
        }
    }
}

TEST(parts_behind_a_cached_head_stay_in_their_order)
{
    borrow_head(false, BODY_ELSEWHERE);
    response_add_file(&response, PART_SENDFILE, 7, 9, 3);
    frame();
    assert_left(CACHED "Connection: close\r\n\r\nbody###");
    assert_int_equal(response.part_count, 4);
    assert_int_equal(response.parts[3].at.offset, 9);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
