/*
 * source_fixture - sources that say what a test has written down for them, and
 * memory that can be refused. Needs `link: -Wl,--wrap=malloc,--wrap=realloc`.
 */
#ifndef UNIT_SOURCE_FIXTURE_H
#define UNIT_SOURCE_FIXTURE_H

#include "http/body.h"
#include "suite.h"
#include "unit/memory.h"

/* --- Memory that can be refused ------------------------------------------ */

void give_memory(void);

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

extern struct script script;

struct source *begin_script(const struct line lines[SCRIPT_MAX]);

#endif
