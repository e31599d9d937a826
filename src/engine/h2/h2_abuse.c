#include "engine/h2/h2_priv.h"

/*
 * A budget is a leaky bucket: it allows a burst at once, and a number per
 * second in the long run. The budgets are for frames that carry nothing of an
 * exchange: such frames cost far less to send than to process. The numbers are
 * several times what browsers, curl and h2load at full speed were seen to need.
 */
enum {
    UNIT = 1024,
    /* When a client has used up one COSTLY_PART-th of a budget, its connection
     * is read more slowly while others have work. */
    COSTLY_PART = 8,
    /* Work is counted in units of roughly half a microsecond. WORK_MAX is done
     * for one connection before others have their turn. WORK_OF_PENDING comes
     * on top of WORK_OF_STREAM, for asking an upstream server, perhaps over a
     * new connection. */
    WORK_MAX = 64,
    WORK_OF_STREAM = 4,
    WORK_OF_PENDING = 24,
    WORK_OF_SMALL = 1,
    WORK_OF_PIECE = 7, /* much, because a piece costs a system call */
    /* The work of decoding a list of fields: a unit for LIST_BYTES_OF_WORK, and
     * a unit for LIST_LINES_OF_WORK lines beyond those that browsers send. */
    LIST_BYTES_OF_WORK = 4096,
    LIST_LINES_OF_WORK = 8,
    LIST_LINES_USUAL = 32,
    /* Each answer that was sent whole lets TRUST_OF_ANSWER streams begin
     * without counting as work; TRUST_MAX is the most that a client can save
     * up. */
    TRUST_OF_ANSWER = 2,
    TRUST_MAX = 2 * H2_STREAMS_MAX
};

static const struct {
    uint32_t burst;
    uint32_t per_second;
    uint32_t work;
    uint32_t payload; /* bytes of payload that make one frame free; 0: no frame
                         is free */
} rules[STATS_HTTP2_ABUSE_COUNT] = {
    /* Streams that the client gives up ("rapid reset", CVE-2023-44487), or that
     * the server resets because of an error of the client (CVE-2025-8671). */
    [STATS_HTTP2_RESETS] = {400, 40, 4},
    [STATS_HTTP2_SETTINGS] = {32, 2, 8},
    /* Some clients send a PING in each round trip while a body comes, to
     * measure the path; so does the server (h2_windows.c). */
    [STATS_HTTP2_PINGS] = {100, 10, 2, 256},
    [STATS_HTTP2_PRIORITIES] = {1000, 200, 2},
    /* A fast client with small windows sends many window updates. A client that
     * opens its window by exactly the bytes that came sends some small
     * updates. */
    [STATS_HTTP2_WINDOWS] = {2000, 200, 2, 256},
    [STATS_HTTP2_SMALL_WINDOWS] = {500, 50, 4, 4096},
    [STATS_HTTP2_EMPTY_FRAMES] = {64, 8, 2},
    [STATS_HTTP2_UNKNOWN_FRAMES] = {100, 10, 2},
    [STATS_HTTP2_STREAMS_OVER] = {400, 40, 4},
    [STATS_HTTP2_MEMORY] = {400, 40, 4},
};

enum {
    /* At most OVERHEAD_SHARE bytes of frames are allowed for one byte of
     * payload. OVERHEAD_FREE bytes are added to the payload beforehand. */
    OVERHEAD_FREE = 1048576,
    OVERHEAD_SHARE = 8
};

/* Counts the work of an abuse, and marks the connection as costly until its
 * bucket has leaked enough. */
static void note_cost(struct h2 *h2, enum stats_http2_abuse kind)
{
    uint32_t level = h2->budgets[kind].level;
    uint32_t free = rules[kind].burst * UNIT / COSTLY_PART;
    uint64_t until_ms;

    h2->work += rules[kind].work;
    h2->charged += rules[kind].work;
    if (kind == STATS_HTTP2_RESETS)
        h2->trust /= 2;
    if (level <= free)
        return;
    h2->trust = 0;
    until_ms = h2_now_ms(h2) +
               (uint64_t)(level - free) * 1000 / UNIT / rules[kind].per_second;
    if (h2->costly_until_ms < until_ms)
        h2->costly_until_ms = until_ms;
}

bool h2_spend(struct h2 *h2, enum stats_http2_abuse kind)
{
    struct h2_budget *budget = &h2->budgets[kind];
    uint32_t now_ms = (uint32_t)h2_now_ms(h2);
    uint64_t leaked = (uint64_t)(now_ms - budget->since_ms) *
                      rules[kind].per_second * UNIT / 1000;

    budget->since_ms = now_ms;
    budget->level = leaked < budget->level ? budget->level - (uint32_t)leaked
                                           : 0;
    budget->level += UNIT;
    note_cost(h2, kind);
    if (budget->level <= rules[kind].burst * UNIT)
        return true;
    h2_lose_calm(h2, kind);
    return false;
}

bool h2_spend_beside(struct h2 *h2, enum stats_http2_abuse kind)
{
    struct h2_budget *budget = &h2->budgets[kind];

    if ((uint64_t)++budget->count * rules[kind].payload > h2->payload)
        return h2_spend(h2, kind);
    h2->work += WORK_OF_SMALL;
    return true;
}

bool h2_is_worth_it(struct h2 *h2)
{
    uint64_t all = h2->bytes_in + h2->bytes_out;

    if (all / OVERHEAD_SHARE <= h2->payload + OVERHEAD_FREE)
        return true;
    h2_lose_calm(h2, STATS_HTTP2_OVERHEAD);
    return false;
}

bool h2_has_had_turn(const struct h2 *h2)
{
    return h2->work >= WORK_MAX;
}

bool h2_was_charged(const struct h2 *h2)
{
    return h2->charged >= WORK_MAX / 2;
}

void h2_note_stream(struct h2 *h2)
{
    h2->is_trusted = h2->trust > 0;
    if (h2->is_trusted)
        h2->trust--;
    else
        h2->work += WORK_OF_STREAM;
}

void h2_note_pending(struct h2 *h2)
{
    if (!h2->is_trusted)
        h2->work += WORK_OF_PENDING;
}

void h2_note_list(struct h2 *h2, uint64_t bytes, unsigned lines)
{
    h2->work += (uint32_t)(bytes / LIST_BYTES_OF_WORK);
    if (lines > LIST_LINES_USUAL)
        h2->work += (lines - LIST_LINES_USUAL) / LIST_LINES_OF_WORK;
}

void h2_note_small(struct h2 *h2)
{
    h2->work += WORK_OF_SMALL;
}

void h2_note_piece(struct h2 *h2)
{
    h2->work += WORK_OF_PIECE;
}

bool h2_is_late_reset(struct h2 *h2)
{
    if (++h2->late_resets > h2->answers)
        return false;
    h2->work += WORK_OF_SMALL;
    h2->trust -= h2->trust < TRUST_OF_ANSWER ? h2->trust : TRUST_OF_ANSWER;
    return true;
}

void h2_note_answer(struct h2 *h2, const struct response *response)
{
    h2->answers++;
    if (response->status >= 400 || h2->trust > TRUST_MAX - TRUST_OF_ANSWER)
        return;
    h2->trust += TRUST_OF_ANSWER;
}
