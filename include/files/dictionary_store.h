/*
 * dictionary_store - the versions that clients may have of files, in a folder
 * where they outlive the release that follows them; and the thread that puts
 * them there.
 *
 *   worker --note--> queue --> thread: read, hash, write beside, sync, rename
 *   worker --find--> what is kept of a rule, by its hash
 *
 * Which are kept is the shelf's matter (dictionary_shelf.h). What the folder
 * has at the start is compared with its hash by the thread, and found after
 * that; what is damaged is removed. When the disk is full that is said once,
 * and nothing is kept: answers are sent as if there were no dictionaries.
 *
 * Thread: open, stop and close the main thread's; the rest any, under one mutex
 *         that is held for a few steps.
 * Owns:   the folder's descriptor, copies of what is noted.
 */
#ifndef FILES_DICTIONARY_STORE_H
#define FILES_DICTIONARY_STORE_H

#include "files/dictionary_notes.h"
#include "files/dictionary_shelf.h"

struct dictionary_store; /* opaque */

/* Opens the folder, which is there, and looks what it has. 0 or -errno. Nothing
 * is written before the thread runs. */
MUST_USE int dictionary_store_open(struct dictionary_store **store_out,
                                   const char *folder, unsigned versions);
MUST_USE int dictionary_store_start(struct dictionary_store *store);
void dictionary_store_stop(struct dictionary_store
                               *store); /* thread has ended */
void dictionary_store_close(struct dictionary_store
                                *store); /* NULL is accepted */

/* Has a file kept. False: it cannot be now, as too many wait, or there is no
 * memory. */
bool dictionary_store_note(struct dictionary_store *store,
                           const struct dictionary_note *note);

/* Finds a dictionary; the reference is the caller's. NULL: it is not kept. */
MUST_USE struct dictionary *dictionary_store_find(
    struct dictionary_store *store, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

#endif
