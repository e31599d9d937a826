#include <math.h>

#include "base/base64.h"
#include "handler/kv/kv_batch_priv.h"
#include "http/query.h"

/* --- Members of a line --------------------------------------------------- */

enum member {
    MEMBER_OP,
    MEMBER_KEY,
    MEMBER_KEY64,
    MEMBER_VALUE,
    MEMBER_VALUE64,
    MEMBER_TYPE,
    MEMBER_TTL,
    MEMBER_BY,
    MEMBER_IF,
    MEMBER_COUNT
};

static const struct bytes names[MEMBER_COUNT] = {
    {"op", 2},   {"key", 3}, {"key64", 5}, {"value", 5}, {"value64", 7},
    {"type", 4}, {"ttl", 3}, {"by", 2},    {"if", 2}};

struct members {
    const struct json_value *of[MEMBER_COUNT]; /* NULL: missing */
};

static bool find_members(struct kv_batch *batch, const struct json_value *line,
                         struct members *members)
{
    const struct json_value *value = NULL;
    bool is_number;

    *members = (struct members){0};
    while ((value = json_next(line, value))) {
        size_t i = 0;

        while (i < MEMBER_COUNT && !bytes_eq(value->name, names[i]))
            i++;
        if (i == MEMBER_COUNT)
            return kv_batch_fail_member(batch, value->name,
                                        "nobody knows this member");
        if (members->of[i])
            return kv_batch_fail_member(batch, value->name,
                                        "this member comes twice");
        is_number = i == MEMBER_TTL || i == MEMBER_BY;
        if (value->kind != (is_number ? JSON_NUMBER : JSON_STRING))
            return kv_batch_fail_member(batch, value->name,
                                        is_number ? "this is no number"
                                                  : "this is no string");
        members->of[i] = value;
    }
    return true;
}

/* Keeps the text of a string, unescaped or decoded from base64. */
static bool keep_text(struct kv_batch *batch, const struct json_value *value,
                      bool is_base64, struct bytes *text_out)
{
    char *room = arena_take(&batch->arena, value->text.len + 1);
    struct buf text;

    if (!room)
        return kv_batch_fail_memory(batch);
    buf_init(&text, room, value->text.len, value->text.len);
    json_put_text(&text, value); /* the text is never longer than its JSON */
    *text_out = (struct bytes){room, text.len};
    if (is_base64 && !base64_decode(*text_out, room, &text_out->len))
        return kv_batch_fail_member(batch, value->name, "this is no base64");
    return true;
}

/* Reads a text from one of two members: from `plain`, or from the member behind
 * `plain` in the enum, which has the text in base64. */
static bool keep_either(struct kv_batch *batch, const struct members *members,
                        enum member plain, struct bytes *text_out)
{
    const struct json_value *text = members->of[plain];
    const struct json_value *coded = members->of[plain + 1];

    if (!text && !coded)
        return kv_batch_fail_member(batch, names[plain],
                                    "this member is missing");
    if (text && coded)
        return kv_batch_fail_member(batch, names[plain],
                                    "this member is there in both forms");
    return keep_text(batch, text ? text : coded, coded != NULL, text_out);
}

static bool read_kind(struct kv_batch *batch, const struct json_value *value,
                      struct kv_op *op)
{
    if (!value)
        return kv_batch_fail_member(batch, names[MEMBER_OP],
                                    "this member is missing");
    if (bytes_eq(value->text, BYTES("put")))
        op->kind = KV_PUT;
    else if (bytes_eq(value->text, BYTES("add")))
        op->kind = KV_ADD;
    else if (bytes_eq(value->text, BYTES("delete")))
        op->kind = KV_DELETE;
    else if (bytes_eq(value->text, BYTES("check")))
        op->kind = KV_CHECK;
    else
        return kv_batch_fail_member(batch, value->name,
                                    "put, add, delete and check exist");
    return true;
}

static bool read_key(struct kv_batch *batch, const struct members *members,
                     struct kv_op *op)
{
    if (!keep_either(batch, members, MEMBER_KEY, &op->key))
        return false;
    if (op->key.len == 0 || op->key.len > KV_KEY_BYTES_MAX)
        return kv_batch_fail_member(batch, names[MEMBER_KEY],
                                    "a key has 1 to 511 bytes");
    if (memchr(op->key.data, '\0', op->key.len))
        return kv_batch_fail_member(batch, names[MEMBER_KEY],
                                    "a key has no NUL");
    return true;
}

/* Whether `text` is a number of 64 bits, in quotes or not. */
static bool is_revision(struct bytes text)
{
    uint64_t number;

    if (text.len > 2 && *text.data == '"' && text.data[text.len - 1] == '"')
        text = (struct bytes){text.data + 1, text.len - 2};
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
    /* No ETag of this store begins with a zero, as "007" does. */
    if ((is_quoted || may_be_bare) && !(text.len > 0 && *text.data == '0') &&
        !query_number(text, UINT64_MAX, revision_out))
        *revision_out = 0;
    return KV_IF_REVISION;
}

