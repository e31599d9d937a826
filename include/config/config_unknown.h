/*
 * config_unknown - what is said of a word that is no key where it stands: that
 * it belongs elsewhere, what another server's word is here (config_foreign.h),
 * or what it may have been meant for.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_UNKNOWN_H
#define CONFIG_CONFIG_UNKNOWN_H

#include "config/config_section.h"
#include "config/config_text.h"

/* key begins a statement in section; behind: the token that follows. True: it
 * is written as another server has it, up to the end of its line, or of the
 * block that begins there. */
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
