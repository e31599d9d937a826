#include "kv/kv_integer.h"
#include "kv/redis/kv_redis_priv.h"

enum { NAMES_TRIED_MAX = 8, REPLY_OP_ELEMENTS = 5 };

/* Up to this TTL, the script's numbers are exact. */
#define TTL_MS_MAX (UINT64_C(1) << 51)

static struct kv_redis_asking *asking_of(struct kv_redis_call *call)
{
    return OWNER_OF(call, struct kv_redis_asking, call);
}

static struct bytes key_of(const struct kv_op *op, char room[KV_KEY_BYTES_MAX])
{
    if (op->kind != KV_PUT_NAMED)
        return op->key;
    if (op->key.len > 0)
        memcpy(room, op->key.data, op->key.len);
    memcpy(room + op->key.len, op->name, KV_NAME_BYTES);
    return (struct bytes){room, op->key.len + KV_NAME_BYTES};
}

/* --- The command ---------------------------------------------------------- */

/* The partitions of a write, in the order of first use. */
struct spread {
    uint8_t number_of[KV_REDIS_PARTITIONS]; /* number from 1; 0 if not used */
    uint8_t partitions[KV_REDIS_PARTITIONS];
    unsigned count;
};

static unsigned partition_of(const struct kv_op *op)
{
    char room[KV_KEY_BYTES_MAX];

    return kv_redis_partition(key_of(op, room));
}

static void look_at(const struct kv_write *write, struct spread *spread)
{
    *spread = (struct spread){.count = 0};
    for (size_t i = 0; i < write->count; i++) {
        unsigned partition = partition_of(&write->ops[i]);

        if (spread->number_of[partition] > 0)
            continue;
        spread->partitions[spread->count++] = (uint8_t)partition;
        spread->number_of[partition] = (uint8_t)spread->count;
    }
}

static char kind_of(const struct kv_op *op)
{
    switch (op->kind) {
    case KV_PUT:
    case KV_PUT_NAMED:
        return 'P';
    case KV_ADD:
        return 'A';
    case KV_DELETE:
        return 'D';
    case KV_CHECK:
        break;
    }
    return 'C';
}

static char condition_of(const struct kv_op *op)
{
    if (op->kind == KV_PUT_NAMED)
        return '0'; /* KV_IF_MISSING: a client may have chosen that name */
    switch (op->condition) {
    case KV_IF_ANY:
        return '*';
    case KV_IF_MISSING:
        return '0';
    case KV_IF_PRESENT:
        return '1';
    case KV_IF_REVISION:
        break;
    }
    return '=';
}

static void put_op(struct buf *out, const struct kv_op *op, unsigned number)
{
    char room[KV_KEY_BYTES_MAX];
    char what[2] = {kind_of(op), condition_of(op)};
    char number_text[KV_INTEGER_BYTES_MAX];
    bool is_put = what[0] == 'P';
    struct bytes value = is_put ? op->value : BYTES("");

    if (op->kind == KV_ADD)
        value = kv_integer_write(op->by, number_text);

    kv_command_put(out, (struct bytes){what, sizeof(what)});
    kv_command_put_number(out, op->if_revision);
    kv_command_put_number(out, number);
    kv_command_put(out, key_of(op, room));
    kv_command_put(out, is_put || op->kind == KV_ADD ? op->type : BYTES(""));
    kv_command_put_number(out,
                          op->ttl_ms < TTL_MS_MAX ? op->ttl_ms : TTL_MS_MAX);
    kv_command_put(out, value);
}

