#include "acme/acme_poll.h"

#include <time.h>

#include "base/now.h"
#include "base/units.h"

enum { PAUSE_MAX_MS = 10000, ASKED_MAX_S = 60 };

struct acme_poll acme_poll_begin(void)
{
    return (struct acme_poll){
        .end_ns = now_read_ns() + (uint64_t)ACME_POLL_S * MS_PER_S * NS_PER_MS,
        .pause_ms = ACME_POLL_MS};
}

bool acme_poll_wait(struct acme_poll *poll, int64_t asked_s)
{
    int64_t pause_ms = poll->pause_ms;

    if (asked_s > 0)
        pause_ms = (asked_s < ASKED_MAX_S ? asked_s : ASKED_MAX_S) *
                   (int64_t)MS_PER_S;
    poll->pause_ms = poll->pause_ms * 3 / 2 < PAUSE_MAX_MS
                         ? poll->pause_ms * 3 / 2
                         : PAUSE_MAX_MS;
    if (now_read_ns() + (uint64_t)pause_ms * NS_PER_MS > poll->end_ns)
        return false;
    nanosleep(&(struct timespec){.tv_sec = pause_ms / MS_PER_S,
                                 .tv_nsec = (long)(pause_ms % MS_PER_S) *
                                            (long)NS_PER_MS},
              NULL);
    return true;
}
