/*
 * h2_reply - what a server answers on a stream of HTTP/2, read strictly
 * (RFC 9113 8).
 *
 * Whatever a careful client could not accept fails the test: fields of a
 * connection, upper case, pseudo-fields out of place, a Content-Length that is
 * not that of the body, anything behind the end.
 *
 * Thread: the test's.
 * Owns:   nothing: all its memory is freed after the test.
 */
#ifndef E2E_H2_REPLY_H
#define E2E_H2_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { H2_FIELDS_MAX = 64, H2_EARLY_MAX = 8 };

struct h2_field {
    const char *name;
    const char *value;
};

/* One block of fields, as the server has encoded it. */
struct h2_fields {
    size_t count;
    struct h2_field list[H2_FIELDS_MAX];
};

struct h2_reply {
    uint32_t stream;
    bool to_head;       /* it answers HEAD */
    bool is_given_up;   /* the client has reset it */
    bool has_ended;     /* by END_STREAM */
    bool is_reset;      /* by the server */
    uint32_t code;      /* of that */
    unsigned status;    /* 0: none yet */
    size_t early_count; /* of answers 1xx before */
    unsigned early[H2_EARLY_MAX];
    struct h2_fields early_fields; /* of the last of these */
    struct h2_fields fields;
    struct h2_fields trailers;
    char *body; /* as far as it is kept */
    size_t body_len;
    int64_t window; /* the server may send so many bytes of DATA */
    int64_t send_window;
    /* private */
    bool is_unkept; /* body is counted only */
    size_t cap;
    size_t consumed; /* since the last WINDOW_UPDATE */
};

/* A block has come; ends: with END_STREAM. */
void h2_reply_fields(struct h2_reply *reply, const struct h2_fields *fields,
                     bool ends);

/* So has a piece of the body. */
void h2_reply_data(struct h2_reply *reply, const uint8_t *data, size_t len,
                   bool ends);

/* The value of a field, NULL when there is none; flunks when it comes twice. */
const char *h2_field(const struct h2_fields *fields, const char *name);

/* These say where they stand, and what was going_on(). */
#define expect_h2(reply, wanted) \
    check_h2_status(reply, wanted, __FILE__, __LINE__)
void check_h2_status(const struct h2_reply *reply, unsigned wanted,
                     const char *file, int line);
#define expect_h2_body(reply, wanted) \
    check_h2_body(reply, wanted, __FILE__, __LINE__)
void check_h2_body(const struct h2_reply *reply, const char *wanted,
                   const char *file, int line);
#define expect_h2_seeded(reply, seed, offset, len) \
    check_h2_seeded(reply, seed, offset, len, __FILE__, __LINE__)
void check_h2_seeded(const struct h2_reply *reply, uint64_t seed,
                     uint64_t offset, size_t len, const char *file, int line);
#define expect_h2_field(reply, name, wanted) \
    check_h2_field(reply, name, wanted, __FILE__, __LINE__)
void check_h2_field(const struct h2_reply *reply, const char *name,
                    const char *wanted, const char *file, int line);

#endif
