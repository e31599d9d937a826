/*
 * utf8 - whether bytes are text (RFC 3629: no overlong forms, no surrogates,
 * at most U+10FFFF).
 *
 * Thread: any; no state.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/bytes.h"

/* How many bytes the character at the head of text takes; text has len bytes, 1
 * or more. 0: there is none. */
size_t utf8_len(const unsigned char *text, size_t len);

bool utf8_is_valid(struct bytes text);

/* Whether a terminal might take the character at the head of text, of len
 * bytes, for an order, or show text elsewhere than where it stands: controls of
 * both sets, and of direction. */
bool utf8_is_order(const unsigned char *text, size_t len);

/* Puts '?' in the place of orders and of bytes that are no text. */
void utf8_disarm(char *text, size_t len, bool keeps_lines);

#endif
