#include "kv/kv_gather_priv.h"

enum { SKIPS_MAX = 16 };

/* The longest wait, 20 ms. A commit that took longer met a stuck disk, and says
 * nothing about the next commit. */
#define PATIENCE_NS_MAX UINT64_C(20000000)

/* Returns how long the writer waits: three quarters of a commit's time. With 64
 * connections, most have written again by then; after half of a commit's time,
 * one in four has not. */
static uint64_t patience_ns(uint64_t commit_ns)
{
    uint64_t patience = commit_ns - commit_ns / 4;

    return patience < PATIENCE_NS_MAX ? patience : PATIENCE_NS_MAX;
}

void kv_gather_note_commit(struct kv_gather *gather, size_t answered,
                           size_t others, uint64_t began_ns, uint64_t ended_ns)
{
    gather->wanted = answered + others;
    gather->until_ns = ended_ns + patience_ns(ended_ns - began_ns);
    if (gather->wanted > 1 && gather->skips_left > 0) {
        gather->skips_left--;
        gather->wanted = 1;
    }
}

void kv_gather_note_wait(struct kv_gather *gather, bool is_complete)
{
    if (is_complete)
        gather->skips = 0;
    else if (gather->skips < SKIPS_MAX)
        gather->skips = gather->skips > 0 ? 2 * gather->skips : 1;
    gather->skips_left = gather->skips;
}
