/*
 * docroots - the roots that a configuration names, each opened once.
 *
 * Thread: opened and closed by the main thread; any may look in between.
 * Owns:   their descriptors; the list lies in the arena, names are borrowed.
 */
#ifndef FILES_DOCROOTS_H
#define FILES_DOCROOTS_H

#include "base/arena.h"
#include "files/docroot.h"

struct docroots_item {
    const char *directory;
    bool follow_symlinks;
    struct docroot *root;
};

/* A zeroed set of roots is empty. */
struct docroots {
    struct docroots_item *items;
    size_t count;
};

/* Opens directory, unless it is open. 0 or -errno. */
MUST_USE int docroots_open(struct docroots *docroots, struct arena *arena,
                           const char *directory, bool follow_symlinks);

/* The root of a directory that was opened. */
const struct docroot *docroots_find(const struct docroots *docroots,
                                    const char *directory,
                                    bool follow_symlinks);

void docroots_close(struct docroots *docroots);

#endif