static bool read_condition(struct kv_batch *batch,
                           const struct json_value *value, struct kv_op *op)
{
    struct bytes text;

    if (!value) {
        if (op->kind == KV_CHECK)
            return kv_batch_fail_member(batch, names[MEMBER_IF],
                                        "this member is missing");
        if (batch->limits.needs_condition && op->kind != KV_ADD)
            return kv_batch_fail(batch, 428, "the operation must have \"if\"");
        return true;
    }
    if (!keep_text(batch, value, false, &text))
        return false;
    if (bytes_eq(text, BYTES("absent"))) {
        op->condition = KV_IF_MISSING;
        return true;
    }
    op->condition = kv_condition_read(text, true, &op->if_revision);
    if (op->condition == KV_IF_REVISION && op->if_revision == 0 &&
        !is_revision(text))
        return kv_batch_fail_member(batch, value->name,
                                    "this is no revision, \"*\" or \"absent\"");
    return true;
}

static bool read_ttl(struct kv_batch *batch, const struct json_value *value,
                     struct kv_op *op)
{
    double seconds = json_number(value, 0);

    if (!value)
        return true;
    if (!(seconds >= 1 && seconds <= (double)KV_TTL_MAX_S) ||
        floor(seconds) < seconds)
        return kv_batch_fail_member(batch, value->name,
                                    "this is whole seconds, 1 to 3153600000");
    op->ttl_ms = (uint64_t)seconds * 1000;
    return true;
}

/* The largest number up to which JSON's numbers are exact. */
#define BY_MAX 9007199254740992.0 /* 2^53 */

static bool read_by(struct kv_batch *batch, const struct json_value *value,
                    struct kv_op *op)
{
    double by = json_number(value, 1);

    op->type = BYTES(KV_INTEGER_TYPE);
    op->by = 1;
    if (!value)
        return true;
    if (!(fabs(by) <= BY_MAX) || floor(by) < by)
        return kv_batch_fail_member(batch, value->name,
                                    "this is a whole number, of 53 bits");
    op->by = (int64_t)by;
    return true;
}

/* Members that only some operations may have. "by" is for adds only. The other
 * members are for puts; if of_add is set, they are for adds, too. */
static const struct {
    enum member member;
    bool of_add;
} rare[] = {{MEMBER_VALUE, false},
            {MEMBER_VALUE64, false},
            {MEMBER_TYPE, false},
            {MEMBER_TTL, true},
            {MEMBER_BY, true}};

static bool refuse_strange(struct kv_batch *batch,
                           const struct members *members, enum kv_op_kind kind)
{
    for (size_t i = 0; i < sizeof(rare) / sizeof(*rare); i++) {
        bool of_put = rare[i].member != MEMBER_BY;

        if (members->of[rare[i].member] && !(of_put && kind == KV_PUT) &&
            !(rare[i].of_add && kind == KV_ADD))
            return kv_batch_fail_member(batch, names[rare[i].member],
                                        "this operation has no such member");
    }
    return true;
}

static bool read_value(struct kv_batch *batch, const struct members *members,
                       struct kv_op *op)
{
    const struct json_value *type = members->of[MEMBER_TYPE];

    if (!refuse_strange(batch, members, op->kind))
        return false;
    if (op->kind == KV_ADD)
        return read_by(batch, members->of[MEMBER_BY], op) &&
               read_ttl(batch, members->of[MEMBER_TTL], op);
    if (op->kind != KV_PUT)
        return true;
    if (!keep_either(batch, members, MEMBER_VALUE, &op->value))
        return false;
    if (op->value.len > batch->limits.value_bytes_max)
        return kv_batch_fail(batch, 413, "the value is too long");
    if (type && !keep_text(batch, type, false, &op->type))
        return false;
    if (!kv_type_is_valid(op->type))
        return kv_batch_fail_member(
            batch, names[MEMBER_TYPE],
            "this has a control, or more than 255 bytes");
    return read_ttl(batch, members->of[MEMBER_TTL], op);
}

/* --- A whole line -------------------------------------------------------- */

bool kv_batch_read_op(struct kv_batch *batch, const struct json_value *line,
                      struct kv_op *op)
{
    struct members members;

    *op = (struct kv_op){.kind = KV_PUT};
    return find_members(batch, line, &members) &&
           read_kind(batch, members.of[MEMBER_OP], op) &&
           read_key(batch, &members, op) &&
           read_condition(batch, members.of[MEMBER_IF], op) &&
           read_value(batch, &members, op);
}
