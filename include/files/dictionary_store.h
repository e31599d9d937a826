/*
 * dictionary_store - the dictionaries in a folder, where they outlive a
 * restart, and the thread that writes them there.
 *
 *   worker --note--> queue --> thread: read, hash, write beside, sync, rename
 *   worker --find--> the dictionary with a rule and a hash, if it is kept
 *
 * dictionary_shelf.h decides which dictionaries are kept. Files that are in the
 * folder at the start are compared with their hashes by the thread; a
 * dictionary is found only once its check has begun, and a damaged one is
 * removed. When the disk is full, this is logged once, nothing is kept, and
 * answers are sent as if there were no dictionaries.
 *
 * Thread: open, stop and close are for the main thread; the rest for any, under
 *         one mutex that is held for only a few steps.
 * Owns:   the folder's descriptor, and the notes.
 */
#ifndef FILES_DICTIONARY_STORE_H
#define FILES_DICTIONARY_STORE_H

#include "files/dictionary_notes.h"
#include "files/dictionary_shelf.h"

struct dictionary_store; /* opaque */

/* Opens the folder, which must exist, and reads the names in it. Returns 0 or
 * -errno. Nothing is written before the thread runs, but old files may be
 * removed. */
MUST_USE int dictionary_store_open(struct dictionary_store **store_out,
                                   const char *folder, unsigned versions);
MUST_USE int dictionary_store_start(struct dictionary_store *store);
void dictionary_store_stop(struct dictionary_store
                               *store); /* ends the thread */
void dictionary_store_close(struct dictionary_store
                                *store); /* NULL is accepted */

/* Tells the thread to keep a file as a dictionary. Returns false, and tells
 * nothing, when too many files wait, or there is no memory or descriptor. */
bool dictionary_store_note(struct dictionary_store *store,
                           const struct dictionary_note *note);

/* Finds a dictionary, and gives the caller a reference to it. Returns NULL when
 * the dictionary is not kept, not checked yet, or damaged. */
MUST_USE struct dictionary *dictionary_store_find(
    struct dictionary_store *store, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

#endif
