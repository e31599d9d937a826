#include "unit/engine/sched_fixture.h"

#include "suite.h"

struct sched sched;
struct sched_item items[ITEMS];

int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        items[i] = (struct sched_item){0};
    sched_init(&sched, SCHED_POLICY_SRPT, (struct sched_bounds){0});
    return sched_reserve(&sched, ITEMS);
}

int tear_down(void **state)
{
    (void)state;
    sched_fini(&sched);
    return 0;
}

void use(enum sched_policy policy, uint64_t bound)
{
    for (int i = 0; i < ITEMS; i++)
        sched_drop(&sched, &items[i]);
    sched_fini(&sched);
    sched_init(&sched, policy, (struct sched_bounds){.bytes = bound});
    assert_int_equal(sched_reserve(&sched, ITEMS), 0);
}

void arrive(int number, uint64_t bytes_left)
{
    sched_arrive(&sched, &items[number], 1, bytes_left, false);
    sched_put(&sched, &items[number], bytes_left);
}

int take(void)
{
    const struct sched_item *item = sched_take(&sched);

    return item ? (int)(item - items) : -1;
}

void assert_order(const int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(take(), numbers[i]);
    assert_int_equal(take(), -1);
}

bool goes_first(int number, uint64_t bytes_left)
{
    return sched_goes_first(&sched, &items[number], bytes_left);
}
