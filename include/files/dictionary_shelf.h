/*
 * dictionary_shelf - which versions are kept, and which have to go: of each
 * rule the newest, by the time of their files, and of two of the same time the
 * one that came later; of all together as many, and as many bytes, as there is
 * room for.
 *
 * Thread: the owner's, one at a time.
 * Owns:   one reference to each.
 */
#ifndef FILES_DICTIONARY_SHELF_H
#define FILES_DICTIONARY_SHELF_H

#include "files/dictionary.h"

enum {
    DICTIONARY_VERSIONS_MAX = 7, /* versions of a rule besides the newest */
    DICTIONARY_SHELF_MAX = 128   /* of all rules, former ones included */
};
#define DICTIONARY_SHELF_BYTES_MAX (256ull << 20)

/* A shelf is empty when all but versions is zero. */
struct dictionary_shelf {
    unsigned versions; /* versions of a rule besides the newest */
    size_t count;
    struct dictionary_place {
        struct dictionary *item;
        bool is_checked;                /* its bytes had the hash */
    } places[DICTIONARY_SHELF_MAX + 1]; /* by the order in which they came */
    size_t gone_count;
    struct dictionary *gone[DICTIONARY_SHELF_MAX + 1]; /* to be removed */
};

/* Finds the place of a dictionary. NULL: it is not there. */
struct dictionary_place *dictionary_shelf_find(
    struct dictionary_shelf *shelf, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

/* Whether the dictionary is not there yet, and would stay. */
bool dictionary_shelf_wants(struct dictionary_shelf *shelf,
                            const struct dictionary *item);

/* Takes item over. It, and others, may be among the gone then, which must be
 * empty before. */
void dictionary_shelf_add(struct dictionary_shelf *shelf,
                          struct dictionary *item, bool is_checked);

/* Lets damaged dictionaries go. */
void dictionary_shelf_sort_out(struct dictionary_shelf *shelf);

/* Takes one of the dictionaries that are gone, whose reference is the caller's;
 * NULL: none. */
struct dictionary *dictionary_shelf_take_gone(struct dictionary_shelf *shelf);

void dictionary_shelf_fini(struct dictionary_shelf *shelf);

#endif
