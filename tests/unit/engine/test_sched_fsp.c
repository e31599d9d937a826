#include "suite.h"
#include "unit/draw.h"
#include "unit/engine/sched_fixture.h"

/* --- fsp ----------------------------------------------------------------- */

TEST(fsp_goes_by_the_finish_under_fair_sharing)
{
    struct fair_share share;
    uint64_t finish[ITEMS] = {0};

    draw_seed = 2004;
    use(SCHED_POLICY_FSP, 0);
    fair_share_init(&share);
    assert_int_equal(fair_share_reserve(&share, 10000), 0);
    for (int step = 0; step < 5000; step++) {
        int at = (int)draw(ITEMS);

        if (finish[at] == 0) {
            uint64_t bytes = 1 + draw(1u << draw(17));

            finish[at] = fair_share_arrive(&share, bytes);
            arrive(at, bytes);
            assert_true(sched_key(&sched, &items[at], 1) == finish[at]);
        } else if (draw(3) == 0) {
            uint64_t sent = draw(20000);
            int first = take();

            for (int i = 0; i < ITEMS; i++)
                assert_true(finish[i] == 0 || finish[first] <= finish[i]);
            finish[first] = 0;
            sched_forget(&sched, sent);
            fair_share_advance(&share, sent);
        }
    }
    fair_share_fini(&share);
}

/* The same responses under processor sharing: what each still has to get. */
static struct {
    double left;
    double end; /* on the clock of bytes sent; 0: not yet */
} shared_jobs[ITEMS];

/* What each still has to get here. */
static uint64_t left[ITEMS];

static void share_evenly(double from, double bytes)
{
    while (bytes > 1e-9) {
        int count = 0;
        double each = 0;

        for (int i = 0; i < ITEMS; i++) {
            if (shared_jobs[i].left <= 0)
                continue;
            if (count++ == 0 || shared_jobs[i].left < each)
                each = shared_jobs[i].left;
        }
        if (count == 0)
            return;
        if (each > bytes / count)
            each = bytes / count;
        from += each * count;
        bytes -= each * count;
        for (int i = 0; i < ITEMS; i++) {
            if (shared_jobs[i].left <= 0)
                continue;
            shared_jobs[i].left -= each;
            if (shared_jobs[i].left < 1e-7) {
                shared_jobs[i].left = 0;
                shared_jobs[i].end = from;
            }
        }
    }
}

/* One quantum here and as many bytes there. A response that ended there must
 * have ended here, but for a quantum. */
static void serve_and_share(double *clock, uint64_t quantum)
{
    int at = take();
    uint64_t sent;

    if (at < 0)
        return;
    sent = left[at] < quantum ? left[at] : quantum;
    left[at] -= sent;
    sched_forget(&sched, sent);
    share_evenly(*clock, (double)sent);
    *clock += (double)sent;
    if (left[at] > 0)
        sched_put(&sched, &items[at], left[at]);
    for (int i = 0; i < ITEMS; i++)
        if (left[i] > 0 && shared_jobs[i].end > 0)
            assert_true(*clock <= shared_jobs[i].end + (double)quantum);
}

TEST(fsp_ends_none_later_than_fair_sharing_would)
{
    draw_seed = 2005;
    for (int run = 0; run < 30; run++) {
        uint64_t quantum = 1 + draw(3000);
        double clock = 0;
        unsigned busy = 2 + draw(40); /* from idling to always crowded */

        use(SCHED_POLICY_FSP, 0);
        memset(left, 0, sizeof(left));
        memset(shared_jobs, 0, sizeof(shared_jobs));
        for (int step = 0; step < 5000; step++) {
            int at = (int)draw(ITEMS);

            if (draw(busy) > 1) {
                serve_and_share(&clock, quantum);
            } else if (left[at] == 0 && shared_jobs[at].left <= 0) {
                left[at] = 1 + draw(1u << draw(17));
                shared_jobs[at].left = (double)left[at];
                shared_jobs[at].end = 0;
                arrive(at, left[at]);
            }
        }
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
