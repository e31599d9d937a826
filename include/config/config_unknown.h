/*
 * config_unknown - reports a word that is not a key in the section where it
 * stands.
 *
 * The message names the section where the word belongs, or the counterpart of a
 * word from another server (config_foreign.h), or says "did you mean" with the
 * nearest key (suggest.h).
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_UNKNOWN_H
#define CONFIG_CONFIG_UNKNOWN_H

#include "config/config_section.h"
#include "config/config_text.h"

/* Reports `key`, with which a statement in `section` begins; `behind` is the
 * token after it. Returns true if another server's statement has this form.
 * Then the reader must skip the rest of the line, and a block that begins
 * there. */
bool config_tell_unknown(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key,
                         const struct config_token *behind);

/* Reports a word in a block of another server's configuration. Does nothing if
 * the word is unknown to config_foreign.h. */
void config_tell_foreign(struct faults *faults,
                         const struct config_section *section,
                         const struct config_token *key);

#endif
