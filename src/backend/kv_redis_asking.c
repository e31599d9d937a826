#include <stdlib.h>

#include "backend/kv_redis_priv.h"

static void destroy_asking(struct kv_redis_question *question)
{
    list_drop(&question->link);
    free(OWNER_OF(question, struct kv_redis_asking, question));
}

/* There are never more than may be under way; what was made is kept. */
struct kv_redis_asking *kv_redis_take_asking(struct kv_redis_desk *desk)
{
    struct kv_redis_asking *asking;

    if (list_is_empty(&desk->spare)) {
        asking = calloc(1, sizeof(*asking));
        if (!asking)
            return NULL;
    } else {
        asking = OWNER_OF(desk->spare.next, struct kv_redis_asking,
                          question.link);
        list_drop(&asking->question.link);
        *asking = (struct kv_redis_asking){0};
    }
    asking->question.destroy = destroy_asking;
    asking->call.desk = desk;
    list_put_last(&desk->questions, &asking->question.link);
    return asking;
}

void kv_redis_put_asking(struct kv_redis_asking *asking)
{
    list_drop(&asking->question.link);
    list_put_first(&asking->call.desk->spare, &asking->question.link);
}
