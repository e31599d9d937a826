/*
 * When is a page there? Visitors load pages of 70 files by six connections
 * each, and strangers ask for single files, over one simulated link of 8 Mbit/s
 * with a round trip of 40 ms. What a browser asks for next depends on what has
 * come:
 *
 *   the page -> 9 files that block (styles, scripts, fonts) -> 60 others
 *
 * Prints a table in Markdown.
 *
 *   pages [seconds [seeds]]
 */
#include "pages.h"
#include "draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FILES = 70,
    BLOCKING = 9,
    CONNECTIONS = 6,
    PAGES_MAX = 4000,
    SINGLES_MAX = 100000,
    TRIP = 40000, /* on the clock */
    SMALL = 10240
};

static const double link_rate = 1e6; /* bytes a second: 8 Mbit/s */

/* --- What is loaded ------------------------------------------------------ */

struct page {
    struct reply files[FILES];
    uint64_t begin;
    uint64_t painted; /* all that blocks has come */
    uint64_t done;
    unsigned asked;
    unsigned here;
};

static struct page pages[PAGES_MAX];
static size_t page_count;
static struct reply singles[SINGLES_MAX];
static size_t single_count;

static uint64_t draw_around(double median, double sigma)
{
    double normal = draw_normal();

    return 300 + (uint64_t)(median * exp(sigma * normal) * 1.05);
}

static uint64_t draw_single(void)
{
    return 600 + (uint64_t)(draw_pareto() * 1.05);
}

static uint64_t draw_page(struct page *page)
{
    uint64_t bytes = 0;

    *page = (struct page){0};
    for (unsigned i = 0; i < FILES; i++) {
        struct reply *file = &page->files[i];

        file->urgency = i == 0 ? 0 : i <= BLOCKING ? 1 : 2;
        file->size = i == 0          ? draw_around(20000, 0.5)
                     : i <= BLOCKING ? draw_around(20000, 0.8)
                                     : draw_around(8000, 1.0);
        bytes += file->size;
    }
    return bytes;
}

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const struct reply *)a)->arrive;
    uint64_t y = ((const struct reply *)b)->arrive;

    return x < y ? -1 : x > y;
}

/* So much of the link is asked for in pages, each by a visitor of its own, and
 * in single files. */
static void draw_load(double of_pages, double of_singles, double seconds,
                      unsigned number)
{
    double bytes = 0;

    draw_seed = UINT64_C(88172645463325252) + number * 7919;
    for (int i = 0; i < 50; i++)
        (void)draw();
    page_count = single_count = 0;
    while (bytes < of_pages * seconds * link_rate && page_count < PAGES_MAX)
        bytes += (double)draw_page(&pages[page_count++]);
    for (size_t i = 0; i < page_count; i++) {
        pages[i].begin = (uint64_t)(draw() * seconds * link_rate);
        for (unsigned k = 0; k < FILES; k++)
            pages[i].files[k].client = (uint32_t)i;
    }
    bytes = 0;
    while (bytes < of_singles * seconds * link_rate &&
           single_count < SINGLES_MAX) {
        struct reply *reply = &singles[single_count++];

        *reply = (struct reply){.size = draw_single(),
                                .arrive = (uint64_t)(draw() * seconds *
                                                     link_rate)};
        bytes += (double)reply->size;
    }
    qsort(singles, single_count, sizeof(*singles), by_start);
    for (size_t i = 0; i < single_count; i++)
        singles[i].client = (uint32_t)(page_count + i);
}

/* --- A run --------------------------------------------------------------- */

static uint64_t clock_bytes;

/* How many files a browser knows of by now. */
static unsigned known(const struct page *page)
{
    if (page->files[0].done == 0)
        return 1;
    for (unsigned i = 1; i <= BLOCKING; i++)
        if (page->files[i].done == 0)
            return 1 + BLOCKING;
    return FILES;
}

/* Asks for what it may, half a round trip before it arrives here. */
static void ask(struct page *page, uint64_t when)
{
    while (page->asked < known(page) &&
           page->asked - page->here < CONNECTIONS) {
        page->files[page->asked].left = page->files[page->asked].size;
        page->files[page->asked++].arrive = when + TRIP;
    }
}

