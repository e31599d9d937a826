/*
 * dictionary_shelf - decides which dictionaries are kept.
 *
 * Of each rule, the newest versions are kept. The time of its file tells how
 * new a version is; of two versions with the same time, the one that was added
 * later counts as newer. All dictionaries together are limited in number and in
 * bytes, too; the oldest go first.
 *
 * Thread: one at a time; the owner of the shelf sees to that.
 * Owns:   one reference to each dictionary on it.
 */
#ifndef FILES_DICTIONARY_SHELF_H
#define FILES_DICTIONARY_SHELF_H

#include "files/dictionary.h"

enum {
    DICTIONARY_VERSIONS_MAX = 7, /* most versions of a rule besides the
                                    newest */
    DICTIONARY_SHELF_MAX = 128   /* most dictionaries of all rules, even of
                                    rules no longer in use */
};
#define DICTIONARY_SHELF_BYTES_MAX (256ull << 20)

/* A shelf is empty when all members but `versions` are zero. */
struct dictionary_shelf {
    unsigned versions; /* most versions of a rule besides the newest */
    size_t count;
    struct dictionary_place {
        struct dictionary *item;
        bool is_checked;                /* its check has begun, or is done */
    } places[DICTIONARY_SHELF_MAX + 1]; /* in the order in which items came */
    size_t gone_count;
    struct dictionary *gone[DICTIONARY_SHELF_MAX + 1]; /* dictionaries whose
                                                          files are to be
                                                          removed */
};

/* Returns the place of a dictionary, or NULL when the dictionary is not on the
 * shelf. */
struct dictionary_place *dictionary_shelf_find(
    struct dictionary_shelf *shelf, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

/* Returns true if the dictionary is not on the shelf, and would not have to go
 * at once if it were added. */
bool dictionary_shelf_wants(struct dictionary_shelf *shelf,
                            const struct dictionary *item);

/* Adds `item`, whose reference is taken over. Dictionaries that have to go,
 * perhaps `item` itself, are moved to `gone`, which must be empty before. */
void dictionary_shelf_add(struct dictionary_shelf *shelf,
                          struct dictionary *item, bool is_checked);

/* Moves damaged dictionaries to `gone`. */
void dictionary_shelf_sort_out(struct dictionary_shelf *shelf);

/* Takes a dictionary out of `gone`, with its reference. Returns NULL when
 * `gone` is empty. */
struct dictionary *dictionary_shelf_take_gone(struct dictionary_shelf *shelf);

void dictionary_shelf_fini(struct dictionary_shelf *shelf);

#endif
