#include "files/compressor_share_priv.h"

#include "base/units.h"

enum { LOOK_NS = COMPRESSOR_SHARE_LOOK_MS * 1000000 };
static const int64_t saved_ns = (int64_t)COMPRESSOR_SHARE_SAVED_MS * 1000000;
static const uint64_t old_ns = (uint64_t)COMPRESSOR_SHARE_OLD_MS * 1000000;

/* Measures the processor time that all other threads have used since the last
 * look. Looks are made only while a slow order waits, so the last one may be
 * old. Then the average since that look says little of the present, and the
 * process does not count as idle. */
void compressor_share_look(struct compressor_share *share, uint64_t now_ns,
                           uint64_t others_ns)
{
    uint64_t elapsed = now_ns - share->looked_ns;
    uint64_t used = others_ns > share->others_ns ? others_ns - share->others_ns
                                                 : 0;

    if (elapsed < LOOK_NS)
        return;
    share->looked_ns = now_ns;
    share->others_ns = others_ns;
    share->is_idle = elapsed < old_ns &&
                     used < elapsed / COMPRESSOR_SHARE_IDLE_PART;
    share->left_ns += (int64_t)(used / COMPRESSOR_SHARE_BUSY_PART);
    if (share->left_ns > saved_ns)
        share->left_ns = saved_ns;
}

/* While requests come, only one slow order is made at a time. With several, it
 * would be noticed too late that they take too much time together. */
bool compressor_share_begin(struct compressor_share *share, bool *counts_out)
{
    *counts_out = !share->is_idle;
    if (share->is_idle)
        return true;
    if (share->running > 0 || share->left_ns <= 0)
        return false;
    share->running++;
    return true;
}

void compressor_share_end(struct compressor_share *share, uint64_t used_ns)
{
    share->running--;
    share->left_ns -= (int64_t)used_ns;
}
