#include "handler/kv/kv_priv.h"

static void refuse_parameter(struct kv *kv, struct exchange *exchange,
                             enum query_verdict verdict, struct bytes name)
{
    static const char *const faults[] = {
        [QUERY_UNKNOWN] = "nobody knows this parameter",
        [QUERY_TWICE] = "this parameter comes twice",
        [QUERY_MALFORMED] = "this has NUL, or a broken escape"};
    struct problem problem = {.status = 400,
                              .detail = bytes_of(faults[verdict])};

    problem.members[0].name = "parameter";
    problem.members[0].text = name.data ? name : BYTES("");
    kv_fail_with(kv, exchange, &problem);
}

bool kv_read_query(struct kv *kv, struct exchange *exchange,
                   struct query_parameter *parameters, size_t count)
{
    struct bytes raw = exchange->request.query;
    enum query_verdict verdict;
    struct bytes name;

    if (raw.len > sizeof(kv->query)) {
        kv_fail(kv, exchange, 400, "the query is too long");
        return false;
    }
    verdict = query_read(raw, kv->query, parameters, count, &name);
    if (verdict != QUERY_DONE)
        refuse_parameter(kv, exchange, verdict, name);
    return verdict == QUERY_DONE;
}

bool kv_find_single(const struct request *request, struct bytes name,
                    struct bytes *value_out)
{
    *value_out = (struct bytes){NULL, 0};
    for (size_t i = 0; i < request->field_count; i++) {
        if (!bytes_ieq(request->fields[i].name, name))
            continue;
        if (value_out->data)
            return false;
        *value_out = request->fields[i].value;
    }
    return true;
}

bool kv_read_flag(struct bytes value, bool *is_set_out)
{
    *is_set_out = bytes_eq(value, BYTES("1"));
    return !value.data || *is_set_out || bytes_eq(value, BYTES("0"));
}
