/*
 * Which order? Replays seeded arrivals over one simulated link under sprintd's
 * orders and those of order_candidates.c, and prints a table in Markdown.
 *
 *   order [seconds [seeds]]
 */
#include "order.h"
#include "draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLIES_MAX = 400000, LOOPS_MAX = 512, SLACK_BYTES = 32768 };

static const double link_rate = 1e7; /* bytes a second: 80 Mbit/s */

enum { SRPT = 0, BOUNDED = 3 }; /* of order_own */

/* --- Arrivals ------------------------------------------------------------ */

static struct reply replies[REPLIES_MAX];
static size_t reply_count;
static size_t client_count;
static uint64_t fair_time[REPLIES_MAX]; /* under two levels */

static double draw_web(void)
{
    static const struct {
        double up_to, median, sigma;
    } kinds[] = {{0.15, 12288, 1.0},
                 {0.25, 8192, 1.0},
                 {0.45, 20480, 1.1},
                 {0.99, 15360, 1.2},
                 {1.00, 1572864, 0.8}};
    double which = draw();
    double normal = draw_normal();
    double size;
    int i = 0;

    while (i < 4 && which > kinds[i].up_to)
        i++;
    size = kinds[i].median * exp(kinds[i].sigma * normal);
    return size < 1024 ? 1024 : size > 10485760 ? 10485760 : size;
}

/* A connection of its own, as in link/wire.py. */
static uint64_t wire_bytes(double size)
{
    return (uint64_t)(250 + size + ceil((250 + size) / 1448) * 66 + 272);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* clients: 0: each asks once. */
static void draw_arrivals(double draw_size(void), double load, double seconds,
                          size_t clients, unsigned number)
{
    static double starts[REPLIES_MAX];
    double sum = 0;

    draw_seed = UINT64_C(88172645463325252) + number * 7919;
    for (int i = 0; i < 50; i++)
        (void)draw();
    reply_count = 0;
    while (sum < load * seconds * link_rate && reply_count < REPLIES_MAX / 2) {
        struct reply *reply = &replies[reply_count++];

        *reply = (struct reply){.size = wire_bytes(draw_size())};
        sum += (double)reply->size;
    }
    for (size_t i = 0; i < reply_count; i++)
        starts[i] = draw() * sum / load;
    qsort(starts, reply_count, sizeof(*starts), by_value);
    for (size_t i = 0; i < reply_count; i++) {
        replies[i].arrive = (uint64_t)starts[i];
        replies[i].client = (uint32_t)(clients ? draw() * (double)clients
                                               : (double)i);
    }
    client_count = clients ? clients : reply_count;
}

static void add_loop(uint32_t client, double size)
{
    replies[reply_count++] = (struct reply){
        .client = client, .size = wire_bytes(size), .is_loop = true};
}

/* --- A run --------------------------------------------------------------- */

static uint64_t clock_bytes;

/* Who has been served asks again after a while: loops are few. */
static struct {
    struct reply *all[LOOPS_MAX];
    size_t count;
} away;

static uint64_t let_arrive(const struct order *order, size_t *next,
                           size_t drawn)
{
    uint64_t soonest = UINT64_MAX;

    while (*next < drawn && replies[*next].arrive <= clock_bytes)
        order->arrive(&replies[(*next)++]);
    if (*next < drawn)
        soonest = replies[*next].arrive;
    for (size_t i = 0; i < away.count;) {
        struct reply *reply = away.all[i];

        if (reply->arrive <= clock_bytes) {
            order->arrive(reply);
            away.all[i] = away.all[--away.count];
            continue;
        }
        if (reply->arrive < soonest)
            soonest = reply->arrive;
        i++;
    }
    return soonest;
}

static void end_reply(struct reply *reply, uint64_t think)
{
    reply->done = clock_bytes;
    if (!reply->is_loop || reply_count == REPLIES_MAX)
        return;
    replies[reply_count] = (struct reply){.client = reply->client,
                                          .is_loop = true,
                                          .size = reply->size,
                                          .left = reply->size,
                                          .arrive = clock_bytes + think};
    away.all[away.count++] = &replies[reply_count++];
}

static void run(const struct order *order, size_t drawn, uint64_t until,
                uint64_t think)
{
    size_t next = 0;

    for (size_t i = 0; i < drawn; i++) {
        memset(&replies[i].item, 0, sizeof(replies[i].item));
        replies[i].left = replies[i].size;
        replies[i].done = 0;
    }
    reply_count = drawn;
    clock_bytes = away.count = 0;
    order->begin(client_count);
    while (clock_bytes < until) {
        uint64_t soonest = let_arrive(order, &next, drawn);
        struct reply *reply = order->pick();
        uint64_t bytes;

        if (!reply && soonest == UINT64_MAX)
            return;
        if (!reply) {
            if (order->idle)
                order->idle(soonest - clock_bytes);
            clock_bytes = soonest;
            continue;
        }
        bytes = reply->left < ORDER_QUANTUM ? reply->left : ORDER_QUANTUM;
        clock_bytes += bytes;
        order->sent(reply, bytes);
        if (reply->left == 0)
            end_reply(reply, think);
    }
}

/* --- Tables -------------------------------------------------------------- */

static uint64_t time_of(const struct reply *reply)
{
    return (reply->done ? reply->done : clock_bytes) - reply->arrive;
}

static double mean_ms(size_t drawn)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < drawn; i++) {
        if (!replies[i].is_loop && replies[i].arrive < clock_bytes) {
            sum += (double)time_of(&replies[i]);
            count++;
        }
    }
    return sum / (double)count / link_rate * 1e3;
}

