/*
 * later_fixture - handlers whose answers come later, when a test gives them:
 * /later has its head at once and its body by and by, /late has nothing before
 * it is over.
 */
#ifndef UNIT_ENGINE_LATER_FIXTURE_H
#define UNIT_ENGINE_LATER_FIXTURE_H

#include "unit/engine/conn_fixture.h"

extern struct later {
    struct bytes given;  /* to the next that asks */
    bool is_over;        /* nothing more will be given */
    uint64_t announced;  /* bytes of it; 0: unknown */
    bool ends_by_drain;  /* when the set drains, it is over too */
    bool is_relayed;     /* what is late is another server's, without end */
    bool is_sure;        /* what is late comes in any case */
    const char *interim; /* fields of a 103 to whoever looks next */
    struct bytes body;   /* of what is late; empty: the answer is a 404 */
    unsigned fills;
    unsigned looks;
    unsigned open_sources;
} later;

#define LATER_SUITE \
    SUITE(.each_begin = later_set_up, .each_end = later_tear_down)

int later_set_up(void **state);
int later_tear_down(void **state);

/* Gives a text and wakes; what has come then. */
const char *later_give(struct client *client, const char *text);

/* Asks for /later, and takes the head. */
void later_begin(struct client *client);

/* So many requests were counted, of which so many have a time. */
void later_expect_counted(uint64_t requests, uint64_t timed);

#endif
