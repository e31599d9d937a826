#include "unit/http/response_fixture.h"

const struct now now = {.wall_s = 784111777};
const struct server_defaults defaults = {.server_field = true, .now = &now};
struct response response;
static struct response_room room;
int releases;

static bool is_intact(void *object)
{
    (void)object;
    return true;
}

static void release(void *object)
{
    assert_ptr_equal(object, &releases);
    releases++;
}

void borrow(void)
{
    response.origin = (struct origin){is_intact, release, &releases};
}

int set_up(void **state)
{
    (void)state;
    give_memory();
    releases = 0;
    memset(&response, 0xAA, sizeof(response));
    memset(&room, 0xAA, sizeof(room));
    response_init(&response, &room);
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    response_fini(&response);
    return 0;
}

void restart_response(void)
{
    response_fini(&response);
    response_init(&response, &room);
}

void frame(void)
{
    http1_frame(&response, false, &now);
}

void frame_for_http10(void)
{
    http1_frame(&response, true, &now);
}

struct bytes left(void)
{
    static char text[200000];
    size_t len = 0;

    for (unsigned i = response.part_at; i < response.part_count; i++) {
        const struct part *part = &response.parts[i];

        assert_true(len + part->len < sizeof(text));
        if (part->kind == PART_MEMORY)
            memcpy(text + len, part->at.memory, part->len);
        else
            memset(text + len, '#', part->len);
        len += part->len;
    }
    text[len] = '\0';
    assert_int_equal(response.bytes_left, len);
    return (struct bytes){text, len};
}

void assert_left(const char *expected)
{
    assert_string_equal(left().data, expected);
}

void assert_done(void)
{
    assert_true(response_is_done(&response));
    assert_int_equal(script.destroyed, 0);
    response_fini(&response);
    assert_int_equal(script.destroyed, 1);
    assert_null(response.source);
}
