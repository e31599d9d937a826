#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/tls/tls_kernel.h"
#include "io/tls/tls_priv.h"

/* --- Telling the client -------------------------------------------------- */

void tls_taken_say(struct tls *tls, enum tls_content type, const char *payload,
                   size_t len)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t sealed;

    if (tls->taken->by_kernel) {
        (void)!tls_kernel_say(tls->fd, type, payload, len);
        return;
    }
    assert(tls_wire_room(buffers) >= len + TLS_RECORD_SEALED);
    sealed = tls_record_seal(&tls->taken->out, type, payload, len,
                             buffers->out + buffers->out_len);
    if (sealed == 0)
        tls->is_broken = true;
    buffers->out_len += sealed;
}

enum {
    KEY_UPDATE = 24, /* type of the handshake message (RFC 8446 4.6.3) */
    KEY_UPDATE_BYTES = 5,
    KEY_UPDATE_HEAD = 4, /* bytes of the message's type and length */
    /* The most records in a row without data. A client may send such records to
     * hide how much it sends, or to change its keys. But each record costs the
     * server more than the client. No time limit is prolonged by such
     * records. */
    IDLE_RECORDS_MAX = 32,
    /* Making new keys takes several times as long as opening a record. A client
     * may change its keys UPDATES_MAX times at once, and once more for each
     * UPDATE_BYTES of data. */
    UPDATES_MAX = 64,
    UPDATE_BYTES = 1024
};

_Static_assert((int)KEY_UPDATE_BYTES == (int)TLS_BEGUN_MAX,
               "a message that has come in part has room");

/* Sends an update of our key that asks for no update in return. */
void tls_taken_update(struct tls *tls)
{
    static const char message[KEY_UPDATE_BYTES] = {KEY_UPDATE, 0, 0, 1, 0};

    tls->taken->owes_update = false;
    tls_taken_say(tls, TLS_CONTENT_HANDSHAKE, message, sizeof(message));
    if (!tls->is_broken && !tls_direction_update(&tls->taken->out))
        tls->is_broken = true;
}

/* Refuses the record that has come, and tells the client why. If bytes are
 * kept, the client is told nothing, because nothing goes behind kept bytes. */
static enum io_result refuse(struct tls *tls, enum tls_alert alert)
{
    const char text[] = {2, (char)alert};

    tls->why = alert == TLS_ALERT_BAD_RECORD_MAC ? "bad record mac"
                                                 : "unexpected record";
    if (tls->kept_len == 0 && !tls->is_mute)
        tls_taken_say(tls, TLS_CONTENT_ALERT, text, sizeof(text));
    return IO_FAILED;
}

/* --- Records of the client ----------------------------------------------- */

/* Handles an alert. Each alert is an error, except close_notify and
 * user_canceled (RFC 8446 6). Each alert must come whole, in a record of its
 * own (5.1, 5.4). */
static enum io_result take_alert(struct tls *tls, struct bytes payload)
{
    if (payload.len != 2)
        return refuse(tls, payload.len == 0 ? TLS_ALERT_UNEXPECTED_MESSAGE
                                            : TLS_ALERT_DECODE_ERROR);
    switch ((unsigned char)payload.data[1]) {
    case TLS_ALERT_CLOSE_NOTIFY:
        tls->taken->has_closed = true;
        return IO_EOF;
    case TLS_ALERT_USER_CANCELED:
        return IO_DONE;
    default:
        tls->why = "the client has sent an alert";
        return IO_FAILED;
    }
}

void tls_taken_end(struct tls *tls)
{
    static const char internal_error[] = {2, TLS_ALERT_INTERNAL_ERROR};

    tls->why = "the kernel cannot change its key";
    tls_taken_say(tls, TLS_CONTENT_ALERT, internal_error, 2);
}

static enum io_result change_key(struct tls *tls, bool is_wanted_of_us)
{
    if (is_wanted_of_us && tls->taken->by_kernel) {
        tls_taken_end(tls);
        return IO_FAILED;
    }
    tls->taken->owes_update |= is_wanted_of_us;
    if (tls_direction_update(&tls->taken->in))
        return IO_DONE;
    tls->error = ENOMEM;
    return IO_FAILED;
}

/* Handles a handshake message, or a part of it. A client sends only KeyUpdate,
 * since it was asked for nothing else. The client may cut the message's five
 * bytes (RFC 8446 5.1), but sends nothing behind them with the old key. */
