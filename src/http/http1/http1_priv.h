/*
 * http1_priv - the steps of reading and writing a head, a file each:
 *
 *   http1_lint.c     finds the head's end, and checks every byte
 *   http1.c          has http-parser take the head apart
 *   http1_meaning.c  checks what the parts of a request say together: target,
 *                    Host, framing (Content-Length, Transfer-Encoding)
 *   http1_reply.c    reads the head of a reply, and checks what it says
 *   http1_frame.c    writes heads (http/http1/http1_frame.h)
 */
#ifndef HTTP_HTTP1_HTTP1_PRIV_H
#define HTTP_HTTP1_HTTP1_PRIV_H

#include "http/reply.h"

/*
 * What a byte may be part of, as RFC 9110 5.6.2 (token), 5.5 (field value:
 * HTAB, SP, VCHAR, obs-text), RFC 9112 3.2 (target) and RFC 3986 3.2.2
 * (reg-name) have it. A target may have all visible ASCII but '#', since
 * clients do send '|' and '"' and there is no other way to read them. Further
 * bytes that a query may have are in http1_lint.c.
 */
enum {
    IN_TOKEN = 1,
    IN_VALUE = 2,
    IN_TARGET = 4,
    IN_HOST = 8,
    IS_PERCENT = 16 /* '%', which begins an escape */
};

extern const uint8_t http1_byte_sets[256];

static inline unsigned http1_sets_of(char c)
{
    return http1_byte_sets[(unsigned char)c];
}

static inline bool http1_is_in(char c, unsigned set)
{
    return http1_sets_of(c) & set;
}

static inline bool http1_all_in(struct bytes text, unsigned set)
{
    unsigned every = set;

    for (size_t i = 0; i < text.len; i++)
        every &= http1_byte_sets[(unsigned char)text.data[i]];
    return every == set;
}

/* Whether all bytes are IN_VALUE. Eight bytes are looked at together, because
 * each line of a head is checked here. */
bool http1_is_value(struct bytes text);

/* The reason for refusing a reply without a valid status. It is no member of
 * enum reason, because no request can be refused for it. */
#define REASON_REPLY_STATUS REASON_COUNT

/* The rules that heads of requests and heads of replies do not share. */
struct http1_rules {
    enum reason (*check_first)(struct bytes line);
    uint32_t head_bytes_max;
    uint32_t first_bytes_max; /* longest first line */
    uint8_t leading_crlf_max; /* most empty lines before the first line */
};

/* Looks for the end of the head, and checks all lines, even a last one that is
 * incomplete. On HTTP1_DONE *used_out is the head's length. On HTTP1_BAD
 * *reason_out is what check_first() returned for the first line, or tells what
 * is wrong with another line. */
enum http1_verdict http1_find_end(const struct http1_rules *rules,
                                  struct http1_progress *progress,
                                  const char *data, size_t len,
                                  size_t *used_out, enum reason *reason_out);

/* Checks a request line: method SP target SP version. */
enum reason http1_check_request_line(struct bytes line);

/* Checks the target of a request: strictly in the path, less strictly in the
 * query. */
bool http1_is_target(struct bytes target);

/* Finds the method with that name. Returns false when nobody has registered the
 * name. */
MUST_USE bool http1_find_method(struct bytes name, enum method *method_out);

/* Checks the eight bytes of a version. Returns REASON_REQUEST_LINE when they
 * are not "HTTP/" DIGIT "." DIGIT, REASON_VERSION when the major version is not
 * 1, and REASON_NONE otherwise. */
enum reason http1_check_version(struct bytes version);

/* Reads the version and the fields of a reply with http-parser, after the whole
 * head was checked. Returns false when http-parser finds a fault all the
 * same. */
MUST_USE bool http1_take_reply(struct reply *reply, struct bytes head);

/* Reads a Content-Length: digits only, well below 2^63. */
MUST_USE bool http1_read_length(struct bytes value, uint64_t *length_out);

/* Whether every '%' begins an escape of two hexadecimal digits. */
bool http1_escapes_are_valid(struct bytes text);

/* Reads target, Host, Content-Length, Transfer-Encoding, Connection and
 * Expect of a request whose fields are set. */
enum reason http1_read_meaning(struct request *request);

#endif
