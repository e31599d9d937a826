/*
 * dictionary_notes - a queue of files that a thread is to keep as dictionaries;
 * each version of a file is queued once.
 *
 * Thread: one at a time; the owner of the queue sees to that. Whoever takes a
 *         note owns it.
 * Owns:   copies of texts, duplicates of descriptors.
 */
#ifndef FILES_DICTIONARY_NOTES_H
#define FILES_DICTIONARY_NOTES_H

#include "base/bytes.h"
#include "base/list.h"
#include "files/file_stamp.h"

enum {
    DICTIONARY_NOTES_MAX = 8, /* most notes that wait */
    DICTIONARY_SEEN_MAX = 256 /* most files that are remembered */
};

/* A file that clients are told to keep as a dictionary. */
struct dictionary_note {
    uint64_t rule;
    struct file_stamp stamp;
    struct bytes text; /* stamp.bytes long; data is NULL when `fd` has the
                          text */
    int fd;            /* the file, which the note's reader reads from its
                          beginning; the queue gets a duplicate */
};

/* A note in the queue, which owns its text and descriptor. */
struct dictionary_noted {
    struct list list_node;
    uint64_t rule;
    struct file_stamp stamp;
    char *text; /* stamp.bytes long; NULL when `fd` has the text */
    int fd;
};

struct dictionary_notes {
    struct list list; /* notes that wait, the oldest first */
    size_t count;
    size_t seen_at;
    struct dictionary_seen {
        uint64_t rule;
        struct file_stamp stamp;
    } seen[DICTIONARY_SEEN_MAX]; /* files noted last: a ring */
};

void dictionary_notes_init(struct dictionary_notes *notes);
void dictionary_notes_fini(struct dictionary_notes *notes);

/* Notes a file, unless it was noted before. Returns false when too many notes
 * wait, or there is no memory or descriptor. */
MUST_USE bool dictionary_notes_put(struct dictionary_notes *notes,
                                   const struct dictionary_note *note);

/* Takes the oldest note, which the caller then owns. Returns NULL when no note
 * waits. */
struct dictionary_noted *dictionary_notes_take(struct dictionary_notes *notes);

/* Allows the file of a taken note to be noted again. */
void dictionary_notes_forget(struct dictionary_notes *notes,
                             const struct dictionary_noted *note);

void dictionary_noted_destroy(struct dictionary_noted *note);

#endif
