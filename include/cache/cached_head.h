/*
 * cached_head - the fields of an answer, as a cache keeps them: whole lines,
 * one behind the other, each with its CRLF.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHED_HEAD_H
#define CACHE_CACHED_HEAD_H

#include "base/buf.h"
#include "cache/cache_control.h"

struct cached_line {
    struct bytes line; /* with its CRLF */
    struct bytes name;
    struct bytes value;
};

/* Takes the next line off lines. False: there is none. */
bool cached_head_next(struct bytes *lines, struct cached_line *line_out);

/* The value of the first field of that name; data is NULL when there is
 * none. */
struct bytes cached_head_find(struct bytes lines, struct bytes name);

/* Whether a list of names with commas between has that one. */
bool cached_head_is_listed(struct bytes list, struct bytes name);

/* Whether a field is one that names tags: Cache-Tag, Surrogate-Key, xkey. */
bool cached_head_is_tags(struct bytes name);

/* Whether a field that names tags has one of these; commas or blanks stand
 * between them. */
bool cached_head_has_tag(struct bytes lines, struct bytes tags);

/* Puts the fields of a reply that are kept into shown: all but those about one
 * answer or connection (Age, Content-Length, whose value a body has, Trailer),
 * and those that control lists as for one client (private="...",
 * no-cache="..."), which others do not get by asking later whether the answer
 * is still good. hidden gets those that are for caches like this one alone. */
void cached_head_keep(struct bytes lines, const struct cache_control *control,
                      struct buf *shown, struct buf *hidden);

/* Puts the fields of a stored answer, updated by those of a 304 (RFC 9111 3.2):
 * each field of the 304 takes the place of all of its name, but for fields that
 * describe the bytes that are stored. Cookies of the 304 are for the asker
 * alone, and end those that were stored. When the 304 has no Date, the stored
 * one goes all the same: it is older than what is known now. */
void cached_head_update(struct bytes stored, struct bytes fresh,
                        struct buf *out);

/* Puts the fields of an answer that are for the asker alone: those that control
 * lists and, when the answer is a 304 (is_update), cookies. */
void cached_head_put_own(struct bytes fresh,
                         const struct cache_control *control, bool is_update,
                         struct buf *out);

/* Puts of the fields of a 304 those that say whether and how long the stored
 * answer is good; and its cookies, which end those that were stored. */
void cached_head_put_validity(struct bytes fresh, struct buf *out);

/* Puts the lines that a 304 has (RFC 9110 15.4.5). */
void cached_head_put_not_modified(struct bytes lines, struct buf *out);

/* Puts all lines but those of that name. */
void cached_head_put_but(struct bytes lines, struct bytes name,
                         struct buf *out);

#endif
