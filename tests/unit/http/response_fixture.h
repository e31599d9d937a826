/*
 * response_fixture - one response to look at, a stream to give it, and memory
 * that can be refused. Needs `link: -Wl,--wrap=malloc,--wrap=realloc`.
 */
#ifndef TESTS_RESPONSE_FIXTURE_H
#define TESTS_RESPONSE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/list.h"
#include "http/response.h"

/* --- Memory that can be refused ------------------------------------------ */

static bool has_memory;
static int allocations;

void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return has_memory ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return has_memory ? __real_realloc(memory, size) : NULL;
}

/* --- One response to look at --------------------------------------------- */

static const struct now now = {.wall_s = 784111777};
static const struct response_style style = {.server_field = true, .now = &now};

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
    has_memory = true;
    allocations = 0;
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

/* --- A stream to give it -------------------------------------------------- */

/* A stream of so many pieces; each holds its number, in so many digits. */
struct counter {
    struct stream stream;
    int pieces;
    int digits;
    int failure; /* what fill returns instead, when it is not 0 */
    int fills;
    int destroyed;
};

static inline int fill_counter(struct stream *stream, struct buf *out)
{
    struct counter *counter = OWNER_OF(stream, struct counter, stream);

    if (counter->fills < counter->pieces)
        buf_printf(out, "%0*d", counter->digits, ++counter->fills);
    if (counter->failure != 0)
        return counter->failure;
    return counter->fills < counter->pieces;
}

static inline void destroy_counter(struct stream *stream)
{
    OWNER_OF(stream, struct counter, stream)->destroyed++;
}

static struct counter counter;

static inline void add_stream(int pieces, int digits)
{
    counter = (struct counter){.stream = {fill_counter, destroy_counter},
                               .pieces = pieces,
                               .digits = digits};
    response.stream = &counter.stream;
}

#endif
