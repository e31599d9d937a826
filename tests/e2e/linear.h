/*
 * linear - whether what several clients were told of one key can be true: each
 * operation happened at one moment between its begin and its end.
 *
 * Operations are tried in all orders that their times allow (Wing and Gong
 * 1993), each as late as it may be: when it ends. What is known by then is a
 * set of states, each of a key and of which of the operations under way have
 * happened in it; every pair of them is kept once (Lowe 2017). Revisions leave
 * few orders, so that the set stays small.
 *
 * Thread: any; no state.
 */
#ifndef E2E_LINEAR_H
#define E2E_LINEAR_H

#include <stddef.h>
#include <stdint.h>

enum { LINEAR_CLIENTS_MAX = 16 };

enum linear_kind { LINEAR_GET, LINEAR_PUT, LINEAR_DELETE };
enum linear_condition { LINEAR_ANY, LINEAR_IF_MISSING, LINEAR_IF_REVISION };

struct linear_op {
    unsigned client; /* which has one operation under way at most */
    enum linear_kind kind;
    enum linear_condition condition;
    uint64_t if_revision;
    uint64_t value; /* that was put, a different one each time, or got */
    /* The answer: 200, 201, 204, 404 or 412, and its ETag, 0 for none. */
    unsigned status;
    uint64_t revision;
    /* Moments, no two of them the same; of the end it is only known that it
     * was not later. */
    uint64_t begin;
    uint64_t end;
};

/* Of operations on one key, which was missing before them. Count: all can be
 * true; else which of them was the first to end that cannot. */
size_t linear_fault(const struct linear_op ops[], size_t count);

#endif
