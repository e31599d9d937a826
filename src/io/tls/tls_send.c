#include "io/tls/tls_priv.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/socket_state.h"
#include "io/tls/tls_kernel.h"
#include "io/tls/tls_table_priv.h"

/* Where payload comes from: memory, or a file. */
struct payload {
    const struct iovec *parts; /* NULL: the payload is in `file` */
    size_t at;                 /* offset in the first part */
    int file;
    uint64_t offset;
    size_t left; /* bytes in all parts, or in the file */
};

/* Early records: see begin_burst(). */
enum {
    SILENCE_MS = 1000,
    LONG_WAY_US = 30000,
    EARLY_RECORDS = 10, /* segments that leave at once (RFC 6928) */
    EARLY_BYTES_MIN = 500,
    SEGMENT_BYTES = 1400 /* roughly what a segment holds */
};

/* How many parts one call gives the kernel to encrypt and send. */
enum { KERNEL_PARTS = 64 };

/* Records that leave in one call: where each ends, and how long its payload
 * is. */
struct batch {
    size_t count;
    size_t ends[EARLY_RECORDS]; /* where each record ends in the ciphertext */
    uint32_t payload[EARLY_RECORDS];
};

_Static_assert((int)EARLY_RECORDS >= (int)TLS_GATHERED_RECORDS,
               "all that leave in one call have room");

/* --- Payload ------------------------------------------------------------- */

static void skip(struct payload *payload, size_t len)
{
    payload->left -= len;
    payload->offset += len;
    if (!payload->parts)
        return;
    payload->at += len;
    while (payload->left > 0 && payload->at >= payload->parts->iov_len) {
        payload->at -= payload->parts->iov_len;
        payload->parts++;
    }
}

static void gather(const struct payload *payload, char *out, size_t len)
{
    const struct iovec *part = payload->parts;
    size_t at = payload->at;

    while (len > 0) {
        size_t n = part->iov_len - at;

        if (n > len)
            n = len;
        memcpy(out, (const char *)part->iov_base + at, n);
        out += n;
        len -= n;
        at = 0;
        part++;
    }
}

/* Finds the payload of the next record, of at most *len bytes. Returns IO_DONE
 * with its length in *len. */
static enum io_result look_at_next(struct tls *tls,
                                   const struct payload *payload,
                                   const char **data_out, size_t *len)
{
    char *scratch = tls->buffers->scratch;
    ssize_t n;

    if (payload->parts) {
        *data_out = (const char *)payload->parts->iov_base + payload->at;
        if (payload->parts->iov_len - payload->at < *len) {
            gather(payload, scratch, *len);
            *data_out = scratch;
        }
        return IO_DONE;
    }
    n = pread(payload->file, scratch, *len, (off_t)payload->offset);
    if (n == 0)
        return IO_EOF;
    if (n == -1)
        return errno == EINTR ? IO_AGAIN_WRITE : IO_FAILED;
    *data_out = scratch;
    *len = (size_t)n;
    return IO_DONE;
}

/* --- Records ------------------------------------------------------------- */

static uint32_t read_clock_ms(void)
{
    enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint32_t)now.tv_sec * MS_PER_S +
           (uint32_t)(now.tv_nsec / NS_PER_MS);
}

/* Begins a burst of early records. A record can be read only when all of it is
 * there. A record of 16 KiB is more than TCP sends at once at the beginning of
 * a connection, or after a silence: the client could not even read its first
 * byte before another round trip. So when the round trip is long, the bytes
 * that TCP sends at once leave in records of one segment each. There is no
 * burst when all bytes fit into one segment. */
static void begin_burst(struct tls *tls, size_t left)
{
    struct socket_path path;
    uint32_t now_ms;
    bool was_silent;

    if (left <= SEGMENT_BYTES)
        return;
    now_ms = read_clock_ms();
    was_silent = now_ms - tls->sent_ms >= SILENCE_MS;
    tls->sent_ms = now_ms;
    if (!was_silent)
        return;
    tls->early_left = 0;
    if (!socket_ask_path(tls->fd, &path) || path.rtt_us < LONG_WAY_US ||
        path.segment_bytes < EARLY_BYTES_MIN + TLS_RECORD_EXTRA_MAX ||
        path.segment_bytes > TLS_RECORD_BYTES)
        return;
    tls->early_bytes = (uint16_t)(path.segment_bytes - tls->record_extra);
    tls->early_left = EARLY_RECORDS;
}

static size_t count_room(const struct tls *tls)
{
    size_t room = socket_count_room(tls->fd);
    size_t passing;

    if (tls->unsent_max == 0)
        return room;
    passing = socket_count_passing(tls->fd, tls->unsent_max);
    return passing < room ? passing : room;
}

/* Plans how many records to make, because records that do not fit into the
 * socket would have to be kept. The first record is made without asking the
 * kernel for its room, since the socket was reported to take more. If there is
 * little room, a small record is made. */
