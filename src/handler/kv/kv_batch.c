#include <errno.h>
#include <stdlib.h>

#include "handler/kv/kv_batch_priv.h"

/* --- Lines --------------------------------------------------------------- */

static bool add_op(struct kv_batch *batch, const struct kv_op *op)
{
    struct kv_op *ops;
    size_t *lines;

    ops = arena_grow(&batch->arena, batch->ops, batch->count, sizeof(*ops));
    if (!ops)
        return kv_batch_fail_memory(batch);
    batch->ops = ops;
    lines = arena_grow(&batch->arena, batch->lines, batch->count,
                       sizeof(*lines));
    if (!lines)
        return kv_batch_fail_memory(batch);
    batch->lines = lines;
    ops[batch->count] = *op;
    lines[batch->count++] = batch->line_number;
    return true;
}

static bool read_op(struct kv_batch *batch, const struct json_value *line)
{
    struct kv_op op;

    if (line->kind != JSON_OBJECT)
        return kv_batch_fail(batch, 400, "a line is an object");
    if (batch->count == batch->limits.ops_max)
        return kv_batch_fail(batch, 413, "there are too many operations");
    return kv_batch_read_op(batch, line, &op) && add_op(batch, &op);
}

static bool is_blank(struct bytes line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r')
            return false;
    return true;
}

static bool read_line(struct kv_batch *batch, struct bytes line)
{
    struct json_reader json;
    bool is_good;

    if (is_blank(line))
        return true;
    switch (json_read_few(&json, line, KV_BATCH_VALUES_MAX)) {
    case 0:
        is_good = read_op(batch, json.values);
        break;
    case -ENOMEM:
        is_good = kv_batch_fail_memory(batch);
        break;
    default:
        is_good = kv_batch_fail(batch, 400, "the line is no JSON in UTF-8");
        break;
    }
    json_fini(&json);
    return is_good;
}

/* Keeps a piece of a line until the next piece completes the line. */
static bool keep_line(struct kv_batch *batch, struct bytes text)
{
    buf_put(&batch->line, text);
    return batch->line.failed ? kv_batch_fail_memory(batch) : true;
}

bool kv_batch_take(struct kv_batch *batch, struct bytes text)
{
    if (batch->fault.text)
        return false;
    if (text.len > batch->limits.bytes_max - batch->bytes)
        return kv_batch_fail(batch, 413, "the batch is too long");
    batch->bytes += text.len;
    while (text.len > 0) {
        const char *end = text.data + text.len;
        const char *newline = memchr(text.data, '\n', text.len);
        struct bytes line;

        if (!newline)
            return keep_line(batch, text);
        line = bytes_between(text.data, newline);
        text = bytes_between(newline + 1, end);
        if (batch->line.len > 0) {
            if (!keep_line(batch, line))
                return false;
            line = buf_bytes(&batch->line);
        }
        batch->line.len = 0;
        if (!read_line(batch, line))
            return false;
        batch->line_number++;
    }
    return true;
}

bool kv_batch_end(struct kv_batch *batch)
{
    if (batch->fault.text || !read_line(batch, buf_bytes(&batch->line)))
        return false;
    buf_fini(&batch->line);
    if (batch->count > 0)
        return true;
    batch->line_number = 0;
    return kv_batch_fail(batch, 400, "there is no operation");
}

/* --- Asking -------------------------------------------------------------- */

struct kv_op *kv_batch_ops(struct kv_batch *batch, size_t *count_out)
{
    *count_out = batch->count;
    return batch->ops;
}

size_t kv_batch_line(const struct kv_batch *batch, size_t at)
{
    return batch->lines[at];
}

struct kv_batch *kv_batch_create(const struct kv_batch_limits *limits)
{
    struct kv_batch *batch = calloc(1, sizeof(*batch));

    if (!batch)
        return NULL;
    batch->limits = *limits;
    batch->line_number = 1;
    buf_init(&batch->line, NULL, 0, limits->bytes_max);
    return batch;
}

void kv_batch_destroy(struct kv_batch *batch)
{
    if (!batch)
        return;
    buf_fini(&batch->line);
    arena_fini(&batch->arena);
    free(batch);
}
