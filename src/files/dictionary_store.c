#include "files/dictionary_store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "files/file_text.h"
#include "io/sha256.h"
#include "io/whole_file.h"

enum {
    FILE_MODE = 0600,
    /* An unfinished file is a leftover when it is as old as this. A younger
     * file may still be written. */
    LEFTOVER_S = 600,
    LEFTOVER_NAME_LEN = 1 + DICTIONARY_NAME_SIZE - 1 + 1 + 16
};

struct dictionary_store {
    pthread_mutex_t mutex; /* guards notes, has_damaged and shelf */
    pthread_cond_t changed;
    struct dictionary_notes notes;
    bool has_damaged; /* a dictionary was found to be damaged */
    struct dictionary_shelf shelf;
    atomic_bool stops;
    bool has_thread;
    pthread_t thread;
    /* The next two members are used by the thread alone. */
    struct codec_meter meter;
    bool has_told; /* it was logged that nothing can be kept */
    /* The folder's descriptor, which does not change. */
    int folder;
};

/* --- What has to go ------------------------------------------------------ */

/* Removes a dictionary's file, and gives the reference back. The caller does
 * not hold the mutex. */
static void remove_file(const struct dictionary_store *store,
                        struct dictionary *item)
{
    if (dictionary_is_damaged(item))
        log_warning("dictionary '%s' is damaged, and is removed", item->name);
    if (unlinkat(store->folder, item->name, 0) == -1 && errno != ENOENT)
        log_warning("dictionary '%s': %s", item->name, strerror(errno));
    dictionary_release(item);
}

/* Removes the files of dictionaries that are gone. The caller holds the mutex,
 * which is released meanwhile. Nobody else changes `gone`: this is the store's
 * thread, or dictionary_store_open() before the thread runs. */
static void remove_gone(struct dictionary_store *store)
{
    struct dictionary *item;

    while ((item = dictionary_shelf_take_gone(&store->shelf))) {
        pthread_mutex_unlock(&store->mutex);
        remove_file(store, item);
        pthread_mutex_lock(&store->mutex);
    }
}

/* --- For workers --------------------------------------------------------- */

bool dictionary_store_note(struct dictionary_store *store,
                           const struct dictionary_note *note)
{
    bool is_taken;

    if (note->stamp.bytes == 0 || note->stamp.bytes > DICTIONARY_BYTES_MAX)
        return true;
    pthread_mutex_lock(&store->mutex);
    is_taken = dictionary_notes_put(&store->notes, note);
    pthread_cond_signal(&store->changed);
    pthread_mutex_unlock(&store->mutex);
    return is_taken;
}

struct dictionary *dictionary_store_find(
    struct dictionary_store *store, uint64_t rule,
    const uint8_t hash[DICTIONARY_HASH_BYTES])
{
    struct dictionary *found = NULL;
    struct dictionary_place *place;

    pthread_mutex_lock(&store->mutex);
    place = dictionary_shelf_find(&store->shelf, rule, hash);
    if (place && dictionary_is_damaged(place->item)) {
        store->has_damaged = true;
        pthread_cond_signal(&store->changed);
    } else if (place && place->is_checked) {
        found = place->item;
        dictionary_hold(found);
    }
    pthread_mutex_unlock(&store->mutex);
    return found;
}

/* --- The thread ---------------------------------------------------------- */

static struct dictionary *make_item(const struct dictionary_store *store,
                                    const struct dictionary_noted *note,
                                    const char *text)
{
    struct dictionary *item = calloc(1, sizeof(*item));

    if (!item)
        return NULL;
    atomic_init(&item->refs, 1);
    atomic_init(&item->is_damaged, false);
    item->folder = store->folder;
    item->bytes = note->stamp.bytes;
    item->rule = note->rule;
    item->modified_ns = note->stamp.modified_ns;
    if (sha256((struct bytes){text, (size_t)item->bytes}, item->hash)) {
        dictionary_write_name(item);
        return item;
    }
    free(item);
    return NULL;
}

static bool is_wanted(struct dictionary_store *store,
                      const struct dictionary *item)
{
    bool is_wanted;

    pthread_mutex_lock(&store->mutex);
    is_wanted = dictionary_shelf_wants(&store->shelf, item);
    pthread_mutex_unlock(&store->mutex);
    return is_wanted;
}

static void tell(struct dictionary_store *store, int err)
{
    if (err == 0)
        store->has_told = false;
    else if (!store->has_told) {
        store->has_told = true;
        log_warning("dictionaries: %s: versions of files are not kept, and "
                    "what follows them is sent whole",
                    strerror(-err));
    }
}

/* Takes `item` over: writes its file, and adds it to the shelf. */
static void keep(struct dictionary_store *store,
                 const struct dictionary_noted *note, struct dictionary *item,
                 const char *text)
{
    int err = whole_file_replace(store->folder, item->name,
                                 (struct bytes){text, (size_t)item->bytes},
                                 FILE_MODE);

    tell(store, err);
    pthread_mutex_lock(&store->mutex);
    if (err == 0) {
        dictionary_shelf_add(&store->shelf, item, true);
        remove_gone(store);
    } else {
        dictionary_notes_forget(&store->notes, note);
        dictionary_release(item);
    }
    pthread_mutex_unlock(&store->mutex);
}

static void do_note(struct dictionary_store *store,
                    struct dictionary_noted *note)
{
    const char *text = note->text;
    struct dictionary *item;
    char *read = NULL;