static void put_ops(struct kv_redis_call *call, struct buf *out)
{
    const struct kv_write *write = asking_of(call)->write;
    char room[KV_KEY_BYTES_MAX];
    struct spread spread;

    look_at(write, &spread);
    kv_redis_put_script(call, out, KV_SCRIPT_WRITE,
                        3 * spread.count + write->count,
                        1 + KV_SCRIPT_OP_ARGUMENTS * write->count);
    for (unsigned i = 0; i < spread.count; i++) {
        struct bytes base = kv_redis_base(call->client, spread.partitions[i]);

        kv_command_put_joined(out, base, BYTES("r"), BYTES(""));
        kv_command_put_joined(out, base, BYTES("i"), BYTES(""));
        kv_command_put_joined(out, base, BYTES("e"), BYTES(""));
    }
    for (size_t i = 0; i < write->count; i++) {
        const struct kv_op *op = &write->ops[i];

        kv_command_put_joined(out,
                              kv_redis_base(call->client, partition_of(op)),
                              BYTES("k:"), key_of(op, room));
    }
    kv_command_put_number(out, spread.count);
    for (size_t i = 0; i < write->count; i++) {
        const struct kv_op *op = &write->ops[i];

        put_op(out, op, spread.number_of[partition_of(op)] - 1U);
    }
}

/* --- The answer ----------------------------------------------------------- */

static bool read_meta(const struct kv_reply *reply, size_t at,
                      struct kv_meta *meta)
{
    uint64_t stored, expires;

    if (!kv_reply_number(kv_reply_at(reply, at), &meta->revision) ||
        !kv_reply_number(kv_reply_at(reply, at + 1), &stored) ||
        !kv_reply_number(kv_reply_at(reply, at + 2), &expires))
        return false;
    meta->stored_ms = (int64_t)(stored & INT64_MAX);
    meta->expires_ms = (int64_t)(expires & INT64_MAX);
    return true;
}

static bool read_outcome(struct bytes text, enum kv_outcome *outcome)
{
    switch (text.len == 1 ? *text.data : '\0') {
    case 'C':
        *outcome = KV_CREATED;
        return true;
    case 'R':
        *outcome = KV_REPLACED;
        return true;
    case 'D':
        *outcome = KV_DELETED;
        return true;
    case 'M':
        *outcome = KV_MISSING;
        return true;
    case 'H':
        *outcome = KV_HELD;
        return true;
    default:
        return false;
    }
}

static bool read_done(struct kv_write *write, const struct kv_reply *reply)
{
    if (kv_reply_count(reply) != 1 + REPLY_OP_ELEMENTS * write->count)
        return false;
    for (size_t i = 0; i < write->count; i++) {
        struct kv_op *op = &write->ops[i];
        size_t at = 1 + REPLY_OP_ELEMENTS * i;

        if (!read_outcome(kv_reply_text(kv_reply_at(reply, at)),
                          &op->outcome) ||
            !read_meta(reply, at + 1, &op->meta) ||
            (op->kind == KV_ADD &&
             !kv_integer_read(kv_reply_text(kv_reply_at(reply, at + 4)),
                              &op->sum)))
            return false;
    }
    write->is_done = true;
    return true;
}

/* Returns the operation that was refused, or NULL if the reply names none. */
static struct kv_op *read_failed(struct kv_write *write,
                                 const struct kv_reply *reply)
{
    uint64_t number;
    struct bytes why;
    struct kv_op *op;

    if (!kv_reply_number(kv_reply_at(reply, 1), &number) || number == 0 ||
        number > write->count)
        return NULL;
    kv_write_set_outcomes(write, KV_UNDONE);
    op = &write->ops[number - 1];
    why = kv_reply_text(kv_reply_at(reply, 5));
    op->outcome = bytes_eq(why, BYTES("N"))   ? KV_NO_NUMBER
                  : bytes_eq(why, BYTES("O")) ? KV_OVERFLOW
                                              : KV_PRECONDITION;
    return read_meta(reply, 2, &op->meta) ? op : NULL;
}

/* --- The way of a write --------------------------------------------------- */

static bool ask_names(struct kv_redis_asking *asking);
static bool ask_ops(struct kv_redis_asking *asking);

static void finish(struct kv_redis_asking *asking)
{
    struct kv_write *write = asking->write;

    kv_redis_put_asking(asking);
    write->on_done(write);
}

static void fail(struct kv_redis_asking *asking, enum kv_outcome outcome)
{
    kv_write_set_outcomes(asking->write, outcome);
    finish(asking);
}

