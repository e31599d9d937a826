#include "process/short_runs.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RUN_NS = 100000 }; /* the kernel's minimum */

/* The argument of sched_setattr(2): struct sched_attr of linux/sched/types.h,
 * which conflicts with glibc's headers. */
struct sched_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

static void set(uint32_t policy, uint64_t runtime_ns)
{
    const struct sched_attributes attributes = {
        .size = sizeof(attributes),
        .policy = policy,
        .nice = getpriority(PRIO_PROCESS, 0),
        .runtime_ns = runtime_ns};

    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void short_runs_ask(void)
{
    set(SCHED_OTHER, RUN_NS);
}

void short_runs_give_up(void)
{
    set(SCHED_BATCH, 0); /* 0: slices like those of other threads */
}
