/*
 * head_edit - what an operator changes in the heads of answers: fields set,
 * added, removed.
 *
 * Edits are made in the order given. No edit can change the fields that frame
 * or date a message, or those about the connection.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HTTP_HEAD_EDIT_H
#define HTTP_HEAD_EDIT_H

#include "base/buf.h"

enum {
    HEAD_EDITS_MAX = 32,
    HEAD_EDIT_NAME_MAX = 100,
    HEAD_EDITS_BYTES_MAX = 8192 /* bytes that edits may add to a head */
};

enum head_edit_kind {
    HEAD_SET,   /* "Name: value" replaces all lines of that name */
    HEAD_ADD,   /* "Name: value" is one more line */
    HEAD_REMOVE /* "Name" removes all lines of that name */
};

struct head_edits {
    size_t count;
    size_t bytes; /* private: bytes that the edits may add */
    struct head_edit {
        enum head_edit_kind kind;
        struct bytes name;
        struct bytes value;
    } edits[HEAD_EDITS_MAX];
};

/* Adds an edit to `edits`, which began as all zero. Returns NULL, or what is
 * wrong with `text`, as words to put behind `text`. */
MUST_USE const char *head_edits_add(struct head_edits *edits,
                                    enum head_edit_kind kind,
                                    struct bytes text);

/* Returns the value that the edits set Content-Type to; `fallback` if no edit
 * sets it. */
struct bytes head_edits_type(const struct head_edits *edits,
                             struct bytes fallback);

/* Makes the edits in `head`, which has whole lines from offset `from` on, and
 * no empty line. Content-Type is set only where there is one already,
 * since an answer without a body has no type. The type of multipart/byteranges
 * stays, and with keeps_type every type stays. */
void head_edits_apply(const struct head_edits *edits, struct buf *head,
                      size_t from, bool keeps_type);

/* Drops all lines of that name that `head` has from offset `from` on. */
void head_drop(struct buf *head, size_t from, struct bytes name);

/* Finds the first field of that name that `head` has from offset `from` on.
 * Returns its value, whose data is NULL when there is no such field. */
struct bytes head_find(struct bytes head, size_t from, struct bytes name);

/* Does as head_find() from *at on, and moves *at behind the line found. So the
 * next call finds the next line: a list may be spread over several lines (RFC
 * 9110 5.3). */
struct bytes head_find_next(struct bytes head, size_t *at, struct bytes name);

/* head_is_token(): whether `text` is a token (RFC 9110 5.6.2). head_is_value():
 * whether `text` may be a field's value (5.5). */
bool head_is_token(struct bytes text);
bool head_is_value(struct bytes text);

/* Whether a token of HTTP is also a token of structured fields (RFC 9651
 * 3.3.4). A structured field gets any other token ("10.0.0.1") as a string, in
 * quotes. */
bool head_is_sf_token(struct bytes token);

#endif