static double worst_ratio(size_t drawn)
{
    double worst = 0;

    for (size_t i = 0; i < drawn; i++) {
        double over = (double)time_of(&replies[i]) - SLACK_BYTES;

        if (over > worst * (double)fair_time[i])
            worst = over / (double)fair_time[i];
    }
    return worst;
}

static const struct order *order_at(size_t i)
{
    return i < order_own_count ? &order_own[i]
                               : &order_candidates[i - order_own_count];
}

enum { COLUMNS = 8, CROWDS = 3, ORDERS_MAX = 16, DRAWS_MAX = 100 };

static const size_t crowds[CROWDS] = {0, 200, 20};

/* Means, as a multiple of srpt's: the highest over all crowds. */
static void print_means(double seconds, unsigned seeds)
{
    static const double loads[COLUMNS] = {0.5, 0.8, 0.9,  0.95,
                                          1.2, 0.9, 0.95, 1.2};
    static double most[ORDERS_MAX][COLUMNS];
    static double worst[ORDERS_MAX];
    size_t count = order_own_count + order_candidate_count;

    for (int column = 0; seeds > 0 && column < COLUMNS; column++) {
        for (int crowd = 0; crowd < CROWDS; crowd++) {
            double means[ORDERS_MAX] = {0};

            for (unsigned number = 1; number <= seeds; number++) {
                draw_arrivals(column < 5 ? draw_pareto : draw_web,
                              loads[column], seconds, crowds[crowd], number);
                size_t drawn = reply_count;

                run(&order_candidates[0], drawn, UINT64_MAX, 0);
                for (size_t i = 0; i < drawn; i++)
                    fair_time[i] = time_of(&replies[i]);
                for (size_t i = 0; i < count; i++) {
                    run(order_at(i), drawn, UINT64_MAX, 0);
                    means[i] += mean_ms(drawn);
                    worst[i] = fmax(worst[i], worst_ratio(drawn));
                }
            }
            for (size_t i = 0; i < count; i++)
                most[i][column] = fmax(most[i][column], means[i] / means[SRPT]);
        }
    }
    printf("| order | 0.5 | 0.8 | 0.9 | 0.95 | 1.2 | web 0.9 | 0.95 | 1.2 | "
           "slowest |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < count; i++) {
        printf("| %s |", order_at(i)->name);
        for (int column = 0; column < COLUMNS; column++)
            printf(" %.3f |", most[i][column]);
        printf(" %.1f |\n", worst[i]);
    }
}

/* A burst under the bound: its mean, as a multiple of srpt's without one. */
static double price_of_bound(double draw_size(void), double seconds,
                             size_t clients, unsigned number)
{
    size_t drawn;
    double mean;

    draw_arrivals(draw_size, 1.2, seconds, clients, number);
    drawn = reply_count;
    run(&order_own[BOUNDED], drawn, UINT64_MAX, 0);
    mean = mean_ms(drawn);
    run(&order_own[SRPT], drawn, UINT64_MAX, 0);
    return mean / mean_ms(drawn);
}

