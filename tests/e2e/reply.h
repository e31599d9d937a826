/*
 * reply - what a server answers, read strictly (RFC 9110, 9112).
 *
 * Whatever a careful client, or a proxy with other clients behind it, could
 * misunderstand fails the test: line ends, fields that come twice, a length
 * beside chunks, a body where none may be, a missing or malformed Date. One
 * that came through a proxy (Via) need not have what only we promise.
 *
 * Thread: the test's.
 * Owns:   the text of its head; the body lies in the bytes that were read.
 */
#ifndef E2E_REPLY_H
#define E2E_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLY_FIELDS_MAX = 40, REPLY_HEAD_MAX = 32768 };

enum reply_framing {
    REPLY_NO_BODY,
    REPLY_BY_LENGTH,
    REPLY_BY_CHUNKS,
    REPLY_BY_CLOSE
};

struct reply {
    unsigned status;
    size_t field_count;
    struct {
        const char *name;
        const char *value;
    } fields[REPLY_FIELDS_MAX];
    enum reply_framing framing;
    uint64_t length; /* Content-Length; for HEAD that of no body */
    const char *body;
    size_t body_len;
    /* private */
    size_t at; /* how much of the message has been read */
    size_t head_len;
    size_t chunk_left;
    int chunk_state;
    char text[REPLY_HEAD_MAX];
};

/* Before the first byte of a message. */
void reply_begin(struct reply *reply);

/* Goes on at data, which holds the message from its first byte; chunks are
 * joined in place. is_all: the connection has ended there. to_head: it
 * answers HEAD. The length of the whole message, or 0 when more is needed. */
size_t reply_parse(struct reply *reply, char *data, size_t len, bool is_all,
                   bool to_head);

/* The value of a field, NULL when there is none. */
const char *reply_field(const struct reply *reply, const char *name);

/* Whether a field is a list that holds the token, in any case. */
bool reply_lists(const struct reply *reply, const char *name,
                 const char *token);

/* Seconds since the epoch of an IMF-fixdate; fails when it is none. */
int64_t http_date(const char *text);
/* And back. */
const char *http_date_text(int64_t seconds, char out[30]);

#endif
