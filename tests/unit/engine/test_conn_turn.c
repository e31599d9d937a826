/*
 * What one turn may do of work that sends nothing, as before a listing begins.
 */
#include "base/now.h"
#include "unit/engine/conn_fixture.h"

enum {
    FILLS = 100,
    FILL_NS = 300000,
    FILLS_AT_ONCE = 16 /* 8 in any case, and those of 1 ms */
};

static unsigned fills;

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    uint64_t end_ns = now_read_ns() + FILL_NS;

    (void)text;
    while (now_read_ns() < end_ns)
        ;
    if (++fills < FILLS)
        return PIECE_MORE;
    buf_put_literal(out, "done");
    return PIECE_END;
}

static void destroy(struct text_source *text)
{
    free(text);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct text_source *text = malloc(sizeof(*text));

    (void)self;
    (void)rest;
    assert_non_null(text);
    text_source_init(text, fill, destroy);
    response_begin(&exchange->response, 200, &set.shared.context.defaults);
    response_add_source(&exchange->response, &text->source);
}

TEST(what_makes_nothing_leaves_the_turn_to_others)
{
    struct client client;
    unsigned most = 0;

    fills = 0;
    set.shared.context.handler.answer = answer;
    client_open_with(&client, GET("/"));
    for (int turns = 0; turns < FILLS + 4; turns++) {
        unsigned before = fills;

        turn();
        if (fills - before > most)
            most = fills - before;
    }
    assert_int_equal(fills, FILLS);
    assert_in_range(most, 2, FILLS_AT_ONCE);
    (void)client_receive(&client, RECEIVED_MAX);
    assert_non_null(strstr(client.text, "00000004\r\ndone\r\n0\r\n\r\n"));
    client_close(&client);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