static size_t plan_records(const struct tls *tls, size_t left, bool is_first,
                           size_t *record_bytes_out)
{
    enum {
        WHOLE = TLS_RECORD_BYTES + TLS_RECORD_EXTRA_MAX,
        SMALL = 2048,
    };
    size_t room;

    if (tls->early_left > 0 && is_first) {
        *record_bytes_out = tls->early_bytes;
        return tls->early_left;
    }
    *record_bytes_out = TLS_RECORD_BYTES;
    if (left <= SMALL)
        return 1;
    if (left <= TLS_RECORD_BYTES && is_first)
        return 1;
    room = count_room(tls);
    if (room >= WHOLE)
        return room < TLS_GATHERED_RECORDS * (size_t)WHOLE
                   ? room / WHOLE
                   : TLS_GATHERED_RECORDS;
    if (room < SMALL && !is_first)
        return 0;
    *record_bytes_out = room > SMALL ? room - TLS_RECORD_EXTRA_MAX : SMALL;
    return 1;
}

static bool encrypt(struct tls *tls, const char *data, size_t len,
                    size_t *written_out)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t sealed;

    if (!tls->taken)
        return SSL_write_ex(tls->ssl, data, len, written_out) == 1;
    sealed = tls_record_seal(&tls->taken->out, TLS_CONTENT_DATA, data, len,
                             buffers->out + buffers->out_len);
    buffers->out_len += sealed;
    *written_out = len;
    return sealed > 0;
}

static enum io_result add_record(struct tls *tls, struct batch *batch,
                                 struct payload *payload, size_t most)
{
    size_t len = payload->left < most ? payload->left : most;
    const char *data;
    size_t written;
    enum io_result result = look_at_next(tls, payload, &data, &len);

    if (result != IO_DONE)
        return result;
    if (!encrypt(tls, data, len, &written)) {
        /* The record had room, so this is not a lack of room but a failure. */
        tls->is_broken = true;
        errno = tls->error != 0 ? tls->error : EPROTO;
        return IO_FAILED;
    }
    skip(payload, written);
    batch->payload[batch->count] = (uint32_t)written;
    batch->ends[batch->count++] = tls->buffers->out_len;
    return IO_DONE;
}

/* Returns how much payload went in whole records; the payload of the first
 * record that did not go whole is owed. */
static size_t settle(struct tls *tls, const struct batch *batch, size_t sent)
{
    size_t len = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->ends[i] <= sent)
            len += batch->payload[i];
        else
            tls->owed += batch->payload[i];
    }
    return len;
}

/* Sends as many records as fit into one call, and adds their payload to
 * *len_out. Returns IO_DONE when all went, and IO_AGAIN_WRITE when not all
 * did. */
static enum io_result send_batch(struct tls *tls, struct payload *payload,
                                 bool more, size_t *len_out)
{
    size_t record_bytes;
    size_t fitting = plan_records(tls, payload->left, *len_out == 0,
                                  &record_bytes);
    struct batch batch = {.count = 0};
    enum io_result result = fitting > 0 ? IO_DONE : IO_AGAIN_WRITE;
    enum io_result flushed;
    size_t sent;

    while (result == IO_DONE && batch.count < fitting && payload->left > 0)
        result = add_record(tls, &batch, payload, record_bytes);
    tls->early_left -= batch.count < tls->early_left ? (uint8_t)batch.count
                                                     : tls->early_left;
    if (tls->is_broken)
        return result;
    flushed = tls_wire_flush(tls, more || payload->left > 0, &sent);
    *len_out += settle(tls, &batch, sent);
    if (flushed == IO_FAILED) {
        errno = tls->error;
    }
    return flushed == IO_DONE ? result : flushed;
}

/* --- Records made by the kernel ------------------------------------------ */

/* Whether the kernel makes the records. Giving the kernel its keys takes two
 * system calls, and small records cost more there than here. So the kernel
 * begins with the first large file. If it cannot, it is not asked again. */
static bool is_by_kernel(struct tls *tls, const struct payload *payload)
{
    enum { FILE_BYTES_MIN = 65536 };
    struct tls_taken *taken = tls->taken;

    if (!taken || taken->by_kernel || taken->has_tried || payload->parts ||
        payload->left < FILE_BYTES_MIN || tls->early_left > 0 ||
        tls_taken_is_due(taken) || !tls_set_uses_kernel(taken->set))
        return taken && taken->by_kernel;
    taken->has_tried = true;
    taken->by_kernel = tls_kernel_begin(tls->fd, &taken->out);
    return taken->by_kernel;
}

/* Returns how many of `left` bytes to send now: fewer than all, if the limit of
 * unsent bytes in the socket demands that. */
