/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "engine/sched.h"

#include <math.h>

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"

enum { ITEMS = 120, CLIENTS = 12 };

static struct sched sched;
static struct sched_item items[ITEMS];

/* Of what the link carries. */
static double grace, ahead;

static void use_rate(uint64_t rate)
{
    client_share_set_rate(&sched.clients, rate);
    grace = fmax(floor((double)rate / 4), CLIENT_SHARE_GRACE);
    grace = fmin(grace, CLIENT_SHARE_GRACE_MAX);
    ahead = fmax(grace, CLIENT_SHARE_AHEAD);
}

static void use(uint64_t bound, uint64_t factor)
{
    memset(items, 0, sizeof(items));
    sched_fini(&sched);
    sched_init(&sched, SCHED_POLICY_SRPT, (struct sched_bounds){bound, factor});
    assert_int_equal(sched_reserve(&sched, ITEMS), 0);
    use_rate(0);
}

static int set_up(void **state)
{
    (void)state;
    sched_init(&sched, SCHED_POLICY_SRPT, (struct sched_bounds){0, 2});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    allocations_left = -1;
    sched_fini(&sched);
    return 0;
}

/* --- A naive simulator --------------------------------------------------- */

/* All in bytes. V is computed as its definition says, by looking at every
 * client each time. */
static struct {
    double v;
    struct {
        double had;
        int waiting;      /* items */
        double since;     /* V when it began to wait */
        double first;     /* b */
        double sent;      /* since */
        double late_v;    /* V at a moment since, */
        double late_sent; /* and what had been sent then */
    } of[CLIENTS];
} naive;

static struct {
    int client;
    uint64_t left; /* 0: it does not wait */
    uint64_t had;  /* of a stream */
    bool is_stream;
    bool is_away; /* its socket takes nothing for now */
} jobs[ITEMS];

static void naive_advance(double bytes)
{
    while (bytes > 1e-9) {
        double next = 1e300;
        int count = 0;
        double step;

        for (int i = 0; i < CLIENTS; i++) {
            bool is_ahead = naive.of[i].had > naive.v + 1e-3;

            count += naive.of[i].waiting > 0 || is_ahead;
            if (naive.of[i].waiting == 0 && is_ahead && naive.of[i].had < next)
                next = naive.of[i].had;
        }
        if (count == 0)
            return;
        step = bytes / count;
        if (step > next - naive.v)
            step = next - naive.v;
        naive.v += step;
        bytes -= step * count;
    }
}

/* Whose place was taken last, and is put back before anything else happens,
 * goes on where he was. */
static int taken;

static void naive_begin(int client, uint64_t bytes, bool goes_on)
{
    if (naive.of[client].waiting++ > 0 || goes_on)
        return;
    if (naive.of[client].had < naive.v)
        naive.of[client].had = naive.v;
    naive.of[client].since = naive.of[client].late_v = naive.v;
    naive.of[client].first = (double)bytes;
    naive.of[client].sent = naive.of[client].late_sent = 0;
}

/* The claims of client_share.h. Virtual times are rounded to 1/4096, slopes to
 * 1/256. */
static void check_bounds(double factor, double quantum)
{
    for (int i = 0; i < CLIENTS; i++) {
        double b = naive.of[i].first;
        double rise = naive.v - naive.of[i].since;
        double g = fmin(floor((factor - 1) * b * 9 / 10), grace);
        double s = factor - g / b + 1.0 / 256;
        double due = (rise - g - quantum) / s;

        if (naive.of[i].waiting == 0)
            continue;
        if (due > b)
            due = b + (rise - g - s * b - quantum) / factor;
        assert_true(naive.of[i].sent + 16 >= due);
        assert_true(rise < (factor + 1.0 / 256) * b + quantum + 16 ||
                    naive.of[i].sent + 16 >= b);
        rise = naive.v - naive.of[i].late_v;
        assert_true(naive.of[i].sent - naive.of[i].late_sent + 16 >=
                    (rise - ahead - quantum) / factor);
        if (draw(5000) == 0) {
            naive.of[i].late_v = naive.v;
            naive.of[i].late_sent = naive.of[i].sent;
        }
    }
}

/* Of a client: how many small things are waited for, of how many bytes, and how
 * many things in all. What was taken just now may be put back yet. */
