/*
 * priority - what a client says of the order of its responses (RFC 9218).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_PRIORITY_H
#define HTTP_PRIORITY_H

#include <stdint.h>

#include "base/bytes.h"

enum { PRIORITY_URGENCY_MAX = 7, PRIORITY_URGENCY_DEFAULT = 3 };

struct priority {
    uint8_t urgency; /* 0 is the most urgent, 7 the least */
    bool is_incremental;
};

/* What was said of a priority, perhaps only a part; all zero when nothing was
 * said. */
struct priority_said {
    bool has_urgency;
    bool has_turns;
    uint8_t urgency;
    bool is_incremental;
};

#define PRIORITY_DEFAULT \
    ((struct priority){.urgency = PRIORITY_URGENCY_DEFAULT})

/* Takes over what a value of Priority says; the rest of *priority stays. A text
 * that is no dictionary of structured fields says nothing (RFC 9218 4), and
 * neither does a parameter of another type or outside of its range. */
void priority_read(struct priority *priority, struct bytes text);

#endif
