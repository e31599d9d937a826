#include "kv/kv_record.h"

#include <endian.h>

enum {
    VERSION = 1,
    TYPE_BYTES_AT = 1,
    ZEROS_AT = 2,
    REVISION_AT = 8,
    STORED_AT = 16,
    EXPIRES_AT = 24
};

void kv_number_write(uint64_t number, char out[KV_NUMBER_BYTES])
{
    number = htobe64(number);
    memcpy(out, &number, KV_NUMBER_BYTES);
}

uint64_t kv_number_read(const char in[KV_NUMBER_BYTES])
{
    uint64_t number;

    memcpy(&number, in, KV_NUMBER_BYTES);
    return be64toh(number);
}

void kv_record_write(const struct kv_record *record, char *out)
{
    memset(out, 0, REVISION_AT);
    out[0] = VERSION;
    out[TYPE_BYTES_AT] = (char)(unsigned char)record->type.len;
    kv_number_write(record->meta.revision, out + REVISION_AT);
    kv_number_write((uint64_t)record->meta.stored_ms, out + STORED_AT);
    kv_number_write((uint64_t)record->meta.expires_ms, out + EXPIRES_AT);
    out += KV_RECORD_HEAD_BYTES;
    if (record->type.len > 0)
        memcpy(out, record->type.data, record->type.len);
    if (record->value.len > 0)
        memcpy(out + record->type.len, record->value.data, record->value.len);
}

bool kv_record_read(struct kv_record *record, struct bytes stored)
{
    static const char zeros[REVISION_AT - ZEROS_AT];
    const char *head = stored.data;
    size_t type_bytes;

    if (stored.len < KV_RECORD_HEAD_BYTES || head[0] != VERSION ||
        memcmp(head + ZEROS_AT, zeros, sizeof(zeros)) != 0)
        return false;
    type_bytes = (unsigned char)head[TYPE_BYTES_AT];
    if (stored.len - KV_RECORD_HEAD_BYTES < type_bytes)
        return false;
    record->meta.revision = kv_number_read(head + REVISION_AT);
    record->meta.stored_ms = (int64_t)kv_number_read(head + STORED_AT);
    record->meta.expires_ms = (int64_t)kv_number_read(head + EXPIRES_AT);
    record->type = (struct bytes){head + KV_RECORD_HEAD_BYTES, type_bytes};
    record->value = (struct bytes){record->type.data + type_bytes,
                                   stored.len - KV_RECORD_HEAD_BYTES -
                                       type_bytes};
    return record->meta.revision != 0 && record->meta.expires_ms >= 0 &&
           record->value.len <= KV_VALUE_BYTES_MAX &&
           kv_type_is_valid(record->type);
}
