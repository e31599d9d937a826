#include "unit/http/source_fixture.h"

#include "base/list.h"

/* --- Memory that can be refused ------------------------------------------ */

void give_memory(void)
{
    allocations_left = -1;
    allocations = 0;
}

/* --- A source that says what is written down ------------------------------ */

struct script script;

static struct piece next_line(struct source *source, uint64_t at_most)
{
    struct script *its = OWNER_OF(source, struct script, source);
    const struct line *line = &its->lines[its->at];
    struct piece piece = {.state = line->state, .joins = line->joins};

    its->pulls++;
    assert_in_range(its->at, 0, SCRIPT_MAX - 1);
    assert_true(at_most > 0);
    if (line->trailer)
        piece.trailer = bytes_of(line->trailer);
    if (line->pipe > 0) {
        assert_true(line->pipe <= at_most);
        piece.part = (struct part){
            .kind = PART_PIPE, .fd = 42, .len = line->pipe};
        its->at++;
        return piece;
    }
    assert_non_null(line->text); /* or it was pulled behind its end */
    piece.part = part_of_memory(bytes_of(line->text + its->said));
    if (piece.part.len > at_most) {
        piece = (struct piece){.state = PIECE_MORE, .part = piece.part};
        piece.part.len = at_most;
        its->said += at_most;
        return piece;
    }
    its->at++;
    its->said = 0;
    return piece;
}

static void destroy_script(struct source *source)
{
    OWNER_OF(source, struct script, source)->destroyed++;
}

struct source *begin_script(const struct line lines[SCRIPT_MAX])
{
    script = (struct script){
        .source = {.next = next_line, .destroy = destroy_script}};
    memcpy(script.lines, lines, sizeof(script.lines));
    return &script.source;
}
