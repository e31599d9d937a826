#include "base/miniature.h"

#include <stdlib.h>

#include "base/now.h"
#include "base/pages.h"

const unsigned miniature_quarters[MINIATURE_SIZES] = {1, 2, 4, 8, 16, 64};

enum {
    /* The memory per copy: 60 bytes for the copy and its place in the index. A
     * third of the models, those of gdsf, also have a heap, which grows by
     * doubling and takes up to 48 bytes per copy. */
    COPY_MEMORY = 60 + 48 / 3,
    COPIES_MIN = 16,
    /* Models with at most this many copies are not thinned when the budget is
     * used up, since the results of fewer copies would be worth too little. */
    COPIES_KEPT = 160,
    /* After this many simulated requests, earlier results are halved. */
    HALF_LIFE = 1 << 18,
    /* A server with few requests should spend little time on simulations. So
     * the budget of a second is a twentieth of the maximum, plus ASKED_NS for
     * each request of the second before. */
    ASKED_NS = 50,
    BUDGET_PART = 20
};

/* A sampled key in a model. Copies are named by their index; 0 means none. */
struct copy {
    struct evict_node node;
    uint64_t key;
    uint16_t next; /* next copy in the bucket, or next free copy */
};

struct model {
    struct evict *evict;
    struct copy *copies;
    uint16_t *index;
    uint16_t free_copy;
    uint16_t untouched;  /* copies from this one on were never used */
    uint16_t count;      /* how many copies are in the index */
    uint64_t weight_max; /* W in miniature.h */
    uint64_t unit;
};

struct miniature {
    struct miniature_options options;
    struct model models[MINIATURE_MODELS];
    struct copy *tables; /* copies of all models, then their indices */
    size_t copies;       /* copies that each model has */
    size_t index_mask;
    uint64_t credit_ns;
    uint64_t ticked_requests; /* asked->requests at the last tick */
    bool is_paused;
    /* The value of *asked when its growth was last added to `told`. */
    struct miniature_asked since;
    uint64_t settled_key; /* the last key, if all models know it */
    /* The bytes of settled_key's entry; 0 if there is no settled_key. */
    uint64_t settled_bytes;
    uint32_t repeats; /* repeats that gdsf has yet to count */
    uint64_t simulated;
    struct miniature_told told;
};

/* --- Weights ------------------------------------------------------------- */

static uint64_t weight_of(const struct model *model, uint64_t bytes)
{
    uint64_t weight = model->weight_max;

    if (bytes > model->unit)
        weight = weight * model->unit / bytes;
    return weight > 0 ? weight : 1;
}

static bool is_sampled(uint64_t key, uint64_t weight)
{
    return key <= UINT64_MAX / weight;
}

bool miniature_samples(const struct miniature *miniature, uint64_t key,
                       uint64_t bytes)
{
    for (unsigned i = 0; i < MINIATURE_MODELS; i++)
        if (is_sampled(key, weight_of(&miniature->models[i], bytes)))
            return true;
    return false;
}

/* --- Copies -------------------------------------------------------------- */

static uint16_t *bucket_of(const struct miniature *miniature,
                           struct model *model, uint64_t key)
{
    return &model->index[key & miniature->index_mask];
}

static struct copy *find(const struct miniature *miniature, struct model *model,
                         uint64_t key)
{
    uint16_t at = *bucket_of(miniature, model, key);

    while (at != 0 && model->copies[at].key != key)
        at = model->copies[at].next;
    return at != 0 ? &model->copies[at] : NULL;
}

/* Frees a struct copy whose node is no longer in the model's evict. */
static void free_copy(const struct miniature *miniature, struct model *model,
                      struct copy *copy)
{
    uint16_t at = (uint16_t)(copy - model->copies);
    uint16_t *link = bucket_of(miniature, model, copy->key);

    while (*link != at)
        link = &model->copies[*link].next;
    *link = copy->next;
    copy->next = model->free_copy;
    model->free_copy = at;
    model->count--;
}

static void drop(const struct miniature *miniature, struct model *model,
                 struct copy *copy)
{
    evict_remove(model->evict, &copy->node);
    free_copy(miniature, model, copy);
}

static bool has_room(const struct miniature *miniature,
                     const struct model *model)
{
    return model->free_copy != 0 || model->untouched <= miniature->copies;
}

/* Takes a free struct copy for a key; the caller has checked that there is one.
 * Structs that were never used are taken last, so that their pages stay
 * untouched. */
static uint16_t take_copy(struct model *model)
{
    uint16_t at = model->free_copy;

    model->count++;
    if (at == 0)
        return model->untouched++;
    model->free_copy = model->copies[at].next;
    return at;
}

static uint64_t bytes_of_one(const struct copy *copy)
{
    return copy->node.bytes / (UINT64_C(1) + copy->node.others);
}

static void take_victims(const struct miniature *miniature, struct model *model)
{
    struct evict_node *victim;

    while ((victim = evict_take_victim(model->evict)))
        free_copy(miniature, model, OWNER_OF(victim, struct copy, node));
}

