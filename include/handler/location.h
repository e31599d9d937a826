/*
 * location - what a place of a site is told to do: one set of values for what
 * can be said at the top of a configuration, in a site or in a location. What
 * is not said there is as in what it lies in.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing: texts and lists lie in the configuration's arena.
 */
#ifndef HANDLER_LOCATION_H
#define HANDLER_LOCATION_H

#include <stdint.h>

#include "base/cidr.h"
#include "base/texts.h"

struct location_options {
    const char *root;     /* what is below it is served by the whole path */
    const char *alias;    /* the same, by what is behind the location's */
    bool autoindex;       /* list directories that have no index */
    bool show_hidden;     /* serve names that begin with a dot */
    bool follow_symlinks; /* also those that lead out of the root */
    const char *cache_control; /* field value; NULL: none */
};

#endif
