#include "base/glob.h"

enum { LITERAL, ANY_BYTE, RUN, DEEP_RUN };

/* A partial match: the step of the pattern that it has reached, and where its
 * wildcards began and ended. */
struct way {
    uint8_t at;
    uint16_t begins[GLOB_CAPTURES_MAX];
    uint16_t ends[GLOB_CAPTURES_MAX];
};

/* The partial matches at one position of the text, the best first. Of two that
 * have reached the same step, only the better one is kept. */
struct front {
    unsigned count;
    bool has[GLOB_BYTES_MAX + 1];
    struct way ways[GLOB_BYTES_MAX + 1];
};

static bool is_run(const struct glob *glob, unsigned at)
{
    return at < glob->count && glob->steps[at].kind >= RUN;
}

/* --- Reading a pattern --------------------------------------------------- */

static const char *read_run(struct glob *glob, struct bytes text, size_t *at)
{
    size_t stars = 1;

    while (*at + stars < text.len && text.data[*at + stars] == '*')
        stars++;
    if (stars > 2)
        return "has more than two '*' in a row";
    if (glob->captures == GLOB_CAPTURES_MAX)
        return "has more than nine '*' or '**'";
    glob->steps[glob->count++] = (struct glob_step){stars == 1 ? RUN : DEEP_RUN,
                                                    (char)glob->captures++};
    *at += stars - 1;
    return NULL;
}

const char *glob_read(struct glob *glob, struct bytes text)
{
    const char *fault = NULL;

    *glob = (struct glob){0};
    if (text.len == 0)
        return "is empty";
    if (text.len > GLOB_BYTES_MAX)
        return "is longer than 200 bytes";
    for (size_t at = 0; at < text.len && !fault; at++) {
        char c = text.data[at];

        if (c == '*') {
            fault = read_run(glob, text, &at);
            continue;
        }
        if (c == '\\' && ++at == text.len)
            return "ends in a backslash";
        if ((unsigned char)text.data[at] < 0x20 || text.data[at] == 0x7F)
            return "has a control character";
        glob->steps[glob->count++] = (struct glob_step){
            c == '?' ? ANY_BYTE : LITERAL, text.data[at]};
    }
    return fault;
}

/* --- Matching ------------------------------------------------------------ */

static void put(struct front *front, unsigned at, const struct way *way)
{
    struct way *to = &front->ways[front->count];

    if (front->has[at])
        return;
    front->has[at] = true;
    front->count++;
    *to = *way;
    to->at = (uint8_t)at;
}

/* Adds to `front` a partial match that has reached step `at` at a position of
 * the text. For a run (* or **) it adds two: one that leaves the run, which is
 * better, and one that stays in it. No run directly follows another. `is_new`
 * means that the match enters the run here. */
static void arrive(const struct glob *glob, struct front *front, unsigned at,
                   const struct way *way, size_t position, bool is_new)
{
    struct way run;
    unsigned number;

    if (!is_run(glob, at)) {
        put(front, at, way);
        return;
    }
    run = *way;
    number = (unsigned)glob->steps[at].byte;
    if (is_new)
        run.begins[number] = (uint16_t)position;
    run.ends[number] = (uint16_t)position;
    put(front, at + 1, &run);
    put(front, at, &run);
}

/* Empties a front; clears only the part that this glob uses. */
static void empty(const struct glob *glob, struct front *front)
{
    front->count = 0;
    memset(front->has, 0, glob->count + 1u);
}

/* Whether a step other than * and ** matches this byte. */
static bool takes(const struct glob_step *step, char c)
{
    return step->kind == LITERAL ? c == step->byte : c != '/';
}

/* Moves every partial match past the byte `c`, to `position` behind it. */
static void advance(const struct glob *glob, const struct front *from,
                    struct front *to, char c, size_t position)
{
    empty(glob, to);
    for (unsigned i = 0; i < from->count; i++) {
        const struct way *way = &from->ways[i];
        const struct glob_step *step = &glob->steps[way->at];

        if (way->at == glob->count)
            continue;
        if (step->kind < RUN) {
            if (takes(step, c))
                arrive(glob, to, way->at + 1u, way, position, true);
        } else if (c != '/' || step->kind == DEEP_RUN) {
            arrive(glob, to, way->at, way, position, false);
        }
    }
}

static bool finish(const struct glob *glob, const struct front *front,
                   struct bytes text, struct bytes *captures)
{
    const struct way *way = NULL;

    for (unsigned i = 0; i < front->count && !way; i++)
        if (front->ways[i].at == glob->count)
            way = &front->ways[i];
    if (!way)
        return false;
    for (unsigned i = 0; captures && i < glob->captures; i++)
        captures[i] = bytes_between(text.data + way->begins[i],
                                    text.data + way->ends[i]);
    return true;
}

/* Matches text from the first * or ** on, by following all partial matches. */
static bool match_ways(const struct glob *glob, unsigned first,
                       struct bytes text, struct bytes *captures)
{
    struct front fronts[2];
    const struct way start = {0};
    unsigned now = 0;

    empty(glob, &fronts[now]);
    arrive(glob, &fronts[now], first, &start, first, true);
    for (size_t at = first; at < text.len && fronts[now].count > 0; at++) {
        advance(glob, &fronts[now], &fronts[1 - now], text.data[at], at + 1);
        now = 1 - now;
    }
    return finish(glob, &fronts[now], text, captures);
}

/* Matches a pattern with a single * or **. The steps behind this run match the
 * end of the text, and the run takes the rest, so there is only one way to
 * match. */
static bool match_around(const struct glob *glob, unsigned run,
                         struct bytes text, struct bytes *captures)
{
    size_t behind = glob->count - run - 1u;
    struct bytes taken;

    if (text.len < run + behind)
        return false;
    taken = (struct bytes){text.data + run, text.len - run - behind};
    for (size_t i = 0; i < behind; i++)
        if (!takes(&glob->steps[run + 1 + i], taken.data[taken.len + i]))
            return false;
    if (glob->steps[run].kind == RUN && taken.len > 0 &&
        memchr(taken.data, '/', taken.len))
        return false;
    if (captures)
        captures[0] = taken;
    return true;
}

bool glob_matches(const struct glob *glob, struct bytes text,
                  struct bytes captures[GLOB_CAPTURES_MAX])
{
    unsigned at = 0;

    if (text.len > GLOB_TEXT_BYTES_MAX)
        return false;
    for (; at < glob->count && !is_run(glob, at); at++)
        if (at == text.len || !takes(&glob->steps[at], text.data[at]))
            return false;
    if (at == glob->count)
        return at == text.len;
    if (glob->captures == 1)
        return match_around(glob, at, text, captures);
    return match_ways(glob, at, text, captures);
}
