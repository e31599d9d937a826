#include "linear.h"

#include "harness.h"

enum { STATES_MAX = 1 << 16, TABLE_SIZE = 4 * STATES_MAX };

/* A key, and who has happened. */
struct state {
    uint32_t last;   /* the put before which there was no other: 1 + its number;
                        0 is none */
    uint16_t is_set; /* it has not been deleted since */
    uint16_t done;   /* clients whose operation, under way, has happened */
};

struct states {
    size_t count;
    struct state list[STATES_MAX];
    uint32_t table[TABLE_SIZE]; /* 1 + index in list; 0 is free */
};

struct moment {
    uint64_t at;
    uint32_t op;
    bool is_end;
};

struct search {
    const struct linear_op *ops;
    const struct linear_op *under_way[LINEAR_CLIENTS_MAX];
    struct states *now;
    struct states *seen; /* from now on, up to the end that is looked at */
};

/* --- States -------------------------------------------------------------- */

static uint32_t *find(struct states *states, const struct state *state)
{
    uint64_t hash = ((uint64_t)state->last << 32 |
                     (uint64_t)state->is_set << 16 | state->done) *
                    0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 40) % TABLE_SIZE;

    while (states->table[at] != 0 &&
           memcmp(&states->list[states->table[at] - 1], state,
                  sizeof(*state)) != 0)
        at = (at + 1) % TABLE_SIZE;
    return &states->table[at];
}

static void put(struct states *states, const struct state *state)
{
    uint32_t *place = find(states, state);

    if (*place != 0)
        return;
    if (states->count == STATES_MAX)
        flunk("more than %d states could be true", STATES_MAX);
    states->list[states->count++] = *state;
    *place = (uint32_t)states->count;
}

/* Each stands where it was put last: the later ones go first. */
static void clear(struct states *states)
{
    while (states->count > 0) {
        uint32_t *place = find(states, &states->list[states->count - 1]);

        *place = 0;
        states->count--;
    }
}

/* --- One operation ------------------------------------------------------- */

static uint64_t revision_of(const struct search *search,
                            const struct state *state)
{
    return state->last ? search->ops[state->last - 1].revision : 0;
}

static bool is_refused_rightly(const struct search *search,
                               const struct state *state,
                               const struct linear_op *op)
{
    uint64_t present = state->is_set ? revision_of(search, state) : 0;

    if (op->revision != present)
        return false;
    if (op->condition == LINEAR_IF_REVISION)
        return present != op->if_revision;
    return op->condition == LINEAR_IF_MISSING && state->is_set;
}

static bool is_allowed(const struct search *search, const struct state *state,
                       const struct linear_op *op)
{
    if (op->condition == LINEAR_IF_REVISION)
        return state->is_set && revision_of(search, state) == op->if_revision;
    return op->condition == LINEAR_ANY || !state->is_set;
}

/* Whether op, happening in state, is answered as it was. */
static bool fits(const struct search *search, const struct state *state,
                 const struct linear_op *op)
{
    uint64_t revision = revision_of(search, state);

    if (op->status == 412)
        return is_refused_rightly(search, state, op);
    if (!is_allowed(search, state, op))
        return false;
    switch (op->kind) {
    case LINEAR_GET:
        if (op->status == 404)
            return !state->is_set;
        return op->status == 200 && state->is_set && op->revision == revision &&
               op->value == search->ops[state->last - 1].value;
    case LINEAR_PUT:
        return op->status == (state->is_set ? 204 : 201) &&
               op->revision > revision;
    case LINEAR_DELETE:
        break;
    }
    return op->status == (state->is_set ? 204 : 404);
}

static bool changes(const struct linear_op *op)
{
    return op->kind != LINEAR_GET && op->status != 412 && op->status != 404;
}

static struct state after(const struct search *search,
                          const struct state *state, const struct linear_op *op)
{
    struct state next = *state;

    next.done |= (uint16_t)(1u << op->client);
    if (op->kind == LINEAR_PUT)
        next.last = (uint32_t)(op - search->ops) + 1;
    next.is_set = op->kind == LINEAR_PUT;
    return next;
}

/* --- All orders ---------------------------------------------------------- */

/* Whoever changes nothing and fits may happen now: it takes nothing from the
 * others. */
static void settle(const struct search *search, struct state *state)
{
    for (unsigned i = 0; i < LINEAR_CLIENTS_MAX; i++) {
        const struct linear_op *op = search->under_way[i];

        if (op && !(state->done & 1u << i) && !changes(op) &&
            fits(search, state, op))
            state->done |= (uint16_t)(1u << i);
    }
}

static void put_settled(const struct search *search, struct state state)
{
    settle(search, &state);
    put(search->seen, &state);
}

/* Leaves those states in which op, which ends, has happened. */
static void end_op(struct search *search, const struct linear_op *op)
{
    const uint16_t bit = (uint16_t)(1u << op->client);
    struct states *seen = search->seen;

    for (size_t i = 0; i < search->now->count; i++)
        put_settled(search, search->now->list[i]);
    clear(search->now);
    for (size_t i = 0; i < seen->count; i++) {
        struct state state = seen->list[i];

        if (state.done & bit) {
            state.done &= (uint16_t)~bit;
            put(search->now, &state);
            continue;
        }
        for (unsigned k = 0; k < LINEAR_CLIENTS_MAX; k++) {
            const struct linear_op *other = search->under_way[k];

            if (other && !(state.done & 1u << k) && changes(other) &&
                fits(search, &state, other))
                put_settled(search, after(search, &state, other));
        }
    }
    clear(seen);
    search->under_way[op->client] = NULL;
}

static int compare(const void *a, const void *b)
{
    const struct moment *one = a, *other = b;

    return (one->at > other->at) - (one->at < other->at);
}

size_t linear_fault(const struct linear_op ops[], size_t count)
{
    struct moment *moments = calloc(2 * count + 1, sizeof(*moments));
    struct states *states = calloc(2, sizeof(*states));
    struct search search = {
        .ops = ops, .now = states, .seen = states ? states + 1 : NULL};
    size_t fault = count;

    if (!moments || !states)
        flunk("no memory");
    for (size_t i = 0; i < count; i++) {
        moments[2 * i] = (struct moment){ops[i].begin, (uint32_t)i, false};
        moments[2 * i + 1] = (struct moment){ops[i].end, (uint32_t)i, true};
    }
    qsort(moments, 2 * count, sizeof(*moments), compare);
    put(search.now, &(struct state){0});
    for (size_t i = 0; i < 2 * count && fault == count; i++) {
        const struct linear_op *op = &ops[moments[i].op];

        if (!moments[i].is_end)
            search.under_way[op->client] = op;
        else
            end_op(&search, op);
        if (search.now->count == 0)
            fault = moments[i].op;
    }
    free(moments);
    free(states);
    return fault;
}
