#include "unit/engine/later_fixture.h"

struct later later;

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    (void)text;
    later.fills++;
    if (later.given.len > 0) {
        struct bytes piece = later.given;

        if (piece.len > text_source_room(out))
            piece.len = text_source_room(out);
        buf_put(out, piece);
        later.given.data += piece.len;
        later.given.len -= piece.len;
        return PIECE_MORE;
    }
    return later.is_over ||
                   (later.ends_by_drain && set.shared.context.is_draining)
               ? PIECE_END
               : PIECE_LATER;
}

static void destroy(struct text_source *text)
{
    later.open_sources--;
    free(text);
}

static struct source *open_source(void)
{
    struct text_source *text = malloc(sizeof(*text));

    assert_non_null(text);
    text_source_init(text, fill, destroy);
    later.open_sources++;
    return &text->source;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;

    assert_null(self);
    assert_int_equal(rest.len, 0);
    assert_int_equal(exchange->peer->family, ADDRESS_UNIX);
    response_begin(response, 200, &set.shared.context.defaults);
    if (later.announced > 0)
        response_add_source_of(response, open_source(), later.announced);
    else
        response_add_source(response, open_source());
}

/* Answers of which nothing is known before they are over, but what comes before
 * them. */
struct late {
    struct pending pending;
    struct exchange *exchange;
};

static void destroy_late(struct pending *pending)
{
    later.open_sources--;
    free(OWNER_OF(pending, struct late, pending));
}

static struct answer look_late(struct pending *pending)
{
    struct exchange *exchange =
        OWNER_OF(pending, struct late, pending)->exchange;
    struct bytes fields = bytes_of(later.interim ? later.interim : "");

    later.looks++;
    if (later.interim) {
        later.interim = NULL;
        return (struct answer){.state = ANSWER_INTERIM,
                               .status = 103,
                               .phrase = BYTES("Early Hints"),
                               .fields = fields};
    }
    if (!later.is_over)
        return (struct answer){.state = ANSWER_LATER};
    exchange->pending = NULL;
    destroy_late(pending);
    if (later.is_relayed) {
        response_begin_relayed(&exchange->response, 200, BYTES("OK"));
        response_add_source(&exchange->response, open_source());
    } else if (later.body.len > 0) {
        response_make_short(&exchange->response, 200, BYTES(""), BYTES("a/b"),
                            later.body, &set.shared.context.defaults);
    } else {
        response_make_error(&exchange->response, 404, BYTES(""),
                            &set.shared.context.defaults);
    }
    return (struct answer){.state = ANSWER_READY};
}

static void answer_late(void *self, struct exchange *exchange,
                        struct bytes rest)
{
    struct late *late = malloc(sizeof(*late));

    (void)self;
    (void)rest;
    assert_non_null(late);
    *late = (struct late){.pending = {.look = look_late,
                                      .destroy = destroy_late,
                                      .is_sure = later.is_sure},
                          .exchange = exchange};
    exchange->pending = &late->pending;
    later.open_sources++;
}

int later_set_up(void **state)
{
    later = (struct later){.given = BYTES("")};
    memset(&stats, 0, sizeof(stats));
    if (set_up(state) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){.prefix = BYTES("/later"),
                                             .handler = {.answer = answer}};
    sites_options.mounts[1] = (struct mount){
        .prefix = BYTES("/late"), .handler = {.answer = answer_late}};
    sites_options.mount_count = 2;
    conn_fixture_fini();
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

int later_tear_down(void **state)
{
    return tear_down(state) == 0 && later.open_sources == 0 ? 0 : -1;
}

const char *later_give(struct client *client, const char *text)
{
    later.given = bytes_of(text);
    client->len = 0;
    client->text[0] = '\0';
    conn_set_wake(&set);
    settle(client);
    return client->text;
}

void later_begin(struct client *client)
{
    client_open(client);
    assert_has(talk(client, GET("/later")), "HTTP/1.1 200 OK\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
}

void later_expect_counted(uint64_t requests, uint64_t timed)
{
    static struct distribution service;

    service = (struct distribution){0};
    histogram_add_to(&stats.service, &service);
    assert_int_equal(counter_read(&stats.methods[METHOD_GET]), requests);
    assert_int_equal(counter_read(&stats.incomplete), 0);
    assert_int_equal(service.count, timed);
}