static enum io_result take_handshake(struct tls *tls, struct bytes payload)
{
    static const unsigned char update[KEY_UPDATE_HEAD] = {KEY_UPDATE, 0, 0, 1};
    struct tls_taken *taken = tls->taken;
    size_t len = taken->begun_len + payload.len;
    size_t room = KEY_UPDATE_BYTES - (size_t)taken->begun_len;

    if (payload.len == 0)
        return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
    if (taken->begun_len == 0 && payload.data[0] != KEY_UPDATE)
        return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
    memcpy(taken->begun + taken->begun_len, payload.data,
           payload.len < room ? payload.len : room);
    if (memcmp(taken->begun, update,
               len < KEY_UPDATE_HEAD ? len : KEY_UPDATE_HEAD) != 0)
        return refuse(tls, TLS_ALERT_DECODE_ERROR);
    if (payload.len > room)
        return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
    taken->begun_len = (uint8_t)(payload.len < room ? len : 0);
    if (payload.len < room)
        return IO_DONE;
    if (taken->begun[KEY_UPDATE_HEAD] > 1)
        return refuse(tls, TLS_ALERT_ILLEGAL_PARAMETER);
    if (++taken->updates > UPDATES_MAX)
        return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
    return change_key(tls, taken->begun[KEY_UPDATE_HEAD] == 1);
}

/* Lowers taken->updates, because `len` bytes of data have come. */
static void forget_updates(struct tls_taken *taken, size_t len)
{
    size_t bytes = taken->data_bytes + len;
    size_t updates = bytes / UPDATE_BYTES;

    taken->data_bytes = (uint16_t)(bytes % UPDATE_BYTES);
    taken->updates -= (uint8_t)(updates < taken->updates ? updates
                                                         : taken->updates);
}

/* Whether a record of that type may come now. Between the parts of a message,
 * no record of another type may come, and at most IDLE_RECORDS_MAX records
 * without data may come in a row. */
static bool is_in_place(struct tls_taken *taken, enum tls_content type,
                        struct bytes payload)
{
    if (taken->begun_len > 0 && type != TLS_CONTENT_HANDSHAKE)
        return false;
    if (type == TLS_CONTENT_DATA && payload.len > 0) {
        taken->idle_records = 0;
        if (taken->updates > 0)
            forget_updates(taken, payload.len);
        return true;
    }
    return ++taken->idle_records <= IDLE_RECORDS_MAX;
}

/* Takes the first record of the bytes that have come. *payload_out is its data,
 * which is empty if the record has none. */
static enum io_result take_record(struct tls *tls, size_t len,
                                  struct bytes *payload_out)
{
    struct tls_buffers *buffers = tls->buffers;
    enum tls_content type;
    struct bytes payload;
    enum tls_alert alert = tls_record_open(&tls->taken->in,
                                           buffers->in + buffers->in_at, len,
                                           &type, &payload);

    *payload_out = (struct bytes){NULL, 0};
    buffers->in_at += len;
    buffers->in_len -= len;
    if (alert != TLS_ALERT_NONE)
        return refuse(tls, alert);
    if (!is_in_place(tls->taken, type, payload))
        return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
    switch (type) {
    case TLS_CONTENT_DATA:
        *payload_out = payload;
        return IO_DONE;
    case TLS_CONTENT_ALERT:
        return take_alert(tls, payload);
    case TLS_CONTENT_HANDSHAKE:
        return take_handshake(tls, payload);
    case TLS_CONTENT_CHANGE:
        break;
    }
    return refuse(tls, TLS_ALERT_UNEXPECTED_MESSAGE);
}

/* Returns the length of the next record; 0 when it is not whole. If the bytes
 * do not begin an encrypted record, or if its head claims too many bytes, all
 * of them count as a record, which is then refused. */
static size_t find_record(const struct tls_buffers *buffers)
{
    const char *begin = buffers->in + buffers->in_at;
    size_t len = tls_record_length((struct bytes){begin, buffers->in_len});

    if (len > TLS_RECORD_MAX ||
        (buffers->in_len > 0 && *begin != TLS_CONTENT_DATA))
        return buffers->in_len;
    return len <= buffers->in_len ? len : 0;
}

