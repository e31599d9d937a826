#include "base/now.h"
#include "base/units.h"
#include "engine/link/link_priv.h"

static void look_at_bucket(const struct link *link, struct link_state *state)
{
    uint64_t busy_ns = link_load(&link->shared->busy_ns);
    uint64_t now_ns = now_read_ns();

    state->is_engaged = true;
    state->limit_bytes = link_pacer_burst(link, state->rate);
    if (busy_ns > now_ns)
        state->delay_us = (busy_ns - now_ns) / NS_PER_US;
}

static void look_at_queue(const struct link *link, struct link_state *state)
{
    uint64_t now_ns = now_read_ns();
    uint64_t queued = link->queued + link_ask_others(link, 0, now_ns).queued;

    state->is_engaged = true;
    state->limit_bytes = link_queue_limit_bytes(link);
    if (state->rate > 0)
        state->delay_us = queued * US_PER_S / state->rate;
}

static void look_at_window(const struct link *link, struct link_state *state)
{
    uint64_t window = link_load(&link->shared->window);

    state->is_engaged = true;
    state->limit_bytes = window * link->span_us / US_PER_S;
    state->delay_us = link->delay_us;
}

void link_look(const struct link *link, struct link_state *state_out)
{
    *state_out = (struct link_state){.rate = link_narrowest(link)};
    if (link->shared->mode == LINK_RATE)
        look_at_bucket(link, state_out);
    else if (link_is_windowed(link) &&
             (!link->is_local ||
              state_out->rate == link_load(&link->shared->window)))
        look_at_window(link, state_out);
    else if (link->is_local)
        look_at_queue(link, state_out);
}