static uint64_t count_asked(int client, uint64_t *count_out, uint64_t *all_out)
{
    const struct client_share *share = &sched.clients;
    uint64_t asked = 0;

    *count_out = *all_out = 0;
    if (share->taken && share->taken->client == (uint64_t)client + 1 &&
        share->taken_counted > 0) {
        asked += share->taken_counted;
        ++*count_out;
    }
    for (int i = 0; i < ITEMS; i++) {
        if (jobs[i].client != client || !heap_has(&items[i].node))
            continue;
        ++*all_out;
        if (items[i].bytes == 0 || items[i].bytes > CLIENT_SHARE_SMALL)
            continue;
        asked += items[i].bytes;
        ++*count_out;
    }
    return asked;
}

/* All of a client have the level that its bytes allow, on top of their own. That of
 * many may be left from when there were more, and that of who waits alone from
 * before he asked for more. */
static void check_level(int client)
{
    uint64_t count, all;
    uint64_t asked = count_asked(client, &count, &all);
    bool is_many = all + 1 > CLIENT_SHARE_MANY; /* one may be taken */
    bool is_alone = client_share_waiting(&sched.clients) == 1;

    for (int i = 0; i < ITEMS; i++) {
        const struct sched_item *item = &items[i];
        uint64_t own = jobs[i].is_stream ? jobs[i].had : jobs[i].left;
        uint64_t level;

        if (jobs[i].client != client || !heap_has(&item->node))
            continue;
        level = client_share_level(&sched.clients, &item->place);
        if (count < 2)
            assert_true(level == 0 || is_many);
        else if (asked < CLIENT_SHARE_LEVEL_MAX)
            assert_true((level - level / 8 <= asked || is_many) &&
                        (asked <= level + level / 4 || is_alone));
        if (jobs[i].is_stream)
            level = 0;
        own += (level < 8 * own ? level : 8 * own) + item->excess;
        assert_int_equal(heap_key(&sched.heap, &item->node),
                         sched.bound > 0 ? own * sched.bound + item->stamp
                                         : own);
    }
}

static void put(int at)
{
    uint64_t bytes = jobs[at].is_stream ? CLIENT_SHARE_STREAM : jobs[at].left;

    sched_put(&sched, &items[at],
              jobs[at].is_stream ? jobs[at].had : jobs[at].left);
    naive_begin(jobs[at].client, bytes, at == taken);
    taken = -1;
}

static void arrive(int at, int client, uint64_t bytes, bool is_stream)
{
    taken = -1;
    memset(&jobs[at], 0, sizeof(jobs[at]));
    jobs[at].client = client;
    jobs[at].left = bytes;
    jobs[at].is_stream = is_stream;
    sched_arrive(&sched, &items[at], (uint64_t)client + 1, bytes, is_stream);
    put(at);
}

/* Sends a quantum of whoever is next; -1: nobody waits. Of so many one finds
 * that its socket takes no more; 0: none. */
static int serve(uint64_t quantum, unsigned away_of)
{
    struct sched_item *item = sched_take(&sched);
    int at = (int)(item - items);
    int client;
    uint64_t sent;

    taken = item ? at : -1;
    if (!item)
        return -1;
    client = jobs[at].client;
    sent = jobs[at].left < quantum ? jobs[at].left : quantum;
    sched_sent(&sched, item, sent);
    naive.of[client].had += (double)sent;
    naive.of[client].sent += (double)sent;
    naive_advance((double)sent);
    jobs[at].had += sent;
    if (!jobs[at].is_stream)
        jobs[at].left -= sent;
    jobs[at].is_away = jobs[at].left > 0 && away_of > 0 && draw(away_of) == 0;
    if (jobs[at].left > 0 && !jobs[at].is_away)
        sched_put(&sched, item,
                  jobs[at].is_stream ? jobs[at].had : jobs[at].left);
    else
        naive.of[client].waiting--;
    return at;
}

/* --- The bound ----------------------------------------------------------- */

enum mix { MIXED, FLOODED, CROWDED, MIXES };

/* Some have large ones, and all that others send is small, and never ends. */
static uint64_t draw_bytes(enum mix mix, int client)
{
    if (mix == FLOODED)
        return client < 3 ? 1u << (10 + draw(14)) : 1 + draw(20000);
    return 1 + draw(1u << draw(23));
}

