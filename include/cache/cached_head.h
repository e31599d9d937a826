/*
 * cached_head - the fields of an answer as a cache keeps them: whole lines in a
 * row, each with its CRLF.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHED_HEAD_H
#define CACHE_CACHED_HEAD_H

#include "base/buf.h"
#include "cache/cache_control.h"

struct cached_line {
    struct bytes line; /* the whole line with its CRLF */
    struct bytes name;
    struct bytes value;
};

/* Takes the next line off *lines. Returns false when there is none. */
bool cached_head_next(struct bytes *lines, struct cached_line *line_out);

/* Returns the value of the first field with that name; its data is NULL when
 * there is no such field. */
struct bytes cached_head_find(struct bytes lines, struct bytes name);

/* Whether a list of names, with commas between, has this name. */
bool cached_head_is_listed(struct bytes list, struct bytes name);

/* Whether the field with that name has tags: Cache-Tag, Surrogate-Key, xkey. */
bool cached_head_is_tags(struct bytes name);

/* Whether lines have a field with one of these tags. Commas or blanks stand
 * between tags. */
bool cached_head_has_tag(struct bytes lines, struct bytes tags);

/* Splits the fields of a reply. `shown` gets the fields that are kept and sent,
 * `hidden` those for caches like this one. Two kinds of fields go to neither:
 * fields about one answer or connection (Age, Content-Length, Trailer), and
 * fields that `control` lists as for one client (private="...",
 * no-cache="..."). Other clients do not get these even by asking whether the
 * answer is still good. */
void cached_head_keep(struct bytes lines, const struct cache_control *control,
                      struct buf *shown, struct buf *hidden);

/* Puts the fields of a stored answer, updated by those of a 304 (RFC 9111 3.2).
 * Each field of the 304 replaces all stored fields of its name, except fields
 * that describe the stored bytes. Cookies of the 304 are for the asker alone,
 * and remove the stored cookies. A 304 without a Date removes the stored Date,
 * which is older than what is known now. */
void cached_head_update(struct bytes stored, struct bytes fresh,
                        struct buf *out);

/* Puts the fields of an answer that are for the asker alone: those that
 * `control` lists and, with is_update, cookies. is_update tells that the answer
 * is a 304. */
void cached_head_put_own(struct bytes fresh,
                         const struct cache_control *control, bool is_update,
                         struct buf *out);

/* Puts the fields of a 304 that say whether and how long the stored answer is
 * good. Also puts the cookies of the 304: because of them, cached_head_update()
 * removes the stored cookies. */
void cached_head_put_validity(struct bytes fresh, struct buf *out);

/* Puts only the lines that belong in a 304 (RFC 9110 15.4.5). */
void cached_head_put_not_modified(struct bytes lines, struct buf *out);

/* Puts the lines of an answer that a part of it has, too, or that an answer has
 * of which it is a part: all but those about the bytes of this one answer. */
void cached_head_put_for_part(struct bytes lines, struct buf *out);

#endif
