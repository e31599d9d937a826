/*
 * config_outline - which keys and sections a configuration file has, and on
 * which lines.
 *
 * libconfuse stops at the first key it does not know, lets the last of two
 * count, and knows the line of no value when it is asked later. The outline is
 * made before: it finds all unknown, misplaced and doubled keys and what is
 * wrong with the form, and blanks them, so that libconfuse reads the rest; the
 * n-th section and key are the same in both.
 *
 * Thread: the main thread's.
 * Owns:   nothing: it lies in the arena it is given; titles point into the
 *         text.
 */
#ifndef SERVER_CONFIG_OUTLINE_H
#define SERVER_CONFIG_OUTLINE_H

#include "server/config_section.h"
#include "server/config_source.h"

/* NULL: no memory. */
MUST_USE struct config_section *config_outline(
    const struct config_source *source, struct arena *arena,
    struct faults *faults);

#endif