static void run(enum mix mix, uint64_t bound, uint64_t factor, uint64_t quantum,
                int steps)
{
    unsigned busy = mix == CROWDED ? 1 : 2 + draw(6);

    use(bound, factor);
    use_rate(draw(24000000));
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    for (int step = 0; step < steps; step++) {
        int at = (int)draw(ITEMS);
        int client = (int)(mix == CROWDED && draw(2) ? 0 : draw(CLIENTS));

        if (jobs[at].left == 0 && draw(busy) == 0) {
            arrive(at, client, draw_bytes(mix, client), draw(20) == 0);
        } else if (jobs[at].is_away) {
            jobs[at].is_away = false;
            put(at);
        } else if (jobs[at].left > 0 && draw(200) == 0) { /* it gives up */
            sched_drop(&sched, &items[at]);
            taken = -1;
            jobs[at].left = 0;
            naive.of[jobs[at].client].waiting--;
        } else {
            (void)serve(quantum, 30);
        }
        check_bounds((double)factor, (double)quantum);
        check_level(client);
    }
    assert_true(naive.v > 0);
}

TEST(no_client_is_slower_than_the_factor_allows_whatever_others_send)
{
    static const uint64_t factors[] = {1, 2, 3, 8};
    static const uint64_t bounds[] = {0, 256};

    draw_seed = 1989;
    for (int round = 0; round < 48; round++)
        run((enum mix)(round % MIXES), bounds[round / 3 % 2],
            factors[round % 4], 1 + draw(3000), 12000);
}

/* Clients in a loop over small files, beside one with a large one. Its bytes
 * when so many have been sent in all. */
static uint64_t link_rate;

static uint64_t count_beside_loops(uint64_t factor, uint64_t all)
{
    enum { LOOPS = 8, SMALL = 100000, LARGE = 2000000 };

    use(256, factor);
    use_rate(link_rate);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    arrive(0, 0, LARGE, false);
    for (int i = 1; i <= LOOPS; i++)
        arrive(i, i, SMALL, false);
    for (uint64_t sent = 0; sent < all; sent += 1500) {
        int at = serve(1500, 0);

        if (at > 0 && jobs[at].left == 0)
            arrive(at, at, SMALL, false);
    }
    return LARGE - jobs[0].left;
}

TEST(a_large_one_is_not_kept_waiting_by_small_ones_without_an_end)
{
    /* Fair sharing would have sent all of it by 9 * 2 MB. */
    assert_int_equal(count_beside_loops(0, 8000000), 0);
    assert_in_range(count_beside_loops(2, 8000000), 250000, 450000);
    assert_int_equal(count_beside_loops(2, 36100000), 2000000);
    assert_int_equal(count_beside_loops(1, 18100000), 2000000);
}

/* On a fast link, which is busy with the same for a shorter time, it comes
 * later, and is complete when it has to be. */
TEST(on_a_fast_link_a_large_one_begins_later)
{
    link_rate = 10000000;
    assert_int_equal(count_beside_loops(2, 9 * 1700000), 0);
    assert_in_range(count_beside_loops(2, 9 * 1900000), 50000, 150000);
    assert_int_equal(count_beside_loops(2, 36100000), 2000000);
    link_rate = 0;
}

/* Bytes that are sent in all until the last of so many clients has some. */
static uint64_t count_until_last(int clients)
{
    const uint64_t bytes = 10000000;
    uint64_t left[ITEMS];
    uint64_t sent = 0;

    use(0, 2);
    use_rate(10000000);
    for (int i = 0; i < clients; i++) {
        left[i] = i < clients - 1 ? bytes : 2 * bytes;
        sched_arrive(&sched, &items[i], (uint64_t)i + 1, left[i], false);
        sched_put(&sched, &items[i], left[i]);
    }
    for (; left[clients - 1] == 2 * bytes; sent += 1000) {
        struct sched_item *item = sched_take(&sched);
        int at = (int)(item - items);

        sched_sent(&sched, item, 1000);
        left[at] -= 1000;
        if (left[at] > 0)
            sched_put(&sched, item, left[at]);
    }
    return sent;
}

/* However many wait: nobody waits so long for a first byte. */
TEST(what_is_large_stands_still_for_ten_seconds_at_most)
{
    assert_in_range(count_until_last(30), 70000000, 76000000); /* 250 ms each */
    assert_in_range(count_until_last(100), 95000000, 101000000);
    assert_in_range(count_until_last(ITEMS), 95000000, 101000000);
}

/* A large one beside eight clients in a loop, whose socket is full after each
 * piece: bytes that are sent in all until it is complete. When each could have
 * had most of it, the link gets slower, as more clients would make it. */
