#include "handler/kv/kv_batch_priv.h"

bool kv_batch_fail(struct kv_batch *batch, unsigned status, const char *text)
{
    batch->fault = (struct kv_batch_fault){
        .status = status, .line = batch->line_number, .text = text};
    return false;
}

bool kv_batch_fail_member(struct kv_batch *batch, struct bytes name,
                          const char *text)
{
    struct kv_batch_fault *fault = &batch->fault;

    kv_batch_fail(batch, 400, text);
    fault->member_len = name.len < sizeof(fault->member)
                            ? name.len
                            : sizeof(fault->member);
    if (fault->member_len > 0)
        memcpy(fault->member, name.data, fault->member_len);
    return false;
}

bool kv_batch_fail_memory(struct kv_batch *batch)
{
    return kv_batch_fail(batch, 503, "there is no memory for it");
}

const struct kv_batch_fault *kv_batch_fault(const struct kv_batch *batch)
{
    return &batch->fault;
}
