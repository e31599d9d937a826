#include <stdlib.h>

#include "engine/conn_set.h"
#include "http/exchange.h"

enum {
    INPUTS_KEPT = 64, /* free ones beyond that go back to the system */
    EXCHANGES_KEPT = 128
};

struct input *input_take(struct conn_set *set)
{
    struct input *input = set->inputs;

    if (input) {
        set->inputs = input->next;
        set->input_count--;
    } else {
        input = malloc(sizeof(*input));
        if (!input)
            return NULL;
    }
    input->begin = input->end = 0;
    return input;
}

void input_give(struct conn_set *set, struct input **input_ref)
{
    struct input *input = *input_ref;

    *input_ref = NULL;
    if (!input)
        return;
    if (set->input_count == INPUTS_KEPT) {
        free(input);
        return;
    }
    input->next = set->inputs;
    set->inputs = input;
    set->input_count++;
}

struct exchange *exchange_take(struct conn_set *set)
{
    struct exchange *exchange;

    if (list_is_empty(&set->exchanges)) {
        exchange = malloc(sizeof(*exchange));
        if (!exchange)
            return NULL;
        list_init(&exchange->link);
    } else {
        exchange = OWNER_OF(set->exchanges.next, struct exchange, link);
        list_drop(&exchange->link);
        set->exchange_count--;
    }
    exchange->request.many = set->fields;
    return exchange;
}

static struct field *make_fields(void)
{
    return malloc(REQUEST_FIELDS_MAX * sizeof(struct field));
}

bool exchange_keep_fields(struct conn_set *set, struct exchange *exchange)
{
    struct field *fields;

    if (exchange->request.fields != set->fields) {
        exchange->request.many = NULL;
        return true;
    }
    fields = make_fields();
    if (fields)
        set->fields = fields; /* and those before are the exchange's now */
    return fields;
}

size_t exchange_bytes(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct buf *head = &exchange->response.head;

    return sizeof(*exchange) +
           (request->fields == request->few
                ? 0
                : REQUEST_FIELDS_MAX * sizeof(struct field)) +
           (head->data == head->storage ? 0 : head->capacity);
}

void exchange_give(struct conn_set *set, struct exchange *exchange)
{
    if (exchange->request.many != set->fields)
        free(exchange->request.many);
    if (set->exchange_count == EXCHANGES_KEPT) {
        free(exchange);
        return;
    }
    list_put_first(&set->exchanges, &exchange->link);
    set->exchange_count++;
}

bool conn_pools_init(struct conn_set *set)
{
    set->inputs = NULL;
    set->input_count = set->exchange_count = 0;
    list_init(&set->exchanges);
    set->fields = make_fields();
    return set->fields;
}

void conn_pools_fini(struct conn_set *set)
{
    while (set->inputs) {
        struct input *next = set->inputs->next;

        free(set->inputs);
        set->inputs = next;
    }
    while (!list_is_empty(&set->exchanges)) {
        struct exchange *exchange = OWNER_OF(set->exchanges.next,
                                             struct exchange, link);

        list_drop(&exchange->link);
        free(exchange);
    }
    free(set->fields);
}