/* Inserts a key; the caller has checked that there is room. */
static void insert(const struct miniature *miniature, struct model *model,
                   uint64_t key, uint64_t bytes, uint64_t weight)
{
    uint16_t at = take_copy(model);
    struct copy *copy = &model->copies[at];
    uint16_t *bucket = bucket_of(miniature, model, key);

    *copy = (struct copy){.node = {.bytes = bytes * weight,
                                   .others = (uint32_t)(weight - 1)},
                          .key = key,
                          .next = *bucket};
    *bucket = at;
    if (evict_insert(model->evict, &copy->node))
        take_victims(miniature, model);
    else
        free_copy(miniature, model, copy); /* no memory for its node */
}

/* --- Thinning ------------------------------------------------------------ */

/* Raises W by a quarter. The unit is chosen so that no key's weight falls. */
static void raise_weights(const struct miniature *miniature,
                          struct model *model)
{
    const struct miniature_asked *asked = miniature->options.asked;
    uint64_t weight = model->weight_max;
    uint64_t raised = weight + 1 + weight / 4;
    uint64_t unit = 1 + asked->bytes / (asked->requests + 1);
    uint64_t least = 1 + model->unit * weight / raised;

    model->weight_max = raised;
    model->unit = weight == 1 || unit > least ? unit : least;
}

static void thin(struct miniature *miniature, struct model *model)
{
    raise_weights(miniature, model);
    for (size_t i = 0; i <= miniature->index_mask; i++) {
        uint16_t at = model->index[i];

        while (at != 0) {
            struct copy *copy = &model->copies[at];
            uint64_t weight = weight_of(model, bytes_of_one(copy));

            at = copy->next;
            if (is_sampled(copy->key, weight))
                evict_set_others(model->evict, &copy->node,
                                 (uint32_t)(weight - 1));
            else
                drop(miniature, model, copy);
        }
    }
    take_victims(miniature, model);
}

/* --- Credit -------------------------------------------------------------- */

static void count_until_now(struct miniature *miniature)
{
    const struct miniature_asked *asked = miniature->options.asked;

    miniature->told.requests += asked->requests - miniature->since.requests;
    miniature->told.bytes += asked->bytes - miniature->since.bytes;
    miniature->since = *asked;
}

/* Takes `ns` off the budget. When the budget is used up, no key is simulated
 * for the rest of the second. Such pauses make models hit too often, since keys
 * that would have displaced others are left out. So the larger models are
 * thinned, until the budget of a second is enough for the whole second. */
static void pay(struct miniature *miniature, uint64_t ns)
{
    if (miniature->credit_ns > ns) {
        miniature->credit_ns -= ns;
        return;
    }
    count_until_now(miniature);
    miniature->credit_ns = 0;
    miniature->is_paused = true;
    for (unsigned i = 0; i < MINIATURE_MODELS; i++)
        if (miniature->models[i].count > COPIES_KEPT)
            thin(miniature, &miniature->models[i]);
}

static uint64_t earn(struct miniature *miniature)
{
    uint64_t budget_ns = miniature->options.budget_ns;
    uint64_t requests = miniature->options.asked->requests;
    uint64_t earned_ns = budget_ns / BUDGET_PART +
                         (requests - miniature->ticked_requests) * ASKED_NS;

    miniature->ticked_requests = requests;
    return earned_ns < budget_ns ? earned_ns : budget_ns;
}

void miniature_tick(struct miniature *miniature)
{
    if (miniature->is_paused)
        miniature->since = *miniature->options.asked;
    miniature->is_paused = false;
    miniature->credit_ns = earn(miniature);
}

/* --- Asking -------------------------------------------------------------- */

static void forget_half(struct miniature *miniature)
{
    struct miniature_told *told = &miniature->told;

    count_until_now(miniature);
    told->requests /= 2;
    told->bytes /= 2;
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        told->misses[i] /= 2;
        told->missed_bytes[i] /= 2;
    }
}

/* Simulates a request in one model. Returns true if another request for the
 * same key would change nothing. */
static bool ask_model(struct miniature *miniature, unsigned number,
                      uint64_t key, uint64_t bytes)
{
    struct model *model = &miniature->models[number];
    uint64_t weight = weight_of(model, bytes);
    struct copy *copy;

    if (!is_sampled(key, weight))
        return true;
    copy = find(miniature, model, key);
    if (copy && bytes_of_one(copy) == bytes) {
        evict_hit(model->evict, &copy->node);
        return true;
    }
    if (copy)
        drop(miniature, model, copy); /* the key now has other content */
    while (!has_room(miniature, model))
        thin(miniature, model);
    weight = weight_of(model, bytes);
    if (!is_sampled(key, weight))
        return false;
    miniature->told.misses[number] += weight;
    miniature->told.missed_bytes[number] += weight * bytes;
    insert(miniature, model, key, bytes, weight);
    return false;
}

/* Returns true if the request repeats the last one, and that one missed in no
 * model. A repeat changes nothing in lru, where the key is the newest already,
 * and in sieve, where it is marked already. gdsf counts uses, and is told of
 * all repeats together. So a burst of requests for one file costs next to
 * nothing. */
