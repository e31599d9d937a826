/*
 * How long does what is asked for take, where the narrow place is further away?
 * Strangers ask for files of very different sizes over a simulated path. Every
 * client is one round trip away, or 4 or 60 ms. Prints a table in Markdown.
 *
 *   far_link [seconds [seeds]]
 */
#include "far_link.h"
#include "draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 10000 };

/* --- What is asked for --------------------------------------------------- */

static struct fetch fetches[FAR_FETCHES_MAX];
static size_t fetch_count;

/* What a reply takes of the link, with what opens its connection. */
static double seconds_of(uint32_t size)
{
    uint32_t segments = (size + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES;

    return (size + (segments + 1) * LINK_HEADER_BYTES + FAR_OPENING) /
           far_path.rate;
}

static int compare_begin(const void *a, const void *b)
{
    const struct fetch *one = a, *other = b;

    return one->begin < other->begin ? -1 : one->begin > other->begin;
}

static void draw_fetches(double load, double seconds, uint64_t trip_ns)
{
    double work = 0;

    for (fetch_count = 0;
         work < load * seconds && fetch_count < FAR_FETCHES_MAX;
         fetch_count++) {
        struct fetch *fetch = &fetches[fetch_count];

        *fetch = (struct fetch){.size = FAR_HEAD + (uint32_t)draw_pareto(),
                                .window = 10,
                                .slow_end = UINT32_MAX,
                                .trip_ns = trip_ns};
        if (trip_ns == 0)
            fetch->trip_ns = draw() < 0.5 ? 4000000 : 60000000;
        work += seconds_of(fetch->size);
    }
    for (size_t i = 0; i < fetch_count; i++)
        fetches[i].begin = FAR_S_NS + (uint64_t)(draw() * work / load * 1e9);
    qsort(fetches, fetch_count, sizeof(*fetches), compare_begin);
}

/* --- What comes of it ----------------------------------------------------- */

static double best_ms[FAR_FETCHES_MAX]; /* by ideal SRPT */

/* The same with nothing that stands in a queue, and no slow start. */
static void serve_ideally(void)
{
    static double left[FAR_FETCHES_MAX];
    static size_t here[FAR_FETCHES_MAX];
    size_t count = 0, next = 0;
    double now = 0;

    while (next < fetch_count || count > 0) {
        size_t at = 0;
        double begin = next < fetch_count ? (double)fetches[next].begin / 1e9
                                          : INFINITY;

        if (count == 0 && now < begin)
            now = begin;
        if (begin <= now) {
            left[next] = seconds_of(fetches[next].size);
            here[count++] = next++;
            continue;
        }
        for (size_t i = 1; i < count; i++)
            if (left[here[i]] < left[here[at]])
                at = i;
        if (now + left[here[at]] > begin) {
            left[here[at]] -= begin - now;
            now = begin;
            continue;
        }
        now += left[here[at]];
        best_ms[here[at]] = now * 1e3 -
                            (double)(fetches[here[at]].begin -
                                     2 * fetches[here[at]].trip_ns) /
                                1e6;
        here[at] = here[--count];
    }
}

struct result {
    double mean, best, small, large, used, queue, looks;
};

static int compare_size(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

    return one < other ? -1 : one > other;
}

static uint32_t find_large(void)
{
    static uint32_t sizes[FAR_FETCHES_MAX];

    for (size_t i = 0; i < fetch_count; i++)
        sizes[i] = fetches[i].size;
    qsort(sizes, fetch_count, sizeof(*sizes), compare_size);
    return sizes[fetch_count - 1 - fetch_count / 100];
}

static void add_result(struct result *sum)
{
    uint32_t large_from = find_large();
    size_t small_count = 0, large_count = 0;
    double small = 0, large = 0, wanted_ns = 0;
    uint64_t until = 0;

    for (size_t i = 0; i < fetch_count; i++) {
        const struct fetch *fetch = &fetches[i];
        double ms = (double)(fetch->done - fetch->begin) / 1e6;

        sum->mean += ms / (double)fetch_count;
        sum->best += best_ms[i] / (double)fetch_count;
        small += fetch->size < SMALL ? ms : 0;
        small_count += fetch->size < SMALL;
        large += fetch->size >= large_from ? ms : 0;
        large_count += fetch->size >= large_from;
        if (fetch->done > until) {
            wanted_ns += (double)(fetch->done - (fetch->begin > until
                                                     ? fetch->begin
                                                     : until));
            until = fetch->done;
        }
    }
    sum->small += small / (double)small_count;
    sum->large += large / (double)large_count;
    sum->used += far_path.busy_ns / wanted_ns;
    sum->queue += far_path.queue_ns / far_path.packets / 1e6;
    sum->looks += (double)far_path.looks / (double)fetch_count;
}

static const struct row {
    double mbit, load, trip_ms;
} rows[] = {{80, 0.5, 10}, {80, 0.9, 10},   {80, 1.2, 10}, {80, 0.9, 40},
            {80, 0.9, 0},  {80, 1.5, 0.1},  {8, 0.9, 40},  {400, 0.9, 1},
            {800, 1.5, 1}, {800, 1.5, 0.1}, {800, 1.5, 10}};

static void print_row(const struct row *row, enum link_mode mode,
                      double seconds, unsigned seeds)
{
    struct result sum = {0};

    far_path.rate = row->mbit * 125000;
    for (unsigned i = 1; i <= seeds; i++) {
        draw_seed = UINT64_C(88172645463325252) + i * UINT64_C(829448711);
        for (int k = 0; k < 20; k++)
            (void)draw();
        draw_fetches(row->load, seconds * (row->mbit > 80 ? 0.2 : 1),
                     (uint64_t)(row->trip_ms * 1e6));
        serve_ideally();
        far_serve(fetches, fetch_count, mode);
        add_result(&sum);
    }
    printf("| %g Mbit/s, %g, ", row->mbit, row->load);
    printf(row->trip_ms > 0 ? "%g ms" : "4 and 60 ms", row->trip_ms);
    printf("%s | %.3f | %.2f | %.2f | %.1f | %.1f | %.2f | %.1f |\n",
           mode == LINK_AUTO ? "" : ", known", sum.mean / sum.best,
           sum.mean / seeds, sum.small / seeds, sum.large / seeds,
           sum.used * 100 / seeds, sum.queue / seeds, sum.looks / seeds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 14;
    unsigned seeds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;

    puts("| link, load, round trip | of ideal SRPT | mean, ms | small | "
         "largest 1 % | used, % | queue, ms | looks a reply |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        print_row(&rows[i], LINK_AUTO, seconds, seeds);
    print_row(&rows[1], LINK_RATE, seconds, seeds);
    return EXIT_SUCCESS;
}
