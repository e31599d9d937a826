#include "process/short_runs.h"

#include <sched.h>
#include <sys/resource.h>

#include "suite.h"

TEST(who_asks_is_scheduled_as_before_and_with_its_own_nice)
{
    int nice_before;

    assert_int_equal(setpriority(PRIO_PROCESS, 0, 3), 0);
    nice_before = getpriority(PRIO_PROCESS, 0);
    short_runs_ask();
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
    short_runs_ask(); /* twice is as good as once */
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
}

TEST(who_gives_up_lets_others_have_their_turn_until_it_asks_again)
{
    int nice_before = getpriority(PRIO_PROCESS, 0);

    short_runs_give_up();
    assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
    short_runs_ask();
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
}