static bool is_repeat(struct miniature *miniature, uint64_t key, uint64_t bytes)
{
    if (key != miniature->settled_key || bytes != miniature->settled_bytes ||
        bytes == 0)
        return false;
    miniature->repeats += miniature->repeats < UINT32_MAX;
    return true;
}

static void end_repeats(struct miniature *miniature)
{
    unsigned first = miniature_model(EVICT_GDSF, 0);

    for (unsigned i = first;
         miniature->repeats > 0 && i < first + MINIATURE_SIZES; i++) {
        struct model *model = &miniature->models[i];
        struct copy *copy = find(miniature, model, miniature->settled_key);

        if (copy)
            evict_hit_again(model->evict, &copy->node, miniature->repeats);
    }
    miniature->repeats = 0;
    miniature->settled_bytes = 0;
}

/* Simulates a request that is not a repeat. This function is not inlined, so
 * that repeats do not pay for its registers and stack. */
__attribute__((noinline)) static void simulate(struct miniature *miniature,
                                               uint64_t key, uint64_t bytes)
{
    uint64_t budget_ns = miniature->options.budget_ns;
    uint64_t began_ns = budget_ns > 0 ? now_read_ns() : 0;
    bool is_settled = true;

    end_repeats(miniature);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++)
        is_settled &= ask_model(miniature, i, key, bytes);
    miniature->settled_key = key;
    miniature->settled_bytes = is_settled ? bytes : 0;
    if (++miniature->simulated % HALF_LIFE == 0)
        forget_half(miniature);
    if (budget_ns > 0)
        pay(miniature, now_read_ns() - began_ns);
}

void miniature_ask(struct miniature *miniature, uint64_t key, uint64_t bytes)
{
    if (!miniature->is_paused && !is_repeat(miniature, key, bytes))
        simulate(miniature, key, bytes);
}

void miniature_forget(struct miniature *miniature, uint64_t key)
{
    end_repeats(miniature);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        struct copy *copy = find(miniature, &miniature->models[i], key);

        if (copy)
            drop(miniature, &miniature->models[i], copy);
    }
}

void miniature_tell(const struct miniature *miniature,
                    struct miniature_told *told_out)
{
    const struct miniature_asked *asked = miniature->options.asked;

    *told_out = miniature->told;
    if (miniature->is_paused)
        return;
    told_out->requests += asked->requests - miniature->since.requests;
    told_out->bytes += asked->bytes - miniature->since.bytes;
}

/* --- Creating and destroying --------------------------------------------- */

static size_t power_of_two(size_t at_least)
{
    size_t power = 1;

    while (power < at_least)
        power *= 2;
    return power;
}

static size_t bytes_of_tables(const struct miniature *miniature)
{
    return MINIATURE_MODELS * ((miniature->copies + 1) * sizeof(struct copy) +
                               (miniature->index_mask + 1) * sizeof(uint16_t));
}

/* Makes a model, whose tables have been allocated. Returns false if there is no
 * memory. */
static bool make_model(struct miniature *miniature, unsigned number)
{
    const struct miniature_options *options = &miniature->options;
    struct copy *end = miniature->tables +
                       MINIATURE_MODELS * (miniature->copies + 1);
    struct model *model = &miniature->models[number];
    unsigned quarters = miniature_quarters[number % MINIATURE_SIZES];
    uint64_t bytes = options->bytes_max / 4 * quarters;
    size_t entries = options->entries_max * quarters / 4;

    model->evict = evict_create((enum evict_policy)(number / MINIATURE_SIZES),
                                bytes > 0 ? bytes : 1,
                                entries > 0 ? entries : 1);
    model->copies = miniature->tables + number * (miniature->copies + 1);
    model->index = (uint16_t *)end + number * (miniature->index_mask + 1);
    model->untouched = 1;
    model->weight_max = 1;
    return model->evict;
}

struct miniature *miniature_create(const struct miniature_options *options)
{
    struct miniature *miniature = calloc(1, sizeof(*miniature));
    size_t copies = options->memory_max / MINIATURE_MODELS / COPY_MEMORY;

    if (!miniature)
        return NULL;
    miniature->options = *options;
    miniature->copies = copies > COPIES_MIN ? copies : COPIES_MIN;
    miniature->index_mask = power_of_two(miniature->copies) - 1;
    miniature->credit_ns = options->budget_ns;
    miniature->ticked_requests = options->asked->requests;
    miniature->since = *options->asked;
    miniature->tables = pages_open(bytes_of_tables(miniature));
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        if (miniature->tables && make_model(miniature, i))
            continue;
        miniature_destroy(miniature);
        return NULL;
    }
    return miniature;
}

void miniature_destroy(struct miniature *miniature)
{
    if (!miniature)
        return;
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        struct model *model = &miniature->models[i];

        while (model->evict && evict_take_next(model->evict))
            ; /* copies have no memory of their own */
        evict_destroy(model->evict);
    }
    pages_close(miniature->tables, bytes_of_tables(miniature));
    free(miniature);
}