    if (!text)
        text = read = file_text_read(note->fd, &note->stamp, &store->stops,
                                     &store->meter);
    item = text ? make_item(store, note, text) : NULL;
    if (item && is_wanted(store, item))
        keep(store, note, item, text);
    else
        dictionary_release(item);
    codec_meter_free(&store->meter, read);
    dictionary_noted_destroy(note);
}

/* Reads the dictionary's file, and notes in `item` whether it is damaged or
 * gone. A file that is there but cannot be opened now counts as sound: a worker
 * that uses it checks again. */
static void check(struct dictionary_store *store, struct dictionary *item)
{
    int fd = dictionary_open(item);

    if (fd < 0)
        return;
    codec_meter_free(&store->meter,
                     dictionary_read(item, fd, &store->stops, &store->meter));
    close(fd);
}

/* Returns a dictionary that has not been checked, with a reference for the
 * caller. Returns NULL when all have been checked. The caller holds the
 * mutex. */
static struct dictionary *take_unchecked(struct dictionary_store *store)
{
    for (size_t i = 0; i < store->shelf.count; i++) {
        struct dictionary_place *place = &store->shelf.places[i];

        if (!place->is_checked) {
            place->is_checked = true;
            dictionary_hold(place->item);
            return place->item;
        }
    }
    return NULL;
}

/* Removes damaged dictionaries. The caller holds the mutex. */
static void sort_out(struct dictionary_store *store)
{
    store->has_damaged = false;
    dictionary_shelf_sort_out(&store->shelf);
    remove_gone(store);
}

static bool is_stopping(const struct dictionary_store *store)
{
    return atomic_load_explicit(&store->stops, memory_order_relaxed);
}

/* Checks all dictionaries that were in the folder at the start. The caller
 * holds the mutex, which is released meanwhile. A dictionary may be used while
 * its check still runs: each use compares its bytes with the hash, too. */
static void check_all(struct dictionary_store *store)
{
    struct dictionary *item;

    while (!is_stopping(store) && (item = take_unchecked(store))) {
        pthread_mutex_unlock(&store->mutex);
        check(store, item);
        dictionary_release(item);
        pthread_mutex_lock(&store->mutex);
    }
    sort_out(store);
}

static void *run(void *context)
{
    struct dictionary_store *store = context;

    pthread_mutex_lock(&store->mutex);
    check_all(store);
    while (!is_stopping(store)) {
        struct dictionary_noted *note;

        if (store->has_damaged) {
            sort_out(store);
        } else if ((note = dictionary_notes_take(&store->notes))) {
            pthread_mutex_unlock(&store->mutex);
            do_note(store, note);
            pthread_mutex_lock(&store->mutex);
        } else {
            pthread_cond_wait(&store->changed, &store->mutex);
        }
    }
    pthread_mutex_unlock(&store->mutex);
    return NULL;
}

/* --- Coming and going ---------------------------------------------------- */

static void take_name(struct dictionary_store *store, const char *name)
{
    struct dictionary *item;
    struct stat st;

    if (fstatat(store->folder, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
        !S_ISREG(st.st_mode))
        return;
    if (*name == '.' && strlen(name) == LEFTOVER_NAME_LEN &&
        time(NULL) - st.st_mtime > LEFTOVER_S)
        (void)unlinkat(store->folder, name, 0);
    item = calloc(1, sizeof(*item));
    if (!item || !dictionary_read_name(item, name) || st.st_size <= 0 ||
        st.st_size > DICTIONARY_BYTES_MAX) {
        free(item);
        return;
    }
    atomic_init(&item->refs, 1);
    atomic_init(&item->is_damaged, false);
    item->folder = store->folder;
    item->bytes = (uint64_t)st.st_size;
    pthread_mutex_lock(&store->mutex);
    dictionary_shelf_add(&store->shelf, item, false);
    remove_gone(store);
    pthread_mutex_unlock(&store->mutex);
}

static int look(struct dictionary_store *store)
{
    int fd = openat(store->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (!directory) {
        int err = -errno;

        if (fd >= 0)
            close(fd);
        return err;
    }
    while ((entry = readdir(directory)))
        take_name(store, entry->d_name);
    closedir(directory);
    return 0;
}

int dictionary_store_open(struct dictionary_store **store_out,
                          const char *folder, unsigned versions)
{
    struct dictionary_store *store = calloc(1, sizeof(*store));
    int err;

    assert(versions >= 1 && versions <= DICTIONARY_VERSIONS_MAX);
    if (!store)
        return -ENOMEM;
    store->shelf.versions = versions;
    dictionary_notes_init(&store->notes);
    atomic_init(&store->stops, false);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->changed, NULL);
    store->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    err = store->folder == -1 ? -errno : look(store);
    if (err == 0 &&
        faccessat(store->folder, ".", W_OK | X_OK, AT_EACCESS) == -1)
        err = -errno;
    if (err == 0)
        *store_out = store;
    else
        dictionary_store_close(store);
    return err;
}

int dictionary_store_start(struct dictionary_store *store)
{
    int err = -pthread_create(&store->thread, NULL, run, store);

    store->has_thread = err == 0;
    return err;
}

void dictionary_store_stop(struct dictionary_store *store)
{
    if (!store->has_thread)
        return;
    pthread_mutex_lock(&store->mutex);
    atomic_store_explicit(&store->stops, true, memory_order_relaxed);
    pthread_cond_signal(&store->changed);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->thread, NULL);
    store->has_thread = false;
}

void dictionary_store_close(struct dictionary_store *store)
{
    if (!store)
        return;
    dictionary_store_stop(store);
    dictionary_notes_fini(&store->notes);
    dictionary_shelf_fini(&store->shelf);
    if (store->folder >= 0)
        close(store->folder);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}