/* --- What is held between calls ------------------------------------------ */

/* Takes payload that was opened by an earlier call, as much as fits. */
static size_t take_plain(struct tls *tls, char *data, size_t len)
{
    if (len > tls->plain_len)
        len = tls->plain_len;
    if (len == 0)
        return 0;
    memcpy(data, tls->held + tls->plain_at, len);
    tls->plain_at += (uint32_t)len;
    tls->plain_len -= (uint32_t)len;
    return len;
}

static void drop_held(struct tls *tls)
{
    free(tls->held);
    tls->held = NULL;
    tls->plain_len = tls->cipher_len = 0;
}

/* Brings what this connection held into the buffer that all connections
 * share. */
static void load(struct tls *tls)
{
    struct tls_buffers *buffers = tls->buffers;

    buffers->in_at = 0;
    buffers->in_len = tls->cipher_len;
    if (!tls->held)
        return;
    memcpy(buffers->in, tls->held + tls->cipher_at, tls->cipher_len);
    drop_held(tls);
}

/* Keeps untaken bytes for the next call: the rest of the last payload, and the
 * bytes of the shared buffer behind it. */
static bool hold(struct tls *tls, struct bytes plain)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t before;

    if (plain.len == 0)
        return tls_wire_hold(tls);
    before = buffers->in_at - (size_t)(plain.data - buffers->in);
    buffers->in_at -= before;
    buffers->in_len += before;
    if (!tls_wire_hold(tls))
        return false;
    tls->plain_at = 0;
    tls->plain_len = (uint32_t)plain.len;
    tls->cipher_at = (uint32_t)before;
    tls->cipher_len -= (uint32_t)before;
    return true;
}

/* --- Receiving ----------------------------------------------------------- */

/* Opens records while there is room for their payload. */
static enum io_result open_records(struct tls *tls, char *data, size_t len,
                                   size_t *len_out, struct bytes *left_out)
{
    enum io_result result = IO_DONE;
    unsigned opened = 0;
    size_t record;

    *left_out = (struct bytes){NULL, 0};
    while (result == IO_DONE && *len_out < len &&
           opened++ < TLS_RECORDS_AT_ONCE &&
           (record = find_record(tls->buffers)) > 0) {
        struct bytes payload;
        size_t n;

        result = take_record(tls, record, &payload);
        n = payload.len < len - *len_out ? payload.len : len - *len_out;
        if (payload.len == 0)
            continue;
        memcpy(data + *len_out, payload.data, n);
        *len_out += n;
        *left_out = (struct bytes){payload.data + n, payload.len - n};
    }
    return result;
}

static enum io_result receive_records(struct tls *tls, char *data, size_t len,
                                      size_t *len_out)
{
    struct tls_buffers *buffers = tls->buffers;
    enum io_result result = IO_DONE;
    struct bytes left;

    load(tls);
    if (*len_out == 0 && find_record(buffers) == 0)
        result = tls_wire_gather(tls);
    if (result == IO_EOF)
        tls->is_cut = true;
    if (result == IO_DONE)
        result = open_records(tls, data, len, len_out, &left);
    else
        left = (struct bytes){NULL, 0};
    if (result == IO_EOF || result == IO_FAILED) {
        buffers->in_len = 0;
        tls->is_broken |= result == IO_FAILED;
        /* No event will tell of the end, so has_unread makes the caller call
         * once more, and that call reports the end. */
        tls->has_unread = *len_out > 0;
        return result;
    }
    tls->has_unread = left.len > 0 || find_record(buffers) > 0;
    if (hold(tls, left))
        return result == IO_DONE && *len_out == 0 ? IO_AGAIN_READ : result;
    tls->is_broken = true;
    return IO_FAILED;
}

enum io_result tls_taken_receive(struct tls *tls, char *data, size_t len,
                                 size_t *len_out)
{
    enum io_result result = IO_DONE;

    tls->has_unread = false;
    if (tls->taken->has_closed)
        return IO_EOF;
    *len_out = take_plain(tls, data, len);
    if (tls->plain_len > 0)
        tls->has_unread = true;
    else
        result = receive_records(tls, data, len, len_out);
    if (tls->taken->owes_update && !tls->is_broken && !tls->is_mute &&
        !tls->has_said_end && tls->kept_len == 0)
        tls_taken_update(tls);
    return result;
}
