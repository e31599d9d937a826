#include "files/dictionary_notes.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_seen(const struct dictionary_notes *notes, uint64_t rule,
                    const struct file_stamp *stamp)
{
    for (size_t i = 0; i < DICTIONARY_SEEN_MAX; i++)
        if (notes->seen[i].rule == rule &&
            file_stamp_eq(&notes->seen[i].stamp, stamp))
            return true;
    return false;
}

void dictionary_notes_forget(struct dictionary_notes *notes,
                             const struct dictionary_noted *note)
{
    for (size_t i = 0; i < DICTIONARY_SEEN_MAX; i++)
        if (notes->seen[i].rule == note->rule &&
            file_stamp_eq(&notes->seen[i].stamp, &note->stamp))
            notes->seen[i] = (struct dictionary_seen){.rule = 0};
}

void dictionary_noted_destroy(struct dictionary_noted *note)
{
    free(note->text);
    if (note->fd >= 0)
        close(note->fd);
    free(note);
}

static struct dictionary_noted *copy_note(const struct dictionary_note *from)
{
    struct dictionary_noted *note = calloc(1, sizeof(*note));

    if (!note)
        return NULL;
    list_init(&note->list_node);
    note->rule = from->rule;
    note->stamp = from->stamp;
    note->fd = -1;
    if (from->text.data) {
        assert(from->text.len == from->stamp.bytes);
        note->text = malloc(from->text.len + 1); /* its length may be 0 */
        if (note->text)
            memcpy(note->text, from->text.data, from->text.len);
    } else {
        note->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
    }
    if (note->text || note->fd >= 0)
        return note;
    free(note);
    return NULL;
}

bool dictionary_notes_put(struct dictionary_notes *notes,
                          const struct dictionary_note *from)
{
    struct dictionary_noted *note;

    if (is_seen(notes, from->rule, &from->stamp))
        return true;
    if (notes->count == DICTIONARY_NOTES_MAX || !(note = copy_note(from)))
        return false;
    notes->seen[notes->seen_at++ % DICTIONARY_SEEN_MAX] =
        (struct dictionary_seen){from->rule, from->stamp};
    list_put_last(&notes->list, &note->list_node);
    notes->count++;
    return true;
}

struct dictionary_noted *dictionary_notes_take(struct dictionary_notes *notes)
{
    struct dictionary_noted *note;

    if (list_is_empty(&notes->list))
        return NULL;
    note = OWNER_OF(notes->list.next, struct dictionary_noted, list_node);
    list_drop(&note->list_node);
    notes->count--;
    return note;
}

void dictionary_notes_init(struct dictionary_notes *notes)
{
    memset(notes, 0, sizeof(*notes));
    list_init(&notes->list);
}

void dictionary_notes_fini(struct dictionary_notes *notes)
{
    struct dictionary_noted *note;

    while ((note = dictionary_notes_take(notes)))
        dictionary_noted_destroy(note);
}
