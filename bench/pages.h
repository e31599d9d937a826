/*
 * pages - orders for visitors who load pages, beside those of order.h.
 *
 * Thread: one.
 */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include "order.h"

extern const struct order pages_candidates[];
extern const size_t pages_candidate_count;

#endif
