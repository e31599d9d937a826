#include "tools/kv_transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/json_read.h"
#include "base/list.h"
#include "base/log.h"
#include "base/units.h"
#include "base/utf8.h"
#include "io/loop.h"
#include "kv/kv_offline.h"

enum {
    BATCH_OPS = 1000,
    BATCH_BYTES = 4 << 20,
    LINE_REST_BYTES = 16384 /* bytes of a line besides its value */
};

/* In the worst case, six bytes of a line stand for one byte of the value. */
#define LINE_BYTES_MAX (6 * KV_VALUE_BYTES_MAX + LINE_REST_BYTES)

/* A double can have the value of any whole number up to this number. */
#define NUMBER_MAX 9007199254740992.0

/* --- Out ------------------------------------------------------------------ */

struct export
{
    FILE *out;
    struct buf line;
};

static void put_text(struct buf *line, const char *name, struct bytes text)
{
    bool is_text = utf8_is_valid(text);

    buf_printf(line, "\"%s%s\":\"", name, is_text ? "" : "64");
    if (is_text)
        buf_put_json(line, text);
    else
        base64_put(line, text);
    buf_put_literal(line, "\"");
}

static int write_line(void *context, struct bytes key,
                      const struct kv_record *record)
{
    struct export *export = context;
    struct buf *line = &export->line;

    line->len = 0;
    buf_put_literal(line, "{");
    put_text(line, "key", key);
    buf_put_literal(line, ",");
    put_text(line, "value", record->value);
    if (record->type.len > 0) {
        buf_put_literal(line, ",\"type\":\"");
        buf_put_json(line, record->type);
        buf_put_literal(line, "\"");
    }
    buf_printf(line, ",\"revision\":%" PRIu64 ",\"stored\":%" PRId64,
               record->meta.revision, record->meta.stored_ms);
    if (record->meta.expires_ms != 0)
        buf_printf(line, ",\"expires\":%" PRId64, record->meta.expires_ms);
    buf_put_literal(line, "}\n");
    if (line->failed) {
        log_error("export: no memory for a line");
        return -ENOMEM;
    }
    if (fwrite(line->data, 1, line->len, export->out) == line->len)
        return 0;
    log_error("export: %s", strerror(errno));
    return -EIO;
}

static int64_t read_now_ms(void (*read_clock)(struct now *now))
{
    struct now now = {0};

    read_clock(&now);
    return now.wall_ns / NS_PER_MS;
}

int kv_transfer_export(const char *path, FILE *out)
{
    struct export export = {.out = out};
    int err;

    buf_init(&export.line, NULL, 0, LINE_BYTES_MAX);
    err = kv_offline_walk(path, read_now_ms(now_refresh), write_line, &export);
    if (err == 0 && fflush(out) != 0) {
        err = -errno;
        log_error("export: %s", strerror(-err));
    }
    buf_fini(&export.line);
    return err;
}

/* --- In ------------------------------------------------------------------- */

struct import {
    struct ev_loop *loop;
    struct mailbox *mailbox;
    struct kv_lmdb *store;
    struct kv_client *client;
    struct now now;
    void (*read_clock)(struct now *now);
    uint64_t line_number;
    uint64_t lines_in;
    bool is_answered;
    struct kv_write write; /* the present batch */
    struct kv_op ops[BATCH_OPS];
    struct arena arena; /* memory for the texts of `ops` */
    size_t bytes;
};

static int complain(const struct import *import, const char *what)
{
    log_error("import: line %" PRIu64 ": %s", import->line_number, what);
    return -EINVAL;
}

static void on_written(struct kv_write *write)
{
    OWNER_OF(write, struct import, write)->is_answered = true;
}

static int write_batch(struct import *import)
{
    bool is_full = false;

    if (import->write.count == 0) { /* every line of the batch had expired */
        import->bytes = 0;
        arena_fini(&import->arena);
        return 0;
    }
    import->is_answered = kv_client_write(import->client, &import->write);
    while (!import->is_answered)
        ev_run(import->loop, EVRUN_ONCE);
    for (size_t i = 0; i < import->write.count; i++)
        is_full |= import->ops[i].outcome == KV_FULL;
    if (!import->write.is_done) {
        log_error("import: lines up to %" PRIu64 ": %s", import->line_number,
                  is_full ? "no room" : "not written");
        return is_full ? -ENOSPC : -EIO;
    }
    import->lines_in = import->line_number;
    import->write.count = 0;
    import->bytes = 0;
    arena_fini(&import->arena);
    return 0;
}

/* Puts a text of the line into the arena: the member called `name`, or the
 * decoded member called `name` with "64" behind it. Returns NULL, or what is
 * wrong. text_out->data is NULL if the line has neither member. */
