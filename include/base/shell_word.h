/*
 * shell_word - quotes a text as one word of a shell command, for people to
 * paste.
 *
 * Thread: any; no state.
 */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include "base/bytes.h"

/* The size of the buffer for a text of `len` bytes: each quote in the text
 * becomes four bytes, and two quotes and a NUL are added. */
#define SHELL_WORD_SIZE(len) (4 * (len) + 3)

/* Quotes at most `len` bytes of `text` into `word`, which has room for
 * SHELL_WORD_SIZE(len) bytes. Characters that a terminal might obey, and bytes
 * that are not UTF-8, become '?'; the word is then no longer the same text. */
void shell_word_put(char *word, const char *text, size_t len);

#endif
