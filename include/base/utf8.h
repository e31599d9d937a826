/*
 * utf8 - checks whether bytes are UTF-8 (RFC 3629: no overlong forms, no
 * surrogates, at most U+10FFFF).
 *
 * Thread: any; no state.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/bytes.h"

/* Returns how many bytes the first character of `text` takes; 0 if it is not
 * valid. `text` has `len` bytes, at least 1. */
size_t utf8_len(const unsigned char *text, size_t len);

bool utf8_is_valid(struct bytes text);

/* Returns true if the character of `len` bytes at `text` might control a
 * terminal, or make it show text in another place. Such are the control
 * characters (C0, C1) and the characters that change the writing direction. */
bool utf8_is_order(const unsigned char *text, size_t len);

/* Replaces characters that a terminal might obey, and bytes that are not UTF-8,
 * by '?'. With `keeps_lines`, line ends and tabs stay. */
void utf8_disarm(char *text, size_t len, bool keeps_lines);

#endif
