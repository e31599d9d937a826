/*
 * fuzz_tls_records - records that a client sends over TLS 1.3 once the
 * handshake is done, who has the keys and does with them what it likes.
 *
 * The first two bytes say in which pieces the records come, and in which they
 * are asked for. The rest is records: a byte of type, one of length, and the
 * payload, which is sealed; of the type 0 are bytes that go over the wire as
 * they are. The server's end must give what was in records of data, in their
 * order and nothing else, up to the first that no client may send. Any breach
 * aborts.
 */
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "head_checks.h"
#include "io/tls/tls_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WIRE_MAX = 65536, RAW = 0, REQUESTED = 4, IDLE_MAX = 32 };

static const unsigned char secret[32] = "what both know of one direction";

/* What a client has sent, and what of it is data. */
struct script {
    char wire[WIRE_MAX];
    size_t wire_len;
    char payload[WIRE_MAX];
    size_t payload_len;
    bool is_whole; /* nothing in it is a fault, or bytes as they are */
    char begun[5]; /* of a message that comes in pieces */
    size_t begun_len;
    unsigned idle; /* records in a row without data */
};

static struct script script;
static struct tls_buffers *buffers;

/* --- The client ---------------------------------------------------------- */

/* Whether a piece of an update goes on with what has come of it. */
static bool is_update(int type, struct bytes payload)
{
    if (type != TLS_CONTENT_HANDSHAKE || payload.len == 0 ||
        payload.len > sizeof(script.begun) - script.begun_len)
        return false;
    memcpy(script.begun + script.begun_len, payload.data, payload.len);
    script.begun_len += payload.len;
    return memcmp(script.begun, "\x18\0\0\x01",
                  script.begun_len < 4 ? script.begun_len : 4) == 0 &&
           (script.begun_len < sizeof(script.begun) ||
            (unsigned char)script.begun[REQUESTED] <= 1);
}

static bool is_harmless_alert(int type, struct bytes payload)
{
    return type == TLS_CONTENT_ALERT && payload.len == 2 &&
           payload.data[1] == TLS_ALERT_USER_CANCELED;
}

/* A payload that ends in zeros is no other, as the type stands behind it. */
static void write_record(struct tls_direction *out, int type,
                         struct bytes payload)
{
    char *at = script.wire + script.wire_len;

    if (type == RAW) {
        memcpy(at, payload.data, payload.len);
        script.wire_len += payload.len;
        script.is_whole &= payload.len == 0;
        return;
    }
    script.wire_len += tls_record_seal(out, (enum tls_content)type,
                                       payload.data, payload.len, at);
    script.idle = type == TLS_CONTENT_DATA && payload.len > 0 ? 0
                                                              : script.idle + 1;
    script.is_whole &= script.idle <= IDLE_MAX &&
                       (script.begun_len == 0 || type == TLS_CONTENT_HANDSHAKE);
    if (!script.is_whole)
        return;
    if (type == TLS_CONTENT_DATA) {
        memcpy(script.payload + script.payload_len, payload.data, payload.len);
        script.payload_len += payload.len;
    } else if (is_update(type, payload)) {
        if (script.begun_len < sizeof(script.begun))
            return;
        CHECK(tls_direction_update(out));
        script.begun_len = 0;
    } else if (!is_harmless_alert(type, payload)) {
        script.is_whole = false;
    }
}

static void write_script(const struct tls_suite *suite, const char *data,
                         size_t size)
{
    struct bytes known = {(const char *)secret, sizeof(secret)};
    struct tls_direction out;

    script.wire_len = script.payload_len = script.begun_len = 0;
    script.idle = 0;
    script.is_whole = true;
    CHECK(tls_direction_init(&out, suite, known, true));
    while (size >= 2) {
        int type = (unsigned char)data[0];
        size_t len = (unsigned char)data[1];

        if (len > size - 2)
            len = size - 2;
        if (script.wire_len + len + TLS_RECORD_SEALED > WIRE_MAX)
            break;
        write_record(&out, type, (struct bytes){data + 2, len});
        data += 2 + len;
        size -= 2 + len;
    }
    tls_direction_fini(&out);
}

/* --- The server ---------------------------------------------------------- */

static struct tls *make_server(int fd)
{
    struct bytes known = {(const char *)secret, sizeof(secret)};
    struct tls *tls = calloc(1, sizeof(*tls));
    struct tls_taken *taken = calloc(1, sizeof(*taken) + 1);

    CHECK(tls && taken);
    list_init(&tls->work.list);
    CHECK(tls_direction_init(&taken->in, &buffers->suites[0], known, false));
    CHECK(tls_direction_init(&taken->out, &buffers->suites[0], known, true));
    tls->buffers = buffers;
    tls->taken = taken;
    tls->fd = fd;
    tls->is_open = tls->has_heard = true;
    tls->record_extra = TLS_RECORD_SEALED;
    return tls;
}

/* Up to the end, or until no more comes. */
static void receive(struct tls *tls, int far_fd, size_t piece, size_t asked)
{
    static char got[256];
    char answers[4096];
    size_t sent = 0;
    size_t at = 0;
    enum io_result result = IO_AGAIN_READ;
    size_t len;

    while (result == IO_DONE || sent < script.wire_len) {
        size_t left = script.wire_len - sent;

        if (!tls_has_unread(tls) && left > 0) {
            ssize_t n = send(far_fd, script.wire + sent,
                             left < piece ? left : piece, MSG_NOSIGNAL);

            sent += n > 0 ? (size_t)n : 0;
        }
        while (recv(far_fd, answers, sizeof(answers), 0) > 0)
            ;
        result = tls_receive(tls, got, asked, &len);
        CHECK((result == IO_DONE) == (len > 0));
        CHECK(len <= asked && len <= script.payload_len - at);
        CHECK(memcmp(got, script.payload + at, len) == 0);
        at += len;
        if (result == IO_EOF || result == IO_FAILED)
            break;
    }
    CHECK(result != IO_DONE);
    CHECK(at == script.payload_len);
    CHECK(!script.is_whole || result == IO_AGAIN_READ);
    if (result == IO_FAILED || result == IO_EOF)
        CHECK(tls_receive(tls, got, asked, &len) == result && len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tls *tls;
    int fds[2];

    if (!buffers)
        CHECK((buffers = tls_buffers_create()) != NULL);
    if (size < 2)
        return 0;
    write_script(&buffers->suites[0], (const char *)data + 2, size - 2);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    tls = make_server(fds[0]);
    receive(tls, fds[1], 1 + 16 * (size_t)data[0], 1 + (size_t)data[1]);
    tls_destroy(tls);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
