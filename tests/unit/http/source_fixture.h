/*
 * source_fixture - sources that say what a test has written down for them, and
 * memory that can be refused. Needs `link: -Wl,--wrap=malloc,--wrap=realloc`.
 */
#ifndef TESTS_SOURCE_FIXTURE_H
#define TESTS_SOURCE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/list.h"
#include "http/body.h"

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

static inline void give_memory(void)
{
    has_memory = true;
    allocations = 0;
}

/* --- A source that says what is written down ------------------------------ */

enum { SCRIPT_MAX = 4 };

/* A piece as a table has it. */
struct line {
    enum piece_state state;
    const char *text; /* NULL, without pipe: there is none */
    bool joins;
    uint64_t pipe; /* so many bytes of the pipe 42 instead of text */
    const char *trailer;
};

#define SAY(how, what)                       \
    {                                        \
        .state = PIECE_##how, .text = (what) \
    }

struct script {
    struct source source;
    struct line lines[SCRIPT_MAX];
    unsigned at;
    size_t said; /* of the line that is next, by at_most */
    unsigned pulls;
    unsigned destroyed;
};

static inline struct piece next_line(struct source *source, uint64_t at_most)
{
    struct script *script = OWNER_OF(source, struct script, source);
    const struct line *line = &script->lines[script->at];
    struct piece piece = {.state = line->state, .joins = line->joins};

    script->pulls++;
    assert_in_range(script->at, 0, SCRIPT_MAX - 1);
    assert_true(at_most > 0);
    if (line->trailer)
        piece.trailer = bytes_of(line->trailer);
    if (line->pipe > 0) {
        assert_true(line->pipe <= at_most);
        piece.part = (struct part){
            .kind = PART_PIPE, .fd = 42, .len = line->pipe};
        script->at++;
        return piece;
    }
    assert_non_null(line->text); /* or it was pulled behind its end */
    piece.part = part_of_memory(bytes_of(line->text + script->said));
    if (piece.part.len > at_most) {
        piece = (struct piece){.state = PIECE_MORE, .part = piece.part};
        piece.part.len = at_most;
        script->said += at_most;
        return piece;
    }
    script->at++;
    script->said = 0;
    return piece;
}

static inline void destroy_script(struct source *source)
{
    OWNER_OF(source, struct script, source)->destroyed++;
}

static struct script script;

static inline struct source *begin_script(const struct line lines[SCRIPT_MAX])
{
    script = (struct script){
        .source = {.next = next_line, .destroy = destroy_script}};
    memcpy(script.lines, lines, sizeof(script.lines));
    return &script.source;
}

#endif
