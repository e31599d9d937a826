/*
 * response_fixture - one response to look at, with a source to give it.
 */
#ifndef TESTS_RESPONSE_FIXTURE_H
#define TESTS_RESPONSE_FIXTURE_H

#include "source_fixture.h"

#include "http/http1_frame.h"

static const struct now now = {.wall_s = 784111777};
static const struct response_style style = {.server_field = true, .now = &now};

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static struct response response;
static int releases; /* of the origin */

static inline bool is_intact(void *object)
{
    (void)object;
    return true;
}

static inline void release(void *object)
{
    assert_ptr_equal(object, &releases);
    releases++;
}

static inline void borrow(void)
{
    response.origin = (struct origin){is_intact, release, &releases};
}

static inline int set_up(void **state)
{
    (void)state;
    give_memory();
    releases = 0;
    memset(&response, 0xAA, sizeof(response));
    response_init(&response);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    response_fini(&response);
    return 0;
}

static inline void restart_response(void)
{
    response_fini(&response);
    response_init(&response);
}

/* As a protocol of that version does before the response is sent. */
static inline void frame(void)
{
    http1_frame(&response, false, &now);
}

static inline void frame_for_http10(void)
{
    http1_frame(&response, true, &now);
}

/* All bytes still to send; parts of files count as so many '#'. */
static inline struct bytes left(void)
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

static inline void assert_left(const char *expected)
{
    assert_string_equal(left().data, expected);
}

/* A response is done with its source when all has been sent, but gives it back
 * only in the end. */
static inline void assert_done(void)
{
    assert_true(response_is_done(&response));
    assert_int_equal(script.destroyed, 0);
    response_fini(&response);
    assert_int_equal(script.destroyed, 1);
    assert_null(response.source);
}

#endif
