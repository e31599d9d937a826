#include <stdlib.h>

#include "kv/redis/kv_redis_priv.h"

static void destroy_asking(struct kv_redis_question *question)
{
    list_drop(&question->list_node);
    free(OWNER_OF(question, struct kv_redis_asking, question));
}

/* Takes an unused asking, or makes one. The number of askings is bounded by the
 * number of calls that may be under way. */
struct kv_redis_asking *kv_redis_take_asking(struct kv_redis_client *client)
{
    struct kv_redis_asking *asking;

    if (list_is_empty(&client->spare)) {
        asking = calloc(1, sizeof(*asking));
        if (!asking)
            return NULL;
    } else {
        asking = OWNER_OF(client->spare.next, struct kv_redis_asking,
                          question.list_node);
        list_drop(&asking->question.list_node);
        *asking = (struct kv_redis_asking){0};
    }
    asking->question.destroy = destroy_asking;
    asking->call.client = client;
    list_put_last(&client->questions, &asking->question.list_node);
    return asking;
}

void kv_redis_put_asking(struct kv_redis_asking *asking)
{
    list_drop(&asking->question.list_node);
    list_put_first(&asking->call.client->spare, &asking->question.list_node);
}