static uint64_t count_until_complete(uint64_t bytes)
{
    enum { LOOPS = 8, SMALL = 100000, PIECE = 1500 };
    uint64_t left[1 + LOOPS] = {bytes};
    uint64_t sent = 0;
    bool is_away = false;

    use(0, 2);
    use_rate(10000000);
    sched_arrive(&sched, &items[0], 1, bytes, false);
    sched_put(&sched, &items[0], bytes);
    while (left[0] > 0) {
        struct sched_item *item;
        int at;

        for (int i = 1; i <= LOOPS; i++) {
            if (left[i] > 0)
                continue;
            left[i] = SMALL;
            sched_arrive(&sched, &items[i], (uint64_t)i + 1, SMALL, false);
            sched_put(&sched, &items[i], SMALL);
        }
        item = sched_take(&sched);
        at = (int)(item - items);
        sched_sent(&sched, item, left[at] < PIECE ? left[at] : PIECE);
        sent += left[at] < PIECE ? left[at] : PIECE;
        left[at] -= left[at] < PIECE ? left[at] : PIECE;
        if (is_away)
            sched_put(&sched, &items[0], left[0]);
        is_away = at == 0;
        if (left[at] > 0 && !is_away)
            sched_put(&sched, item, left[at]);
        if (sent > 9 * (bytes - bytes / 8))
            use_rate(0);
    }
    return sent;
}

TEST(what_was_promised_is_kept_when_the_link_gets_slower)
{
    assert_in_range(count_until_complete(2700000), 40000000,
                    UINT64_C(9) * 2 * 2700000 + 500000);
}

/* --- Connections --------------------------------------------------------- */

/* One connection beside a hundred of another client, all always asking: what
 * it gets, in percent. */
static uint64_t percent_beside_hundred(uint64_t one, uint64_t other)
{
    enum { ALL = 400000000 };
    uint64_t got = 0;

    use(1024, 2);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    arrive(0, 0, one, false);
    for (int i = 1; i <= 100; i++)
        arrive(i, 1, other, false);
    for (uint64_t sent = 0; sent < ALL; sent += 1500) {
        uint64_t before = jobs[0].had;
        int at = serve(1500, 0);

        if (at == 0)
            got += jobs[0].had - before;
        if (jobs[at].left == 0)
            arrive(at, at > 0, at > 0 ? other : one, false);
    }
    return got * 100 / ALL;
}

TEST(a_hundred_connections_have_no_more_than_one)
{
    assert_in_range(percent_beside_hundred(100000, 100000), 42, 55);
    assert_in_range(percent_beside_hundred(110000, 100000), 42, 55);
    assert_in_range(percent_beside_hundred(4000000, 5000), 42, 55);
    assert_in_range(percent_beside_hundred(5000, 4000000), 42, 55);
}

/* --- Pages --------------------------------------------------------------- */

/* The client of the next that is sent to, whole. */
static int take_client(void)
{
    int at = serve(UINT64_MAX, 0);

    assert_true(at >= 0);
    return jobs[at].client;
}

TEST(who_waits_for_less_in_all_goes_first)
{
    use(0, 1024); /* nobody is due so soon */
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    for (int i = 0; i < 6; i++)
        arrive(i, 0, 20000, false);
    arrive(6, 1, 25000, false); /* each is longer, both are less */
    arrive(7, 1, 25000, false);
    arrive(8, 2, 60000, false); /* nothing else */
    assert_int_equal(take_client(), 2);
    assert_int_equal(take_client(), 1);
}

TEST(what_is_small_does_not_wait_for_a_large_one_of_its_client)
{
    use(0, 1024);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    arrive(0, 0, 10000000, false);
    arrive(1, 1, 5000, false);
    arrive(2, 0, 4000, false);
    assert_int_equal(take_client(), 0);
    assert_int_equal(jobs[2].left, 0);
}

/* As what is left of a client's is less and less. In turns the last but one
 * would be the last of the other. */
TEST(of_two_alike_one_is_finished_before_the_other)
{
    int left[2] = {6, 6};
    int taken_in_all = 0;

    use(0, 1024);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    for (int i = 0; i < 12; i++)
        arrive(i, i % 2, 50000, false);
    for (; left[0] > 0 && left[1] > 0; taken_in_all++)
        left[take_client()]--;
    assert_in_range(taken_in_all, 6, 8);
}

static uint64_t moved;
static void (*move)(struct client_share *share, struct client_place *place,
                    uint64_t before, uint64_t after);

static void count_moved(struct client_share *share, struct client_place *place,
                        uint64_t before, uint64_t after)
{
    moved++;
    move(share, place, before, after);
}

/* A client that lets much wait asks for something and gives up, again and again,
 * and its level would be another each time. */
