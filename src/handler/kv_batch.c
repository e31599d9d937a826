#include "handler/kv_batch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/json_read.h"
#include "http/query.h"

struct kv_batch {
    struct kv_batch_limits limits;
    struct buf line; /* the beginning of one */
    size_t line_number;
    size_t bytes; /* that have come */
    struct arena arena;
    struct kv_op *ops; /* in the arena, ... */
    size_t *lines;     /* ... and so are these */
    size_t count;
    struct kv_batch_fault fault;
};

/* --- Faults ----------------------------------------------------------------- */

static bool fail(struct kv_batch *batch, unsigned status, const char *text)
{
    batch->fault = (struct kv_batch_fault){
        .status = status, .line = batch->line_number, .text = text};
    return false;
}

/* Of a member of the line. */
static bool fail_member(struct kv_batch *batch, struct bytes name,
                        const char *text)
{
    struct kv_batch_fault *fault = &batch->fault;

    fail(batch, 400, text);
    fault->member_len = name.len < sizeof(fault->member)
                            ? name.len
                            : sizeof(fault->member);
    if (fault->member_len > 0)
        memcpy(fault->member, name.data, fault->member_len);
    return false;
}

static bool fail_memory(struct kv_batch *batch)
{
    return fail(batch, 503, "there is no memory for it");
}

/* --- What a member says ------------------------------------------------------ */

enum member {
    MEMBER_OP,
    MEMBER_KEY,
    MEMBER_KEY64,
    MEMBER_VALUE,
    MEMBER_VALUE64,
    MEMBER_TYPE,
    MEMBER_TTL,
    MEMBER_IF,
    MEMBER_COUNT
};

static const struct bytes names[MEMBER_COUNT] = {{"op", 2},      {"key", 3},
                                                 {"key64", 5},   {"value", 5},
                                                 {"value64", 7}, {"type", 4},
                                                 {"ttl", 3},     {"if", 2}};

struct members {
    const struct json_value *of[MEMBER_COUNT]; /* NULL: not said */
};

static bool find_members(struct kv_batch *batch, const struct json_value *line,
                         struct members *members)
{
    const struct json_value *value = NULL;

    *members = (struct members){0};
    while ((value = json_next(line, value))) {
        size_t i = 0;

        while (i < MEMBER_COUNT && !bytes_eq(value->name, names[i]))
            i++;
        if (i == MEMBER_COUNT)
            return fail_member(batch, value->name, "nobody knows this member");
        if (members->of[i])
            return fail_member(batch, value->name, "this member comes twice");
        if (value->kind != (i == MEMBER_TTL ? JSON_NUMBER : JSON_STRING))
            return fail_member(batch, value->name,
                               i == MEMBER_TTL ? "this is no number"
                                               : "this is no string");
        members->of[i] = value;
    }
    return true;
}

/* The text of a string, to stay: escapes undone, or base64 if it is that. */
static bool keep_text(struct kv_batch *batch, const struct json_value *value,
                      bool is_base64, struct bytes *text_out)
{
    char *room = arena_take(&batch->arena, value->text.len + 1);
    struct buf text;

    if (!room)
        return fail_memory(batch);
    buf_init(&text, room, value->text.len, value->text.len);
    json_put_text(&text, value); /* never longer than it came */
    *text_out = (struct bytes){room, text.len};
    if (is_base64 && !base64_decode(*text_out, room, &text_out->len))
        return fail_member(batch, value->name, "this is no base64");
    return true;
}

/* One of two members, the second in base64. */
static bool keep_either(struct kv_batch *batch, const struct members *members,
                        enum member plain, struct bytes *text_out)
{
    const struct json_value *text = members->of[plain];
    const struct json_value *coded = members->of[plain + 1];

    if (!text && !coded)
        return fail_member(batch, names[plain], "this member is missing");
    if (text && coded)
        return fail_member(batch, names[plain],
                           "this member is there in both forms");
    return keep_text(batch, text ? text : coded, coded != NULL, text_out);
}

static bool read_kind(struct kv_batch *batch, const struct json_value *value,
                      struct kv_op *op)
{
    if (!value)
        return fail_member(batch, names[MEMBER_OP], "this member is missing");
    if (bytes_eq(value->text, BYTES("put")))
        op->kind = KV_PUT;
    else if (bytes_eq(value->text, BYTES("delete")))
        op->kind = KV_DELETE;
    else if (bytes_eq(value->text, BYTES("check")))
        op->kind = KV_CHECK;
    else
        return fail_member(batch, value->name, "put, delete and check exist");
    return true;
}

static bool read_key(struct kv_batch *batch, const struct members *members,
                     struct kv_op *op)
{
    if (!keep_either(batch, members, MEMBER_KEY, &op->key))
        return false;
    if (op->key.len == 0 || op->key.len > KV_KEY_BYTES_MAX)
        return fail_member(batch, names[MEMBER_KEY],
                           "a key has 1 to 511 bytes");
    if (memchr(op->key.data, '\0', op->key.len))
        return fail_member(batch, names[MEMBER_KEY], "a key has no NUL");
    return true;
}

static bool is_digits(struct bytes text)
{
    uint64_t number;

    return query_number(text, UINT64_MAX, &number);
}

enum kv_condition kv_condition_read(struct bytes text, bool may_be_bare,
                                    uint64_t *revision_out)
{
    bool is_quoted = text.len > 2 && *text.data == '"' &&
                     text.data[text.len - 1] == '"';

    *revision_out = 0;
    if (bytes_eq(text, BYTES("*")))
        return KV_IF_PRESENT;
    if (is_quoted)
        text = (struct bytes){text.data + 1, text.len - 2};
    /* "007" is not how an ETag of ours is written. */
    if ((is_quoted || may_be_bare) && !(text.len > 0 && *text.data == '0') &&
        !query_number(text, UINT64_MAX, revision_out))
        *revision_out = 0;
    return KV_IF_REVISION;
}

