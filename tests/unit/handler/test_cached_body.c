#include "handler/cached/cached_priv.h"
#include "unit/handler/asked.h"

static struct cache_body_counts counts;
static const struct address peer;

SUITE(.each_begin = begin_asking, .each_end = end_asking);

static struct cache_body *make_body(const char *text, bool is_whole)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);

    assert_true(cache_body_put(body, bytes_of(text)));
    if (is_whole)
        cache_body_end(body, true);
    return body;
}

static void add(struct cache_body *body, uint64_t first, uint64_t length)
{
    ask("GET /", "");
    exchange.neighbour = &peer;
    response_begin_relayed(&exchange.response, 200, BYTES("OK"));
    cached_add_body(NULL, &exchange, body, first, length);
}

/* Another worker may put its end between two looks at it. */
TEST(what_became_whole_since_its_length_was_asked_for_has_that)
{
    struct cache_body *body = make_body("hello", true);

    add(body, 0, CACHE_LENGTH_UNKNOWN);
    assert_has("Content-Length: 5\r\n");
    assert_has("\r\n\r\nhello");
    add(body, 2, CACHE_LENGTH_UNKNOWN);
    assert_has("Content-Length: 3\r\n");
    assert_has("\r\n\r\nllo");
    cache_body_release(&body);
}

TEST(a_part_of_what_is_whole_is_as_long_as_it_was_said)
{
    struct cache_body *body = make_body("hello", true);

    add(body, 1, 3);
    assert_has("Content-Length: 3\r\n");
    assert_has("\r\n\r\nell");
    add(body, 5, 0);
    assert_has("Content-Length: 0\r\n");
    cache_body_release(&body);
}

TEST(without_a_body_there_is_no_length)
{
    add(NULL, 0, 0);
    assert_has_not("Content-Length");
}
