/* sprintd's own orders: engine/sched.c, the real thing. */
#include <stdlib.h>

#include "order.h"

uint64_t order_rate = 10000000;

static struct sched sched;

static void begin_sched(enum sched_policy policy, uint64_t bound,
                        uint64_t factor)
{
    static bool is_set;

    if (is_set)
        sched_fini(&sched);
    is_set = true;
    sched_init(&sched, policy, (struct sched_bounds){bound, factor});
    if (sched_reserve(&sched, ORDER_WAITING_MAX) != 0)
        exit(1);
    client_share_set_rate(&sched.clients, order_rate);
}

#define BEGIN(name, ...)             \
    static void name(size_t clients) \
    {                                \
        (void)clients;               \
        begin_sched(__VA_ARGS__);    \
    }
BEGIN(begin_srpt, SCHED_POLICY_SRPT, 0, 0)
BEGIN(begin_bytes, SCHED_POLICY_SRPT, 256, 0)
BEGIN(begin_time, SCHED_POLICY_SRPT, 0, 2)
BEGIN(begin_both, SCHED_POLICY_SRPT, 8192, 2)
BEGIN(begin_three, SCHED_POLICY_SRPT, 8192, 3)
BEGIN(begin_four, SCHED_POLICY_SRPT, 8192, 4)
BEGIN(begin_eight, SCHED_POLICY_SRPT, 8192, 8)
BEGIN(begin_fsp, SCHED_POLICY_FSP, 0, 0)
BEGIN(begin_fair, SCHED_POLICY_FAIR, 0, 0)

static void sched_arrives(struct reply *reply)
{
    sched_arrive(&sched, &reply->item, reply->client + 1, reply->size, false);
    sched_put(&sched, &reply->item, reply->size);
}

static struct reply *sched_picks(void)
{
    struct sched_item *item = sched_take(&sched);

    return item ? OWNER_OF(item, struct reply, item) : NULL;
}

static void sched_has_sent(struct reply *reply, uint64_t bytes)
{
    sched_sent(&sched, &reply->item, bytes);
    reply->left -= bytes;
    if (reply->left > 0)
        sched_put(&sched, &reply->item, reply->left);
}

#define OWN(text, begin)                                              \
    {                                                                 \
        text, begin, sched_arrives, sched_picks, sched_has_sent, NULL \
    }
const struct order order_own[] = {OWN("srpt without a bound", begin_srpt),
                                  OWN("srpt, K = 256", begin_bytes),
                                  OWN("srpt, factor 2", begin_time),
                                  OWN("**srpt, factor 2, K = 8192**",
                                      begin_both),
                                  OWN("srpt, factor 3, K = 8192", begin_three),
                                  OWN("srpt, factor 4, K = 8192", begin_four),
                                  OWN("srpt, factor 8, K = 8192", begin_eight),
                                  OWN("fsp", begin_fsp),
                                  OWN("fair", begin_fair)};
const size_t order_own_count = sizeof(order_own) / sizeof(*order_own);
