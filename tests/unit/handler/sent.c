#include "unit/handler/sent.h"

bool sent_look(struct exchange *exchange, const struct now *when)
{
    struct response *response = &exchange->response;

    if (exchange->pending) {
        struct answer answer = exchange->pending->look(exchange->pending);

        assert_int_equal(response->bytes_sent, 0);
        assert_int_not_equal(answer.state, ANSWER_INTERIM);
        if (answer.state == ANSWER_LATER) {
            assert_non_null(exchange->pending);
            assert_int_equal(response->bytes_left, 0);
            return false;
        }
        response_put_error_body(response);
    }
    if (exchange->pending)
        return false; /* another has taken the place of who was ready */
    http1_frame(response,
                exchange->request.minor == 0 &&
                    exchange->request.method_name.len > 0,
                when);
    return true;
}

enum sent_step sent_step(struct exchange *exchange, const struct now *when)
{
    struct response *response = &exchange->response;

    if (exchange->pending)
        return sent_look(exchange, when) ? SENT_ON : SENT_LATER;
    if (!response_pull(response, UINT64_MAX))
        return SENT_FAILED;
    return response->is_waiting && response->bytes_left == 0 ? SENT_LATER
                                                             : SENT_ON;
}

bool sent_is_memory(const struct response *response)
{
    for (unsigned i = response->part_at; i < response->part_count; i++)
        if (response->parts[i].kind != PART_MEMORY)
            return false;
    return true;
}

size_t sent_copy(const struct response *response, char *to, size_t room)
{
    size_t len = 0;

    for (unsigned i = response->part_at; i < response->part_count; i++) {
        const struct part *part = &response->parts[i];

        assert_in_range(part->len, 1, room - len - 1);
        if (part->kind == PART_MEMORY)
            memcpy(to + len, part->at.memory, part->len);
        else
            assert_int_equal(pread(part->fd, to + len, part->len,
                                   (off_t)part->at.offset),
                             part->len);
        len += part->len;
    }
    assert_int_equal(len, response->bytes_left);
    to[len] = '\0';
    return len;
}

size_t sent_take(struct response *response, char *to, size_t room)
{
    size_t len = sent_copy(response, to, room);

    response_advance(response, len);
    return len;
}

size_t sent_unchunk(const char *chunks, char *to)
{
    size_t len = 0;

    for (;;) {
        char *end;
        size_t size = strtoul(chunks, &end, 16);

        if (size == 0)
            break;
        assert_memory_equal(end, "\r\n", 2);
        memcpy(to + len, end + 2, size);
        len += size;
        chunks = end + 2 + size;
        assert_memory_equal(chunks, "\r\n", 2);
        chunks += 2;
    }
    to[len] = '\0';
    return len;
}
