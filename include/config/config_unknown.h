/*
 * config_unknown - what is said of a word that is no key where it stands.
 *
 * The message says that the word belongs into another section, or what a word
 * of another server's is called here (config_foreign.h), or "did you mean" with
 * the nearest key (suggest.h).
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_UNKNOWN_H
#define CONFIG_CONFIG_UNKNOWN_H

#include "config/config_section.h"
#include "config/config_text.h"

/* key begins a statement in section; behind is the token that follows. True:
 * the statement is written in the way of another server, so that the reader
 * passes over the rest of its line, or over the block that begins there. */
bool config_tell_unknown(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key,
                         const struct config_token *behind);

/* Tells of a word in a block of another server's configuration; nothing is told
 * of a word that no server knows. */
void config_tell_foreign(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key);

#endif
