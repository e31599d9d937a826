/*
 * evict_model - the three algorithms as their papers print them, naively.
 *
 * Ids stand in plain arrays and everything is found by walking through them.
 * Nothing here comes from src/base; sizes and limits alone are shared.
 */
#ifndef TESTS_EVICT_MODEL_H
#define TESTS_EVICT_MODEL_H

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/evict.h"
#include "evict_trace.h"

struct row {
    int ids[IDS];
    int count;
};

struct model {
    enum evict_policy policy;
    uint64_t bytes_max;
    size_t entries_max;
    const uint64_t *size; /* of each id */
    struct row row;       /* lru: oldest use first; sieve: oldest first;
 gdsf: in no order */
    struct row victims;   /* of the last request */
    bool inside[IDS];
    /* sieve */
    bool visited[IDS];
    int hand; /* index in row, -1: none */
    /* gdsf */
    double clock;
    double priority[IDS];
    uint64_t touched[IDS];
    uint64_t touches;
    uint64_t frequency[IDS];
};

static void row_append(struct row *row, int id)
{
    row->ids[row->count++] = id;
}

static int row_find(const struct row *row, int id)
{
    for (int i = 0; i < row->count; i++)
        if (row->ids[i] == id)
            return i;
    return -1;
}

static int row_take(struct row *row, int at)
{
    int id = row->ids[at];

    row->count--;
    memmove(&row->ids[at], &row->ids[at + 1],
            (size_t)(row->count - at) * sizeof(row->ids[0]));
    return id;
}

static uint64_t row_bytes(const struct model *model, const struct row *row)
{
    uint64_t bytes = 0;

    for (int i = 0; i < row->count; i++)
        bytes += model->size[row->ids[i]];
    return bytes;
}

static uint64_t model_bytes(const struct model *model)
{
    return row_bytes(model, &model->row);
}

static size_t model_entries(const struct model *model)
{
    return (size_t)model->row.count;
}

static bool lacks_bytes(const struct model *model, int id)
{
    return model_bytes(model) + model->size[id] > model->bytes_max;
}

static bool lacks_entries(const struct model *model)
{
    return model_entries(model) + 1 > model->entries_max;
}

static bool is_cache_full(const struct model *model, int id)
{
    return lacks_bytes(model, id) || lacks_entries(model);
}

static void model_evicts(struct model *model, int id)
{
    model->inside[id] = false;
    row_append(&model->victims, id);
}

/* --- LRU ---------------------------------------------------------------- */

static void lru_hit(struct model *model, int id)
{
    row_take(&model->row, row_find(&model->row, id));
    row_append(&model->row, id);
}

static void lru_miss(struct model *model, int id)
{
    while (is_cache_full(model, id))
        model_evicts(model, row_take(&model->row, 0));
    row_append(&model->row, id);
}

/* --- GDSF: HPL-98-69, HPCN 2001 ----------------------------------------- */

/* Sums of powers of two, which these are for sizes that are, are exact. */
static void gdsf_touch(struct model *model, int id)
{
    model->priority[id] = model->clock + (double)model->frequency[id] /
                                             (double)model->size[id];
    model->touched[id] = ++model->touches;
}

static bool is_lower(const struct model *model, int a, int b)
{
    return model->priority[a] != model->priority[b]
               ? model->priority[a] < model->priority[b]
               : model->touched[a] < model->touched[b];
}

static void gdsf_hit(struct model *model, int id)
{
    model->frequency[id]++;
    gdsf_touch(model, id);
}

/* The place of the lowest priority. */
static int lowest(const struct model *model, const struct row *row)
{
    int lowest = 0;

    for (int i = 1; i < row->count; i++)
        if (is_lower(model, row->ids[i], row->ids[lowest]))
            lowest = i;
    return lowest;
}

static void gdsf_miss(struct model *model, int id)
{
    static struct row rest;
    static struct row leaving;
    uint64_t used;

    model->frequency[id] = 1;
    gdsf_touch(model, id);
    row_append(&model->row, id);
    used = row_bytes(model, &model->row);
    rest = model->row;
    leaving.count = 0;
    while (used > model->bytes_max || (size_t)rest.count > model->entries_max) {
        int next = row_take(&rest, lowest(model, &rest));

        used -= model->size[next];
        row_append(&leaving, next);
    }
    if (row_find(&leaving, id) >= 0) {
        model->row.count--;
        model->clock = model->priority[id]; /* ours: see evict_gdsf.c */
        model_evicts(model, id);
        return;
    }
    model->row = rest;
    for (int i = 0; i < leaving.count; i++) {
        model->clock = model->priority[leaving.ids[i]];
        model_evicts(model, leaving.ids[i]);
    }
}

/* --- SIEVE: NSDI 2024, algorithm 1 -------------------------------------- */

static void sieve_hit(struct model *model, int id)
{
    model->visited[id] = true;
}

/* Its tail is our place 0; its `prev` is our next place. */
static void sieve_evict(struct model *model)
{
    struct row *row = &model->row;
    int o = model->hand;

    if (o == -1)
        o = 0;
    while (model->visited[row->ids[o]]) {
        model->visited[row->ids[o]] = false;
        if (++o == row->count)
            o = 0;
    }
    model->hand = o + 1 < row->count ? o : -1; /* the rest moves up by one */
    model_evicts(model, row_take(row, o));
}

static void sieve_miss(struct model *model, int id)
{
    while (is_cache_full(model, id))
        sieve_evict(model);
    row_append(&model->row, id);
    model->visited[id] = false;
}

static void sieve_remove(struct model *model, int at)
{
    if (at < model->hand)
        model->hand--;
    else if (at == model->hand && at + 1 == model->row.count)
        model->hand = -1;
}

/* --- All of them -------------------------------------------------------- */

static const struct {
    void (*hit)(struct model *model, int id);
    void (*miss)(struct model *model, int id);
} models[] = {
    [EVICT_LRU] = {lru_hit, lru_miss},
    [EVICT_GDSF] = {gdsf_hit, gdsf_miss},
    [EVICT_SIEVE] = {sieve_hit, sieve_miss},
};

static void model_begin(struct model *model, enum evict_policy policy,
                        const uint64_t *size, uint64_t bytes_max,
                        size_t entries_max)
{
    memset(model, 0, sizeof(*model));
    model->policy = policy;
    model->size = size;
    model->bytes_max = bytes_max;
    model->entries_max = entries_max;
    model->hand = -1;
}

/* Whether id was there; model->victims says who had to go. */
static bool model_request(struct model *model, int id)
{
    model->victims.count = 0;
    if (model->inside[id]) {
        models[model->policy].hit(model, id);
        return true;
    }
    model->inside[id] = true;
    if (model->size[id] > model->bytes_max)
        model_evicts(model, id);
    else
        models[model->policy].miss(model, id);
    return false;
}

static void model_remove(struct model *model, int id)
{
    int at = row_find(&model->row, id);

    if (!model->inside[id])
        return;
    model->inside[id] = false;
    if (model->policy == EVICT_SIEVE)
        sieve_remove(model, at);
    row_take(&model->row, at);
}

#endif
