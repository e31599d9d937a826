/*
 * head_edit - what an operator changes in the heads of answers: fields set,
 * added, removed.
 *
 * Edits are made in the order given. They cannot change how a message is framed
 * and dated, nor what belongs to the connection.
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
    HEAD_SET,   /* "Name: value": in the place of all lines of that name */
    HEAD_ADD,   /* "Name: value": one more line */
    HEAD_REMOVE /* "Name" */
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

/* Adds an edit to edits, which began as all zero. Returns NULL, or what is
 * wrong with text, as words to put behind it. */
MUST_USE const char *head_edits_add(struct head_edits *edits,
                                    enum head_edit_kind kind,
                                    struct bytes text);

/* What edits set Content-Type to; fallback if they do not. */
struct bytes head_edits_type(const struct head_edits *edits,
                             struct bytes fallback);

/* Makes the edits in a head: whole lines from the offset from on, without the
 * empty line. Content-Type is set only where there is one already, since an
 * answer without a body has no type; that of multipart/byteranges stays, and
 * with keeps_type any. */
void head_edits_apply(const struct head_edits *edits, struct buf *head,
                      size_t from, bool keeps_type);

/* Drops all lines of that name from such a head. */
void head_drop(struct buf *head, size_t from, struct bytes name);

/* The value of the first field of that name in head from the offset from on;
 * its data is NULL when there is none. */
struct bytes head_find(struct bytes head, size_t from, struct bytes name);

/* As head_find(), from *at on; moves *at behind that line. The next call finds
 * the next line: a list may be spread over several (RFC 9110 5.3). */
struct bytes head_find_next(struct bytes head, size_t *at, struct bytes name);

/* Whether text is a token, and whether it may be a field's value: RFC 9110
 * 5.6.2 and 5.5. */
bool head_is_token(struct bytes text);
bool head_is_value(struct bytes text);

/* Whether such a token is one of structured fields, too (RFC 9651 3.3.4). If it
 * is not ("10.0.0.1"), quotes around it make it a string there. */
bool head_is_sf_token(struct bytes token);

#endif
