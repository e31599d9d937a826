#include "unit/await.h"

#include "suite.h"

void await_fail(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("the loop has waited for %d s", PATIENCE_S);
}
