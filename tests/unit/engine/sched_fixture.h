/*
 * sched_fixture - a scheduler with some items, all of one client.
 */
#ifndef UNIT_ENGINE_SCHED_FIXTURE_H
#define UNIT_ENGINE_SCHED_FIXTURE_H

#include "engine/sched.h"

enum { ITEMS = 40 };

extern struct sched sched;
extern struct sched_item items[ITEMS];

/* Before and behind each test. */
int set_up(void **state);
int tear_down(void **state);

/* Another policy, under which nothing waits. */
void use(enum sched_policy policy, uint64_t bound);

/* A new response of so many bytes waits. */
void arrive(int number, uint64_t bytes_left);

/* Whose turn it is; -1: nothing waits. */
int take(void);

/* These have their turn in this order, and nothing else waits. */
void assert_order(const int *numbers, int count);

bool goes_first(int number, uint64_t bytes_left);

#endif