static void on_done(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_asking *asking = asking_of(call);
    struct kv_write *write = asking->write;
    struct kv_op *failed;
    uint64_t is_done;

    if (call->outcome != KV_FOUND) {
        fail(asking, call->outcome);
        return;
    }
    if (kv_reply_number(kv_reply_at(reply, 0), &is_done)) {
        if (is_done == 1 && read_done(write, reply)) {
            finish(asking);
            return;
        }
        failed = is_done == 0 ? read_failed(write, reply) : NULL;
        if (failed && failed->kind != KV_PUT_NAMED) {
            finish(asking);
            return;
        }
        if (failed && ++asking->names_tried < NAMES_TRIED_MAX) {
            if (ask_names(asking))
                fail(asking, call->outcome);
            return;
        }
    }
    kv_redis_log_corrupt(call->client, write->ops[0].key);
    fail(asking, KV_ERROR);
}

static bool ask_ops(struct kv_redis_asking *asking)
{
    struct kv_redis_call *call = &asking->call;
    struct spread spread;

    look_at(asking->write, &spread);
    call->partition = spread.partitions[0];
    call->crosses = spread.count > 1;
    call->may_repeat = false;
    call->put = put_ops;
    call->on_end = on_done;
    return kv_redis_call_start(call->client, call);
}

/* --- Names ---------------------------------------------------------------- */

static size_t count_named(const struct kv_write *write)
{
    size_t count = 0;

    for (size_t i = 0; i < write->count; i++)
        count += write->ops[i].kind == KV_PUT_NAMED;
    return count;
}

static void put_names(struct kv_redis_call *call, struct buf *out)
{
    kv_redis_put_script(call, out, KV_SCRIPT_NAME, 1, 1);
    kv_command_put_joined(out, kv_redis_base(call->client, 0), BYTES("n"),
                          BYTES(""));
    kv_command_put_number(out, count_named(asking_of(call)->write));
}

static void set_names(struct kv_write *write, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < write->count; i++) {
        struct kv_op *op = &write->ops[i];
        uint64_t rest = number;

        if (op->kind != KV_PUT_NAMED)
            continue;
        for (int k = KV_NAME_BYTES - 1; k >= 0; k--, rest >>= 4)
            op->name[k] = digits[rest & 0xF];
        number++;
    }
}

/* Continues a write after the engine has replied with a number for new names.
 * If there is no such number, the write fails; it has not begun. */
static void on_names(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_asking *asking = asking_of(call);
    uint64_t number;

    if (call->outcome == KV_TIMEOUT)
        call->outcome = KV_UNREACHABLE;
    if (call->outcome == KV_FOUND && !kv_reply_number(reply, &number))
        call->outcome = KV_ERROR;
    if (call->outcome != KV_FOUND) {
        fail(asking, call->outcome);
        return;
    }
    set_names(asking->write, number);
    if (ask_ops(asking))
        fail(asking, call->outcome);
}

static bool ask_names(struct kv_redis_asking *asking)
{
    struct kv_redis_call *call = &asking->call;

    call->partition = 0;
    call->crosses = false;
    call->may_repeat = true; /* unused names do no harm */
    call->put = put_names;
    call->on_end = on_names;
    return kv_redis_call_start(call->client, call);
}

bool kv_redis_write(struct kv_client *base, struct kv_write *write)
{
    struct kv_redis_client *client = OWNER_OF(base, struct kv_redis_client,
                                              client);
    struct kv_redis_asking *asking = kv_redis_take_asking(client);
    enum kv_outcome outcome = KV_BUSY;

    write->bytes = kv_write_weigh(write);
    if (asking) {
        asking->write = write;
        if (!(count_named(write) > 0 ? ask_names(asking) : ask_ops(asking)))
            return false;
        outcome = asking->call.outcome;
        kv_redis_put_asking(asking);
    }
    kv_write_set_outcomes(write, outcome);
    return true;
}