static size_t plan_bytes(const struct tls *tls, size_t left)
{
    enum { LEAST = 2048 };
    size_t room;

    if (tls->unsent_max == 0 || left <= LEAST)
        return left;
    room = count_room(tls);
    if (room < LEAST)
        room = LEAST;
    return left < room ? left : room;
}

/* Sends the parts, from payload->at on, but at most `most` bytes. */
static ssize_t send_parts(int fd, const struct payload *payload, size_t most,
                          bool more)
{
    struct iovec parts[KERNEL_PARTS];
    struct msghdr message = {.msg_iov = parts};
    size_t at = payload->at;
    size_t len = 0;

    while (len < most && message.msg_iovlen < KERNEL_PARTS) {
        const struct iovec *part = &payload->parts[message.msg_iovlen];
        size_t n = part->iov_len - at < most - len ? part->iov_len - at
                                                   : most - len;

        parts[message.msg_iovlen++] = (struct iovec){
            (char *)part->iov_base + at, n};
        len += n;
        at = 0;
    }
    more |= len < payload->left;
    return sendmsg(fd, &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
}

/* Returns the largest number of records that `len` bytes can become. */
static uint64_t count_records(size_t len)
{
    return len / TLS_RECORD_BYTES + 1;
}

/* Ends a connection whose key has sealed as many records as it may. A caller
 * that heeds tls_is_worn() ends the connection earlier. */
static enum io_result wear_out(struct tls *tls)
{
    if (!tls->is_broken)
        tls_taken_end(tls);
    tls->is_broken = true;
    errno = EPROTO;
    return IO_FAILED;
}

static enum io_result send_by_kernel(struct tls *tls,
                                     const struct payload *payload, bool more,
                                     size_t *len_out)
{
    size_t most = plan_bytes(tls, payload->left);
    off_t offset = (off_t)payload->offset;
    uint64_t *records = &tls->taken->out.sequence;
    ssize_t sent;

    *len_out = 0;
    if (*records + count_records(most) > TLS_RECORDS_MAX)
        return wear_out(tls);
    sent = payload->parts ? send_parts(tls->fd, payload, most, more)
                          : sendfile(tls->fd, payload->file, &offset, most);
    if (sent > 0) {
        *records += count_records((size_t)sent);
        *len_out = (size_t)sent;
        return IO_DONE;
    }
    if (sent == 0)
        return IO_EOF;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ||
                   errno == ENOMEM
               ? IO_AGAIN_WRITE
               : IO_FAILED;
}

/* --- Sending ------------------------------------------------------------- */

static enum io_result send_payload(struct tls *tls, struct payload *payload,
                                   bool more, size_t *len_out)
{
    bool joins = tls->is_deferred && payload->parts && payload->left > 0;
    enum io_result result = joins ? IO_DONE : tls_wire_send_kept(tls);
    size_t owed;

    *len_out = 0;
    if (tls->is_broken || tls->is_mute) {
        errno = tls->error != 0 ? tls->error : EPROTO;
        return IO_FAILED;
    }
    if (result != IO_DONE)
        return result;
    owed = tls->owed < payload->left ? tls->owed : payload->left;
    tls->owed -= (uint32_t)owed;
    skip(payload, owed);
    *len_out = owed;
    begin_burst(tls, payload->left);
    if (owed == 0 && payload->left > 0 && is_by_kernel(tls, payload))
        return send_by_kernel(tls, payload, more, len_out);
    tls->buffers->current = tls;
    tls->buffers->out_len = 0; /* may have bytes of a connection that broke */
    ERR_clear_error();
    tls_wire_resume(tls);
    if (tls->taken && tls_taken_is_due(tls->taken))
        tls_taken_update(tls);
    if (tls->is_broken)
        result = IO_FAILED;
    while (result == IO_DONE && payload->left > 0)
        result = send_batch(tls, payload, more, len_out);
    return *len_out > 0 && !tls->is_broken && !tls->is_mute ? IO_DONE : result;
}

bool tls_is_worn(const struct tls *tls)
{
    return (tls->taken && tls->taken->by_kernel &&
            tls->taken->out.sequence >= TLS_RECORDS_DUE) ||
           tls_client_has_expired(tls);
}

void tls_limit_unsent(struct tls *tls, uint32_t bytes)
{
    tls->unsent_max = bytes;
}

enum io_result tls_send(struct tls *tls, const struct iovec *parts,
                        size_t count, bool more, size_t *len_out)
{
    struct payload payload = {.parts = parts};

    for (size_t i = 0; i < count; i++)
        payload.left += parts[i].iov_len;
    return send_payload(tls, &payload, more, len_out);
}

enum io_result tls_send_file(struct tls *tls, int file, uint64_t offset,
                             size_t len, size_t *len_out)
{
    struct payload payload = {.file = file, .offset = offset, .left = len};

    return send_payload(tls, &payload, false, len_out);
}
