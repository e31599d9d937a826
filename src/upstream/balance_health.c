#include <assert.h>

#include "upstream/balance_priv.h"

enum {
    WEIGHT_ONE = 1000, /* a configured weight of 1, in thousandths */
    WEIGHT_SLOW = 100, /* a tenth of WEIGHT_ONE: where a slow start begins */
    /* A guess, since nobody knows when probes will find the server well. */
    DOWN_RETRY_AFTER_MS = 5000
};

/* --- State ---------------------------------------------------------------- */

static bool is_down(const struct balance_server_shared *shared)
{
    return BALANCE_LOAD(&shared->is_down);
}

static bool is_ejected(const struct balance_server_shared *shared,
                       uint64_t now_ms)
{
    return BALANCE_LOAD(&shared->ejected_until_ms) > now_ms;
}

uint64_t balance_find_up(const struct balance *balance, uint64_t now_ms)
{
    uint64_t up = 0;
    uint64_t ejected = 0;

    for (size_t i = 0; i < balance->count; i++) {
        const struct balance_server_shared *shared = &balance->shared[i];

        if (is_down(shared))
            continue;
        if (is_ejected(shared, now_ms))
            ejected |= UINT64_C(1) << i;
        else
            up |= UINT64_C(1) << i;
    }
    return up != 0 ? up : ejected;
}

/* Returns for how many ms the server has been back after an ejection or after
 * being down; UINT64_MAX if the server was neither. */
static uint64_t back_for_ms(const struct balance_server_shared *shared,
                            uint64_t now_ms)
{
    uint64_t risen = BALANCE_LOAD(&shared->risen_at_ms);
    uint64_t ejected = BALANCE_LOAD(&shared->ejected_until_ms);
    uint64_t since = risen > ejected ? risen : ejected;

    if (since == 0)
        return UINT64_MAX;
    return since < now_ms ? now_ms - since : 0;
}

uint64_t balance_weight(const struct balance *balance, size_t server,
                        uint64_t now_ms)
{
    uint64_t weight = balance->servers[server].weight;
    uint64_t slow_ms = balance->options.slow_start_ms;
    uint64_t back_ms;

    if (slow_ms == 0)
        return weight * WEIGHT_ONE;
    back_ms = back_for_ms(&balance->shared[server], now_ms);
    if (back_ms >= slow_ms)
        return weight * WEIGHT_ONE;
    return weight *
           (WEIGHT_SLOW + (WEIGHT_ONE - WEIGHT_SLOW) * back_ms / slow_ms);
}

enum balance_state balance_state_of(const struct balance *balance, int server,
                                    uint64_t now_ms)
{
    const struct balance_server_shared *shared = &balance->shared[server];

    if (is_down(shared))
        return BALANCE_DOWN;
    if (is_ejected(shared, now_ms))
        return BALANCE_EJECTED;
    return back_for_ms(shared, now_ms) < balance->options.slow_start_ms
               ? BALANCE_SLOW
               : BALANCE_UP;
}

unsigned balance_retry_after_s(const struct balance *balance, uint64_t now_ms)
{
    uint64_t soonest_ms = UINT64_MAX;

    for (size_t i = 0; i < balance->count; i++) {
        const struct balance_server_shared *shared = &balance->shared[i];
        uint64_t until_ms = BALANCE_LOAD(&shared->ejected_until_ms);
        uint64_t wait_ms = 0;

        if (is_down(shared))
            wait_ms = DOWN_RETRY_AFTER_MS;
        else if (until_ms > now_ms)
            wait_ms = until_ms - now_ms;
        if (wait_ms < soonest_ms)
            soonest_ms = wait_ms;
    }
    return soonest_ms > 1000 ? (unsigned)((soonest_ms + 999) / 1000) : 1;
}

/* --- Passive: what came of requests --------------------------------------- */

/* Returns how long an ejection lasts, in ms, after `ejections` earlier
 * ejections in a row. */
static uint64_t eject_for_ms(struct balance *balance, uint32_t ejections)
{
    uint64_t max_ms = balance->options.eject_max_ms;
    uint64_t ms = balance->options.eject_ms;

    while (ejections-- > 0 && ms < max_ms)
        ms *= 2;
    if (ms > max_ms)
        ms = max_ms;
    return ms + balance_draw(balance) % (ms / 4 + 1);
}

/* Notes a failure. Returns true if this failure ejects the server. */
static bool note_failure(struct balance *balance,
                         struct balance_server_shared *shared, uint64_t now_ms)
{
    uint64_t until_ms = BALANCE_LOAD(&shared->ejected_until_ms);
    uint32_t fails = 1;
    uint32_t ejections;

    /* The server is ejected already. The failed request began before the
     * ejection, or was sent because no other server was left; such a failure
     * says nothing new. */
    if (balance->options.fails_max == 0 || until_ms > now_ms)
        return false;
    if (BALANCE_LOAD(&shared->window_ends_ms) > now_ms) {
        fails += atomic_fetch_add_explicit(&shared->fails, 1,
                                           memory_order_relaxed);
    } else {
        BALANCE_STORE(&shared->window_ends_ms,
                      now_ms + balance->options.fail_window_ms);
        BALANCE_STORE(&shared->fails, 1);
    }
    if (fails < balance->options.fails_max)
        return false;
    ejections = BALANCE_LOAD(&shared->ejections);
    /* If several workers get here, only one ejects the server. */
    if (!atomic_compare_exchange_strong_explicit(
            &shared->ejected_until_ms, &until_ms,
            now_ms + eject_for_ms(balance, ejections), memory_order_relaxed,
            memory_order_relaxed))
        return false;
    BALANCE_STORE(&shared->ejections, ejections + 1);
    BALANCE_STORE(&shared->window_ends_ms, 0);
    return true;
}

bool balance_give(struct balance *balance, int server,
                  enum balance_result result, uint64_t now_ms)
{
    struct balance_server_shared *shared = &balance->shared[server];
    uint32_t active = atomic_fetch_sub_explicit(&shared->active, 1,
                                                memory_order_relaxed);

    assert(active > 0);
    (void)active;
    switch (result) {
    case BALANCE_NEITHER:
        break;
    case BALANCE_SUCCESS:
        if (BALANCE_LOAD(&shared->ejections) > 0 && !is_ejected(shared, now_ms))
            BALANCE_STORE(&shared->ejections, 0);
        break;
    case BALANCE_FAILURE:
        return note_failure(balance, shared, now_ms);
    }
    return false;
}

/* --- Active: what probes found -------------------------------------------- */

bool balance_note_probe(struct balance *balance, int server, bool is_well,
                        uint64_t now_ms)
{
    struct balance_server_shared *shared = &balance->shared[server];
    uint32_t probes = BALANCE_LOAD(&shared->probes) + 1;

    if (is_well != is_down(shared)) {
        BALANCE_STORE(&shared->probes, 0);
        return false;
    }
    if (probes < (is_well ? balance->options.rise : balance->options.fall)) {
        BALANCE_STORE(&shared->probes, probes);
        return false;
    }
    BALANCE_STORE(&shared->probes, 0);
    if (is_well) {
        BALANCE_STORE(&shared->risen_at_ms, now_ms);
        BALANCE_STORE(&shared->ejected_until_ms, 0);
    }
    BALANCE_STORE(&shared->is_down, !is_well);
    return true;
}