static void begin_run(const struct order *order)
{
    for (size_t i = 0; i < single_count; i++) {
        memset(&singles[i].item, 0, sizeof(singles[i].item));
        singles[i].left = singles[i].size;
        singles[i].done = 0;
    }
    for (size_t i = 0; i < page_count; i++) {
        pages[i].asked = pages[i].here = 0;
        pages[i].painted = pages[i].done = 0;
        for (unsigned k = 0; k < FILES; k++) {
            memset(&pages[i].files[k].item, 0, sizeof(pages[i].files[k].item));
            pages[i].files[k].done = 0;
        }
        ask(&pages[i], pages[i].begin);
    }
    clock_bytes = 0;
    order->begin(page_count + single_count);
}

/* Of what was asked for, what has come to the server. */
static unsigned char arrived[PAGES_MAX][FILES];

static uint64_t let_arrive(const struct order *order, size_t *next)
{
    uint64_t soonest = UINT64_MAX;

    while (*next < single_count && singles[*next].arrive <= clock_bytes)
        order->arrive(&singles[(*next)++]);
    if (*next < single_count)
        soonest = singles[*next].arrive;
    for (size_t i = 0; i < page_count; i++) {
        if (pages[i].done != 0)
            continue;
        for (unsigned k = 0; k < pages[i].asked; k++) {
            struct reply *file = &pages[i].files[k];

            if (arrived[i][k])
                continue;
            if (file->arrive <= clock_bytes) {
                arrived[i][k] = 1;
                order->arrive(file);
            } else if (file->arrive < soonest) {
                soonest = file->arrive;
            }
        }
    }
    return soonest;
}

static void end_reply(struct reply *reply)
{
    struct page *page;

    reply->done = clock_bytes;
    if (reply->client >= page_count)
        return;
    page = &pages[reply->client];
    page->here++;
    if (page->painted == 0 && known(page) == FILES)
        page->painted = clock_bytes;
    if (page->here == FILES)
        page->done = clock_bytes;
    ask(page, clock_bytes);
}

static void run(const struct order *order)
{
    size_t next = 0;

    memset(arrived, 0, sizeof(arrived));
    begin_run(order);
    for (;;) {
        uint64_t soonest = let_arrive(order, &next);
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
            end_reply(reply);
    }
}

/* --- The table ----------------------------------------------------------- */

struct sums {
    double painted, done, single, small, large;
    size_t pages, singles, smalls, larges;
};

static void add(struct sums *sums)
{
    for (size_t i = 0; i < page_count; i++) {
        sums->painted += (double)(pages[i].painted - pages[i].begin);
        sums->done += (double)(pages[i].done - pages[i].begin);
    }
    sums->pages += page_count;
    for (size_t i = 0; i < single_count; i++) {
        double time = (double)(singles[i].done - singles[i].arrive);

        sums->single += time;
        sums->small += singles[i].size < SMALL ? time : 0;
        sums->smalls += singles[i].size < SMALL;
        sums->large += singles[i].size > 10 * SMALL ? time : 0;
        sums->larges += singles[i].size > 10 * SMALL;
    }
    sums->singles += single_count;
}

static double ms(double sum, size_t count)
{
    return sum / (double)(count ? count : 1) / link_rate * 1e3;
}

static const struct order *order_at(size_t i)
{
    return i < order_own_count ? &order_own[i]
                               : &pages_candidates[i - order_own_count];
}

int main(int argc, char **argv)
{
    static const double loads[][2] = {{0.8, 0}, {0.5, 0.3}, {0.6, 0.35}};
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 300;
    unsigned seeds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;

    order_rate = (uint64_t)link_rate;
    for (size_t load = 0; load < sizeof(loads) / sizeof(*loads); load++) {
        printf("\n%.2f of the link in pages, %.2f in single files; means in "
               "ms\n\n| order | painted | page | single | below 10 KB | above "
               "100 KB |\n|---|---:|---:|---:|---:|---:|\n",
               loads[load][0], loads[load][1]);
        for (size_t i = 0; i < order_own_count + pages_candidate_count; i++) {
            struct sums sums = {0};

            for (unsigned number = 1; number <= seeds; number++) {
                draw_load(loads[load][0], loads[load][1], seconds, number);
                run(order_at(i));
                add(&sums);
            }
            printf("| %s | %.0f | %.0f | %.1f | %.1f | %.0f |\n",
                   order_at(i)->name, ms(sums.painted, sums.pages),
                   ms(sums.done, sums.pages), ms(sums.single, sums.singles),
                   ms(sums.small, sums.smalls), ms(sums.large, sums.larges));
            fflush(stdout);
        }
    }
    return 0;
}