static uint64_t count_moved_by(int waiting, int requests)
{
    use(0, 1024);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    move = sched.clients.on_level;
    sched.clients.on_level = count_moved;
    moved = 0;
    arrive(ITEMS - 1, 1, 100000, false); /* somebody else */
    for (int i = 0; i < waiting; i++)
        arrive(i, 0, 10, false);
    for (int i = 0; i < requests; i++) {
        arrive(ITEMS - 2, 0, CLIENT_SHARE_SMALL, false);
        check_level(0);
        sched_drop(&sched, &items[ITEMS - 2]);
        check_level(0);
    }
    return moved;
}

TEST(a_request_does_not_move_all_that_its_client_waits_for)
{
    enum { REQUESTS = 10000 };
    const uint64_t steps = (ITEMS - 2) * 80; /* of a quarter, up to 1 MiB */

    assert_in_range(count_moved_by(6, REQUESTS), REQUESTS * (6 + 7),
                    REQUESTS * (6 + 7) + steps); /* a page's are */
    assert_in_range(count_moved_by(ITEMS - 2, REQUESTS), 1, steps);
    assert_true(client_share_level(&sched.clients, &items[0].place) > 0);
    while (sched.heap.count > 6 + 1) /* and it is known again in the end */
        (void)serve(UINT64_MAX, 0);
    (void)client_share_first_due(&sched.clients); /* settles */
    assert_in_range(client_share_level(&sched.clients, &items[ITEMS - 3].place),
                    50, 80);
}

/* One who waits for a dozen, in all for 18,600 bytes. */
static void let_one_wait(void)
{
    use(0, 1024);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    move = sched.clients.on_level;
    sched.clients.on_level = count_moved;
    moved = 0;
    for (int i = 0; i < 12; i++)
        arrive(i, 0, 1000 + 100 * (uint64_t)i, false);
    assert_int_equal(serve(UINT64_MAX, 0), 0);
    check_level(0);
    assert_int_equal(client_share_level(&sched.clients, &items[1].place), 0);
    assert_int_equal(moved, 0);
}

/* Within a client a level changes nothing. */
TEST(who_waits_alone_has_no_level_until_somebody_comes)
{
    let_one_wait();
    arrive(ITEMS - 1, 1, 5000, false);
    assert_int_equal(moved, 11);
    check_level(0);
    assert_in_range(client_share_level(&sched.clients, &items[1].place), 15000,
                    18000);
    assert_int_equal(serve(UINT64_MAX, 0), ITEMS - 1);
    for (int i = 1; i < 12; i++)
        assert_int_equal(serve(UINT64_MAX, 0), i);
}

TEST(who_waits_alone_has_no_level_until_somebody_waits_elsewhere)
{
    const struct client_others others = {.count = 1,
                                         .parts = CLIENT_SHARE_WHOLE};

    let_one_wait();
    client_share_hear(&sched.clients, &others);
    assert_int_equal(moved, 11);
    check_level(0);
    assert_in_range(client_share_level(&sched.clients, &items[1].place), 15000,
                    18000);
    arrive(12, 0, 1500, false); /* it goes on from there */
    assert_in_range(client_share_level(&sched.clients, &items[12].place), 15000,
                    20000);
}

TEST(one_client_alone_is_served_shortest_first)
{
    draw_seed = 7;
    use(0, 2);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    for (int step = 0; step < 20000; step++) {
        int at = (int)draw(ITEMS);

        if (jobs[at].left == 0 && draw(3) == 0) {
            arrive(at, 0, 1 + draw(1u << draw(22)), false);
        } else {
            uint64_t least = UINT64_MAX;

            for (int i = 0; i < ITEMS; i++)
                if (jobs[i].left > 0 && jobs[i].left < least)
                    least = jobs[i].left;
            at = serve(2000, 0);
            if (at >= 0)
                assert_int_equal(jobs[at].left,
                                 least > 2000 ? least - 2000 : 0);
        }
    }
}

TEST(who_is_due_goes_before_a_shorter_newcomer)
{
    use(0, 2);
    memset(jobs, 0, sizeof(jobs));
    memset(&naive, 0, sizeof(naive));
    arrive(0, 0, 4000000, false);
    arrive(1, 1, 90000, false);
    while (!client_share_has_due(&sched.clients)) {
        assert_int_equal(serve(3000, 0), 1);
        if (jobs[1].left == 0)
            arrive(1, 1, 90000, false);
    }
    sched_arrive(&sched, &items[2], 3, 10, false);
    assert_false(sched_goes_first(&sched, &items[2], 10));
    assert_true(sched_next_key(&sched) == 0);
    assert_ptr_equal(sched_take(&sched), &items[0]);
    assert_true(sched_key(&sched, &items[0], jobs[0].left) == 0);
    sched_put(&sched, &items[0], jobs[0].left);
    assert_true(sched_key(&sched, &items[0], jobs[0].left) >= jobs[0].left);
}

