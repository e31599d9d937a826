/*
 * dictionary_notes - the files that are to be kept as dictionaries, each once,
 * for the thread that does it.
 *
 * Thread: its owner's, one at a time; a note that was taken is the taker's.
 * Owns:   copies of texts, duplicates of descriptors.
 */
#ifndef FILES_DICTIONARY_NOTES_H
#define FILES_DICTIONARY_NOTES_H

#include "base/bytes.h"
#include "base/list.h"
#include "files/file_stamp.h"

enum {
    DICTIONARY_NOTES_MAX = 8, /* notes that wait */
    DICTIONARY_SEEN_MAX = 256 /* files that are remembered */
};

/* A file that clients are told to keep. */
struct dictionary_note {
    uint64_t rule;
    struct file_stamp stamp;
    struct bytes text; /* stamp.bytes of it; data NULL: fd has them */
    int fd;            /* read from the beginning, by a duplicate */
};

/* A note with copies of its own. */
struct dictionary_noted {
    struct list list_node;
    uint64_t rule;
    struct file_stamp stamp;
    char *text; /* stamp.bytes; NULL: fd has them */
    int fd;
};

struct dictionary_notes {
    struct list list; /* the oldest first */
    size_t count;
    size_t seen_at;
    struct dictionary_seen {
        uint64_t rule;
        struct file_stamp stamp;
    } seen[DICTIONARY_SEEN_MAX]; /* a ring */
};

void dictionary_notes_init(struct dictionary_notes *notes);
void dictionary_notes_fini(struct dictionary_notes *notes);

/* Notes a file, unless it has been noted. False: not now, too many wait, or
 * there is no memory. */
MUST_USE bool dictionary_notes_put(struct dictionary_notes *notes,
                                   const struct dictionary_note *note);

/* Takes a note, which is the caller's then; NULL: none waits. */
struct dictionary_noted *dictionary_notes_take(struct dictionary_notes *notes);

/* Lets a note that was taken be put again. */
void dictionary_notes_forget(struct dictionary_notes *notes,
                             const struct dictionary_noted *note);

void dictionary_noted_destroy(struct dictionary_noted *note);

#endif