static const char *take_text(struct import *import,
                             const struct json_value *line, const char *name,
                             size_t bytes_max, struct bytes *text_out)
{
    char name64[16];
    const struct json_value *plain = json_find(line, name);
    const struct json_value *coded;
    const struct json_value *member;
    struct buf text;
    bool is_good = true;

    *text_out = (struct bytes){NULL, 0};
    snprintf(name64, sizeof(name64), "%s64", name);
    coded = json_find(line, name64);
    member = plain ? plain : coded;
    if (!member)
        return NULL;
    if ((plain && coded) || member->kind != JSON_STRING)
        return "a text is given twice, or is none";
    buf_init(&text, NULL, 0, member->text.len + 1);
    json_put_text(&text, member);
    if (coded && !text.failed)
        is_good = base64_decode(buf_bytes(&text), text.data, &text.len);
    if (is_good && text.len <= bytes_max && !text.failed) {
        text_out->data = arena_text(&import->arena, buf_bytes(&text));
        text_out->len = text.len;
    }
    is_good &= text_out->data != NULL;
    buf_fini(&text);
    return is_good ? NULL : "a text is too long, or no base64";
}

/* Adds the line's operation to the batch. Returns NULL, or what is wrong. */
static const char *take_op(struct import *import, const struct json_value *line)
{
    struct kv_op *op = &import->ops[import->write.count];
    double expires = json_number(json_find(line, "expires"), 0);
    int64_t now_ms = read_now_ms(import->read_clock);
    const char *wrong;

    if (line->kind != JSON_OBJECT)
        return "not an object";
    *op = (struct kv_op){.kind = KV_PUT};
    wrong = take_text(import, line, "key", KV_KEY_BYTES_MAX, &op->key);
    if (!wrong)
        wrong = take_text(import, line, "value", KV_VALUE_BYTES_MAX,
                          &op->value);
    if (!wrong)
        wrong = take_text(import, line, "type", KV_TYPE_BYTES_MAX, &op->type);
    if (wrong)
        return wrong;
    if (op->key.len == 0 || !op->value.data)
        return "key or value is missing";
    if (memchr(op->key.data, '\0', op->key.len))
        return "a key cannot hold NUL";
    if (!kv_type_is_valid(op->type))
        return "a type cannot hold a control";
    if (!(expires >= 0 && expires <= NUMBER_MAX))
        return "expires is no time";
    import->bytes += op->key.len + op->value.len;
    if (expires != 0 && (int64_t)expires <= now_ms)
        return NULL; /* the line has expired, and is skipped */
    if (expires != 0)
        op->ttl_ms = (uint64_t)((int64_t)expires - now_ms);
    import->write.count++;
    return NULL;
}

static int take_line(struct import *import, struct bytes text)
{
    struct json_reader json = {0};
    const char *wrong;
    int err;

    text = bytes_trim(text);
    if (text.len == 0)
        return 0;
    err = json_read(&json, text);
    if (err == 0) {
        wrong = take_op(import, json.values);
        err = wrong ? complain(import, wrong) : 0;
    } else if (err != -ENOMEM) {
        err = complain(import, "not JSON, or too much of it");
    }
    json_fini(&json);
    if (err == 0 &&
        (import->write.count == BATCH_OPS || import->bytes >= BATCH_BYTES))
        err = write_batch(import);
    return err;
}

/* Reads a line without its end. Returns false if there are no more lines. A
 * line that is too long sets line->failed. */
static bool read_line(FILE *in, struct buf *line)
{
    int c = getc_unlocked(in);

    line->len = 0;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(in)) {
        if (line->len == line->capacity && !buf_reserve(line, 1))
            return true;
        line->data[line->len++] = (char)c;
    }
    return true;
}

/* Takes all lines of `in`. Lines before a faulty line are still written. */
static int take_lines(struct import *import, FILE *in)
{
    struct buf line;
    int err = 0;
    int batch_err;

    buf_init(&line, NULL, 0, LINE_BYTES_MAX);
    while (err == 0 && read_line(in, &line)) {
        import->line_number++;
        err = line.failed ? complain(import, "too long")
                          : take_line(import, buf_bytes(&line));
        if (err != 0)
            import->line_number--;
    }
    buf_fini(&line);
    if (err == 0 && ferror(in)) {
        err = -EIO;
        log_error("import: cannot be read any more");
        return err;
    }
    if (err == -ENOSPC || err == -EIO)
        return err;
    batch_err = write_batch(import);
    return err != 0 ? err : batch_err;
}

int kv_transfer_import(const struct kv_lmdb_options *options, FILE *in,
                       uint64_t *lines_out)
{
    struct import *import = calloc(1, sizeof(*import));
    int err = -ENOMEM;

    *lines_out = 0;
    if (!import)
        return err;
    import->write.ops = import->ops;
    import->write.on_done = on_written;
    import->read_clock = options->read_clock ? options->read_clock
                                             : now_refresh;
    import->loop = loop_create();
    if (import->loop)
        import->mailbox = mailbox_create(import->loop, 2,
                                         (struct mailbox_receiver){0});
    if (import->mailbox)
        err = kv_lmdb_open(&import->store, options);
    if (err == 0) {
        import->client = kv_lmdb_client_create(import->store, import->mailbox,
                                               &import->now);
        err = import->client ? take_lines(import, in) : -ENOMEM;
    }
    kv_client_destroy(import->client);
    kv_lmdb_close(import->store);
    *lines_out = import->lines_in;
    arena_fini(&import->arena);
    mailbox_destroy(import->mailbox);
    if (import->loop)
        ev_loop_destroy(import->loop);
    free(import);
    return err;
}