static bool read_condition(struct kv_batch *batch,
                           const struct json_value *value, struct kv_op *op)
{
    struct bytes text, inner;

    if (!value) {
        if (op->kind == KV_CHECK)
            return fail_member(batch, names[MEMBER_IF],
                               "this member is missing");
        if (batch->limits.needs_condition)
            return fail(batch, 428, "the operation must have \"if\"");
        return true;
    }
    if (!keep_text(batch, value, false, &text))
        return false;
    if (bytes_eq(text, BYTES("absent"))) {
        op->condition = KV_IF_MISSING;
        return true;
    }
    op->condition = kv_condition_read(text, true, &op->if_revision);
    inner = text.len > 1 ? (struct bytes){text.data + 1, text.len - 2}
                         : BYTES("");
    if (op->condition == KV_IF_REVISION && op->if_revision == 0 &&
        !is_digits(text) && !is_digits(inner))
        return fail_member(batch, value->name,
                           "this is no revision, \"*\" or \"absent\"");
    return true;
}

bool kv_type_is_valid(struct bytes type)
{
    for (size_t i = 0; i < type.len; i++)
        if ((unsigned char)type.data[i] < 0x20 || type.data[i] == 0x7F)
            return false;
    return type.len <= KV_TYPE_BYTES_MAX;
}

static bool read_ttl(struct kv_batch *batch, const struct json_value *value,
                     struct kv_op *op)
{
    double seconds = json_number(value, 0);

    if (!value)
        return true;
    if (!(seconds >= 1 && seconds <= (double)KV_TTL_MAX_S) ||
        floor(seconds) < seconds)
        return fail_member(batch, value->name,
                           "this is whole seconds, 1 to 3153600000");
    op->ttl_ms = (uint64_t)seconds * 1000;
    return true;
}

/* What only a put has. */
static bool read_value(struct kv_batch *batch, const struct members *members,
                       struct kv_op *op)
{
    static const enum member only[] = {MEMBER_VALUE, MEMBER_VALUE64,
                                       MEMBER_TYPE, MEMBER_TTL};
    const struct json_value *type = members->of[MEMBER_TYPE];

    if (op->kind != KV_PUT) {
        for (size_t i = 0; i < sizeof(only) / sizeof(*only); i++)
            if (members->of[only[i]])
                return fail_member(batch, names[only[i]],
                                   "only a put has this member");
        return true;
    }
    if (!keep_either(batch, members, MEMBER_VALUE, &op->value))
        return false;
    if (op->value.len > batch->limits.value_bytes_max)
        return fail(batch, 413, "the value is too long");
    if (type && !keep_text(batch, type, false, &op->type))
        return false;
    if (!kv_type_is_valid(op->type))
        return fail_member(batch, names[MEMBER_TYPE],
                           "this has a control, or more than 255 bytes");
    return read_ttl(batch, members->of[MEMBER_TTL], op);
}

/* --- Lines ------------------------------------------------------------------ */

static bool add_op(struct kv_batch *batch, const struct kv_op *op)
{
    struct kv_op *ops;
    size_t *lines;

    ops = arena_grow(&batch->arena, batch->ops, batch->count, sizeof(*ops));
    if (!ops)
        return fail_memory(batch);
    batch->ops = ops;
    lines = arena_grow(&batch->arena, batch->lines, batch->count,
                       sizeof(*lines));
    if (!lines)
        return fail_memory(batch);
    batch->lines = lines;
    ops[batch->count] = *op;
    lines[batch->count++] = batch->line_number;
    return true;
}

static bool read_members(struct kv_batch *batch, const struct json_value *line)
{
    struct members members;
    struct kv_op op = {.kind = KV_PUT};

    if (line->kind != JSON_OBJECT)
        return fail(batch, 400, "a line is an object");
    if (batch->count == batch->limits.ops_max)
        return fail(batch, 413, "there are too many operations");
    return find_members(batch, line, &members) &&
           read_kind(batch, members.of[MEMBER_OP], &op) &&
           read_key(batch, &members, &op) &&
           read_condition(batch, members.of[MEMBER_IF], &op) &&
           read_value(batch, &members, &op) && add_op(batch, &op);
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
    struct json json;
    bool is_good;

    if (is_blank(line))
        return true;
    switch (json_read_few(&json, line, KV_BATCH_VALUES_MAX)) {
    case 0:
        is_good = read_members(batch, json.values);
        break;
    case -ENOMEM:
        is_good = fail_memory(batch);
        break;
    default:
        is_good = fail(batch, 400, "the line is no JSON in UTF-8");
        break;
    }
    json_fini(&json);
    return is_good;
}

/* Some more of a line, which is not complete, or only so with what follows. */
static bool keep_line(struct kv_batch *batch, struct bytes text)
{
    buf_put(&batch->line, text);
    return batch->line.failed ? fail_memory(batch) : true;
}

bool kv_batch_take(struct kv_batch *batch, struct bytes text)
{
    if (batch->fault.text)
        return false;
    if (text.len > batch->limits.bytes_max - batch->bytes)
        return fail(batch, 413, "the batch is too long");
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
    return fail(batch, 400, "there is no operation");
}

/* --- Asking ----------------------------------------------------------------- */

const struct kv_batch_fault *kv_batch_fault(const struct kv_batch *batch)
{
    return &batch->fault;
}

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
