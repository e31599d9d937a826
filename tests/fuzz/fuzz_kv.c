/*
 * fuzz_kv - what strangers say to a store of keys: a batch, a query, a path.
 *
 * A batch must come to the same whole and in pieces; its operations are sound,
 * or its fault is. What a query or a key is decoded to is never longer than it
 * came. Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "handler/kv/kv_batch.h"
#include "handler/kv/kv_key.h"
#include "http/query.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kv_batch_limits limits = {
    .ops_max = 20, .value_bytes_max = 50, .bytes_max = 4096};

static void check_op(const struct kv_op *op)
{
    CHECK(op->kind == KV_PUT || op->kind == KV_ADD || op->kind == KV_DELETE ||
          op->kind == KV_CHECK);
    CHECK(op->kind == KV_ADD || op->by == 0);
    CHECK(op->kind != KV_ADD || op->value.len == 0);
    CHECK(op->key.len > 0 && op->key.len <= KV_KEY_BYTES_MAX);
    CHECK(!memchr(op->key.data, '\0', op->key.len));
    CHECK(op->value.len <= limits.value_bytes_max);
    CHECK(kv_type_is_valid(op->type));
    CHECK(op->ttl_ms <= KV_TTL_MAX_S * 1000 && op->ttl_ms % 1000 == 0);
    CHECK(op->kind != KV_CHECK || op->condition != KV_IF_ANY);
}

/* In pieces of step bytes, each in memory of its own size. */
static struct kv_batch *read_batch(const uint8_t *data, size_t size,
                                   size_t step, bool *is_good)
{
    struct kv_batch *batch = kv_batch_create(&limits);

    CHECK(batch);
    *is_good = true;
    for (size_t at = 0; at < size && *is_good; at += step) {
        size_t len = size - at < step ? size - at : step;
        char *copy = malloc(len);

        CHECK(copy);
        memcpy(copy, data + at, len);
        *is_good = kv_batch_take(batch, (struct bytes){copy, len});
        free(copy);
    }
    *is_good = *is_good && kv_batch_end(batch);
    return batch;
}

static void check_batch(const uint8_t *data, size_t size)
{
    bool is_good, is_same;
    struct kv_batch *whole = read_batch(data, size, size + 1, &is_good);
    struct kv_batch *pieces = read_batch(data, size, 7, &is_same);
    const struct kv_batch_fault *fault = kv_batch_fault(whole);
    size_t count, other;
    const struct kv_op *ops = kv_batch_ops(whole, &count);
    const struct kv_op *others = kv_batch_ops(pieces, &other);

    CHECK(is_good == is_same);
    CHECK(is_good == !fault->text);
    if (is_good)
        CHECK(count == other && count > 0 && count <= limits.ops_max);
    else
        CHECK(fault->status == 400 || fault->status == 413);
    for (size_t i = 0; i < count; i++) {
        check_op(&ops[i]);
        CHECK(!is_good ||
              (bytes_eq(ops[i].key, others[i].key) &&
               bytes_eq(ops[i].value, others[i].value) &&
               ops[i].if_revision == others[i].if_revision &&
               kv_batch_line(whole, i) == kv_batch_line(pieces, i)));
    }
    kv_batch_destroy(whole);
    kv_batch_destroy(pieces);
}

static void check_query(const uint8_t *data, size_t size)
{
    struct query_parameter asked[] = {{.name = BYTES("prefix")},
                                      {.name = BYTES("limit")}};
    struct bytes raw = {(const char *)data, size}, name;
    char *out = malloc(size + 1);
    uint64_t number;
    size_t len = 0;

    CHECK(out);
    if (query_read(raw, out + 1, asked, 2, &name) == QUERY_DONE) {
        for (size_t i = 0; i < 2; i++) {
            CHECK(!asked[i].value.data ||
                  !memchr(asked[i].value.data, '\0', asked[i].value.len));
            len += asked[i].value.len;
        }
        CHECK(len <= size);
        if (query_number(asked[1].value, 1000, &number))
            CHECK(number <= 1000);
    }
    free(out);
}

static void check_key(const uint8_t *data, size_t size)
{
    char room[KV_KEY_BYTES_MAX];
    struct bytes key;

    if (kv_key_read((struct bytes){(const char *)data, size}, BYTES("/kv"),
                    room, &key) == KV_KEY_ONE)
        CHECK(key.len > 0 && key.len <= KV_KEY_BYTES_MAX && key.data == room &&
              !memchr(room, '\0', key.len));
    else
        CHECK(key.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_batch(data, size);
    check_query(data, size);
    check_key(data, size);
    return 0;
}
