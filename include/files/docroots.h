/*
 * docroots - the roots that a configuration names, each opened once.
 *
 * Thread: the main thread opens and closes; meanwhile any thread may search.
 * Owns:   their descriptors. The list is in the arena, names are borrowed.
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

/* A set of roots that is all zero is empty. */
struct docroots {
    struct docroots_item *items;
    size_t count;
};

/* Opens `directory` as a root, unless it was opened before with the same
 * follow_symlinks. Returns 0 or -errno. */
MUST_USE int docroots_open(struct docroots *docroots, struct arena *arena,
                           const char *directory, bool follow_symlinks);

/* Returns the root of a directory that was opened with the same
 * follow_symlinks. Returns NULL when there is no such root. */
const struct docroot *docroots_find(const struct docroots *docroots,
                                    const char *directory,
                                    bool follow_symlinks);

void docroots_close(struct docroots *docroots);

#endif
