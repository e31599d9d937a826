/*
 * shell_word - a text as one word of a shell's command, for people to paste.
 *
 * Thread: any; no state.
 */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include "base/bytes.h"

/* Each quote becomes four bytes, and two quotes and a NUL are around them. */
#define SHELL_WORD_SIZE(len) (4 * (len) + 3)

/* Quotes text, at most len bytes of it, into a word that has room for that.
 * What a terminal would take for an order becomes '?', and such a word leads
 * nowhere.
 */
void shell_word_put(char *word, const char *text, size_t len);

#endif