/* --- Several workers ----------------------------------------------------- */

/* What the others send counts against them, and only as far as they have other
 * clients. */
TEST(a_client_alone_with_its_worker_is_due_by_what_others_send)
{
    struct client_others others = {
        .sent = 5000000000, .count = 3, .parts = 3 * CLIENT_SHARE_WHOLE};

    use(0, 2);
    arrive(0, 0, 1000000, false);
    client_share_hear(&sched.clients, &others); /* long ago, as far as known */
    assert_false(client_share_has_due(&sched.clients));
    others.sent += 500000;
    client_share_hear(&sched.clients, &others);
    assert_false(client_share_has_due(&sched.clients));
    others.sent += 500000; /* a fourth of what is counted is over 384 KiB */
    client_share_hear(&sched.clients, &others);
    assert_true(client_share_has_due(&sched.clients));
    others.count = 0;
    others.parts = 0;
    client_share_hear(&sched.clients, &others);
    assert_false(client_share_has_due(&sched.clients));
}

/* However much has come to this worker, and less or more to others. */
TEST(keys_begin_at_the_base)
{
    static const uint64_t factors[] = {0, 2};

    for (int i = 0; i < 2; i++) {
        uint64_t base;

        use(1024, factors[i]);
        memset(jobs, 0, sizeof(jobs));
        memset(&naive, 0, sizeof(naive));
        for (int at = 0; at < ITEMS - 1; at++)
            arrive(at, at % CLIENTS, 1000000, false);
        base = sched_base(&sched);
        sched_arrive(&sched, &items[ITEMS - 1], 1000, 5000, false);
        assert_true(sched_key(&sched, &items[ITEMS - 1], 5000) ==
                    base + 1024 * 5000);
    }
}

/* --- Names and memory ---------------------------------------------------- */

static uint64_t name_of(const char *text)
{
    struct address address = {0};

    assert_true(address_parse(&address, (struct bytes){text, strlen(text)}));
    return client_share_name(&address);
}

TEST(an_address_or_a_network_of_ipv6_is_one_client)
{
    static const struct address local = {.family = ADDRESS_UNIX};

    assert_true(name_of("192.0.2.1") == name_of("192.0.2.1"));
    assert_true(name_of("192.0.2.1") != name_of("192.0.2.2"));
    assert_true(name_of("2001:db8::1") == name_of("2001:db8::ffff:1"));
    assert_true(name_of("2001:db8::1") != name_of("2001:db8:0:1::1"));
    assert_true(name_of("::c000:201") != name_of("192.0.2.1"));
    assert_true(client_share_name(&local) != name_of("0.0.0.0"));
}

/* More of them than there is room for: those forgotten are not waiting. */
TEST(any_number_of_clients_may_come_and_go)
{
    draw_seed = 11;
    use(256, 2);
    memset(jobs, 0, sizeof(jobs));
    for (uint64_t i = 0; i < 100000; i++) {
        struct sched_item *item = &items[i % ITEMS];

        sched_drop(&sched, item);
        sched_arrive(&sched, item, i, 1000 + draw(100000), false);
        sched_put(&sched, item, 1000);
        item = sched_take(&sched);
        sched_sent(&sched, item, 1000);
        assert_in_range(sched.clients.count, 1, 2 * ITEMS);
    }
    while (sched_take(&sched))
        ;
    assert_int_equal(client_share_waiting(&sched.clients), 0);
}

TEST(without_memory_there_is_room_for_as_many_as_before)
{
    for (long left = 0; left < 8; left++) {
        struct sched_item *item;

        use(0, 2);
        allocations_left = left;
        (void)!sched_reserve(&sched, (size_t)ITEMS * 8);
        allocations_left = -1;
        for (uint64_t i = 0; i < ITEMS; i++) {
            sched_arrive(&sched, &items[i], i * i, 1000, false);
            sched_put(&sched, &items[i], 1000);
        }
        for (int i = 0; i < ITEMS; i++) {
            assert_non_null(item = sched_take(&sched));
            sched_sent(&sched, item, 1000);
        }
        assert_null(sched_take(&sched));
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