/* The same of many draws, which differ by what large replies are in them. */
static void print_prices(double seconds, unsigned draws)
{
    static double prices[DRAWS_MAX];

    printf(
        "\n| a burst of 1.2, clients | on average | 9 of 10 draws | worst |\n"
        "|---|---:|---:|---:|\n");
    for (int row = 0; draws > 0 && row < 2 * CROWDS; row++) {
        double sum = 0;

        for (unsigned i = 0; i < draws; i++) {
            prices[i] = price_of_bound(row < CROWDS ? draw_pareto : draw_web,
                                       seconds, crowds[row % CROWDS], i + 1);
            sum += prices[i];
        }
        qsort(prices, draws, sizeof(*prices), by_value);
        printf("| %s, ", row < CROWDS ? "Pareto" : "web");
        printf(crowds[row % CROWDS] ? "%zu" : "one a request",
               crowds[row % CROWDS]);
        printf(" | %.3f | %.3f | %.3f |\n", sum / draws,
               prices[(draws - 1) * 9 / 10], prices[draws - 1]);
    }
}

/* What the first client gets of the link, in percent. */
static double percent_of_first(void)
{
    double first = 0;
    double all = 0;

    for (size_t i = 0; i < reply_count; i++) {
        double got = (double)(replies[i].size - replies[i].left);

        all += got;
        first += replies[i].client == 0 ? got : 0;
    }
    return 100 * first / all;
}

/* A client of one connection beside one of a hundred, both always asking. */
static double share_beside_hundred(const struct order *order, double size)
{
    client_count = 2;
    reply_count = 0;
    add_loop(0, size);
    for (int i = 0; i < 100; i++)
        add_loop(1, 1e5);
    run(order, reply_count, (uint64_t)(20 * link_rate), 10000);
    return percent_of_first();
}

/* 2 MB beside eight clients that ask for 100 KB for ever, over 8 Mbit/s: KB
 * after 8 s, and when all had come. */
static void print_download(const struct order *order)
{
    uint64_t got;

    client_count = 9;
    reply_count = 0;
    add_loop(0, 2e6);
    replies[0].is_loop = false;
    for (uint32_t i = 1; i <= 8; i++)
        add_loop(i, 1e5);
    order_rate /= 10;
    run(order, 9, 8000000, 10000);
    got = replies[0].size - replies[0].left;
    run(order, 9, 90000000, 10000);
    order_rate *= 10;
    printf(" %.0f |", (double)got / 1e3);
    if (replies[0].done)
        printf(" %.0f s |", (double)replies[0].done / 1e6);
    else
        printf(" never |");
}

/* Nineteen clients, and one that asks for 100 KB on a hundred connections. */
static void print_greedy(const struct order *order, double seconds)
{
    draw_arrivals(draw_pareto, 0.5, seconds, 19, 1);
    for (size_t i = 0; i < reply_count; i++)
        replies[i].client++;
    client_count = 20;
    memmove(replies + 100, replies, reply_count * sizeof(*replies));
    size_t drawn = reply_count + 100;

    reply_count = 0;
    for (int i = 0; i < 100; i++)
        add_loop(0, 1e5);
    run(order, drawn, (uint64_t)(seconds * link_rate), 10000);
    printf(" %.2f |", mean_ms(drawn));
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 20;
    unsigned seeds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;

    print_means(seconds, seeds);
    print_prices(seconds, 14 * seeds < DRAWS_MAX ? 14 * seeds : DRAWS_MAX);
    printf("\n| order | 2 MB: KB in 8 s | done | 1 beside 100, 100 KB: %% | "
           "110 KB | 1 MB | others beside a greedy one: ms |\n"
           "|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < order_own_count + order_candidate_count; i++) {
        const struct order *order = order_at(i);

        printf("| %s |", order->name);
        print_download(order);
        printf(" %.0f |", share_beside_hundred(order, 1e5));
        printf(" %.0f |", share_beside_hundred(order, 1.1e5));
        printf(" %.0f |", share_beside_hundred(order, 1e6));
        print_greedy(order, seconds);
        printf("\n");
    }
    return 0;
}
