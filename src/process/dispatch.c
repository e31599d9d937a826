#include "process/dispatch.h"

#include <stdlib.h>

struct worker_slot {
    struct worker *worker;
    uint64_t given;
    size_t open;
    /* connections that wait for requests, minus those that will be closed */
    size_t reading;
    bool is_woken; /* the worker is to be woken at the end of the batch */
    bool is_full;  /* the mailbox is full in this batch */
};

struct dispatch {
    size_t count;
    size_t next; /* the worker to look at first, so that equals take turns */
    struct worker_slot slots[];
};

struct dispatch *dispatch_create(struct worker **workers, size_t count)
{
    struct dispatch *dispatch =
        calloc(1, sizeof(*dispatch) + count * sizeof(dispatch->slots[0]));

    if (!dispatch)
        return NULL;
    dispatch->count = count;
    for (size_t i = 0; i < count; i++)
        dispatch->slots[i].worker = workers[i];
    return dispatch;
}

void dispatch_destroy(struct dispatch *dispatch)
{
    free(dispatch);
}

size_t dispatch_begin(struct dispatch *dispatch)
{
    size_t open = 0;

    for (size_t i = 0; i < dispatch->count; i++) {
        struct worker_slot *slot = &dispatch->slots[i];

        slot->open = (size_t)(slot->given - worker_closed(slot->worker));
        slot->reading = worker_reading(slot->worker);
        slot->is_full = false;
        open += slot->open;
    }
    return open;
}

static struct worker_slot *find_fewest(struct dispatch *dispatch)
{
    struct worker_slot *fewest = NULL;

    for (size_t i = 0; i < dispatch->count; i++) {
        size_t at = (dispatch->next + i) % dispatch->count;
        struct worker_slot *slot = &dispatch->slots[at];

        if (!slot->is_full && (!fewest || slot->open < fewest->open))
            fewest = slot;
    }
    return fewest;
}

/* Gives a connection to a worker. Returns false if the worker's mailbox is
 * full. */
static bool give(struct worker_slot *slot, const struct mail *mail)
{
    if (!worker_give(slot->worker, mail)) {
        slot->is_full = true;
        return false;
    }
    slot->given++;
    slot->open++;
    slot->is_woken = true;
    return true;
}

static struct worker_slot *find_most_reading(struct dispatch *dispatch)
{
    struct worker_slot *most = NULL;

    for (size_t i = 0; i < dispatch->count; i++) {
        struct worker_slot *slot = &dispatch->slots[i];

        if (!slot->is_full && slot->reading > (most ? most->reading : 0))
            most = slot;
    }
    return most;
}

bool dispatch_replace(struct dispatch *dispatch, const struct mail *mail)
{
    struct worker_slot *slot;

    while ((slot = find_most_reading(dispatch))) {
        if (give(slot, mail)) {
            slot->reading--;
            return true;
        }
    }
    return false;
}

bool dispatch_displace(struct dispatch *dispatch, const struct mail *mail)
{
    for (size_t i = 0; i < dispatch->count; i++) {
        size_t at = (dispatch->next + i) % dispatch->count;
        struct worker_slot *slot = &dispatch->slots[at];

        if (!slot->is_full && slot->open > 0 && give(slot, mail)) {
            dispatch->next = at + 1;
            return true;
        }
    }
    return false;
}

bool dispatch_give(struct dispatch *dispatch, const struct mail *mail)
{
    struct worker_slot *slot;

    while ((slot = find_fewest(dispatch))) {
        if (give(slot, mail)) {
            dispatch->next = (size_t)(slot - dispatch->slots) + 1;
            return true;
        }
    }
    return false;
}

void dispatch_end(struct dispatch *dispatch)
{
    for (size_t i = 0; i < dispatch->count; i++) {
        struct worker_slot *slot = &dispatch->slots[i];

        if (slot->is_woken)
            worker_wake(slot->worker);
        slot->is_woken = false;
    }
}
