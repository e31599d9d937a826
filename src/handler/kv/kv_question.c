#include "handler/kv/kv_priv.h"

void kv_question_init(struct kv_question *question, struct kv *kv,
                      struct exchange *exchange,
                      void (*destroy)(struct kv_question *question))
{
    *question = (struct kv_question){
        .kv = kv, .exchange = exchange, .refs = 1, .destroy = destroy};
    list_init(&question->list_node);
}

void kv_question_release(struct kv_question *question)
{
    if (--question->refs == 0)
        question->destroy(question);
}

void kv_question_ask(struct kv_question *question)
{
    question->refs++;
    list_put_last(&question->kv->asked, &question->list_node);
}

void kv_question_done(struct kv_question *question)
{
    list_drop(&question->list_node);
    question->is_done = true;
    if (question->refs > 1)
        exchange_wake(question->exchange);
    kv_question_release(question);
}
