/*
 * client_marks - tells other workers which clients wait at a worker. Each of
 * CLIENT_MARKS marks has one bit; the mark of a client is computed from its
 * name.
 *
 * Several clients may share a mark: then all of them seem to wait where one of
 * them does. When most bits are set, every client seems to wait everywhere, and
 * all are treated alike.
 *
 * Thread: one scheduler's; other workers read a copy of the marks (link.h).
 */
#ifndef ENGINE_CLIENT_MARKS_H
#define ENGINE_CLIENT_MARKS_H

#include <stdint.h>

enum {
    CLIENT_MARKS_BITS = 9,
    CLIENT_MARKS = 1 << CLIENT_MARKS_BITS,
    CLIENT_MARKS_WORDS = CLIENT_MARKS / 64
};

struct client_marks {
    uint64_t words[CLIENT_MARKS_WORDS];
    uint32_t counts[CLIENT_MARKS]; /* how many clients of each mark wait */
};

static inline uint32_t client_mark(uint64_t client)
{
    return (uint32_t)((client * UINT64_C(0x9e3779b97f4a7c15)) >>
                      (64 - CLIENT_MARKS_BITS));
}

static inline void client_marks_put(struct client_marks *marks, uint64_t client)
{
    uint32_t at = client_mark(client);

    if (marks->counts[at]++ == 0)
        marks->words[at / 64] |= UINT64_C(1) << at % 64;
}

static inline void client_marks_drop(struct client_marks *marks,
                                     uint64_t client)
{
    uint32_t at = client_mark(client);

    if (--marks->counts[at] == 0)
        marks->words[at / 64] &= ~(UINT64_C(1) << at % 64);
}

#endif
