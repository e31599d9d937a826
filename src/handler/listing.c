#include "handler/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "handler/listing_priv.h"
#include "http/accept.h"

/*
 *                                          all written, but not all read:
 *                                           .--- drop these entries ---.
 *                                           |                          v
 *   read ahead ---- all read: sort ---> [ write ] <-------- read one batch
 *     |    ^ |                            ^   |
 *     '----' '---- too many to sort, -----'   '---> all written: end
 *                  or too much memory
 *
 * Entries wait in one array, and their names one behind the other in a buf. In
 * "read ahead", each batch is added to these two. After "drop these entries",
 * the two hold only one batch at a time: it is written before the next is read.
 */
enum {
    BATCH_NAMES_MAX = 64, /* names that are read and statted in each fill */
    BATCH_BYTES_MAX = BATCH_NAMES_MAX * LISTING_NAME_BYTES_MAX,
    BATCH_BYTES_USUAL = 16384, /* with long names and their entries */
    /* Room for the names read ahead, of NAME_MAX bytes each, and for one more
     * batch. */
    NAMES_BYTES_MAX = LISTING_SORT_MAX * 256 + BATCH_BYTES_MAX,
    /* Room for a path of 4 KiB, which the intro has twice, with up to 6 bytes
     * for each byte, and for the rest of the intro. */
    INTRO_BYTES_MAX = 128 * 1024
};

_Static_assert((3 + 6) * LISTING_NAME_BYTES_MAX + 256 <= BODY_PIECE_BYTES,
               "any entry must fit one fill");

struct listed_name {
    int64_t modified;
    uint64_t bytes;
    uint32_t name_at; /* offset in `names` */
    uint16_t name_len;
    uint8_t kind; /* enum listing_kind */
};

struct listing {
    /* Must be the first member, since it is cast to struct listing. */
    struct text_source text;
    const struct docroot *root;
    struct listing_group *group;
    struct list list_node; /* linked into the group while `directory` is open */
    enum listing_format format;
    bool show_hidden;
    bool reads_ahead;
    bool has_more;  /* the directory is not completely read */
    DIR *directory; /* NULL: completely read, or closed to make room */
    /* Where to read on after the directory was closed to make room. */
    long left_at;
    struct listed_name *entries;
    size_t count;    /* entries in use */
    size_t capacity; /* entries allocated */
    size_t at;       /* index of the next entry to write */
    size_t held;     /* bytes of entries and names, as the group counts them */
    uint64_t written;
    struct buf names;
    struct buf intro; /* text before the entries, until it is written */
    size_t intro_at;
    size_t path_len;
    char path[]; /* the directory's path below the root, empty or ending in '/';
                  * behind it is room for a name and NUL */
};

enum listing_format listing_choose(const struct request *request)
{
    struct accepted html = accept_find(request, BYTES("text/html"));
    struct accepted json = accept_find(request, BYTES("application/json"));

    return json.weight > html.weight ? LISTING_JSON : LISTING_HTML;
}

/* --- Open directories ---------------------------------------------------- */

void listing_group_init(struct listing_group *group)
{
    *group = (struct listing_group){.count = 0};
    list_init(&group->open);
}

static void close_directory(struct listing *listing)
{
    if (!listing->directory)
        return;
    closedir(listing->directory);
    listing->directory = NULL;
    list_drop(&listing->list_node);
    listing->group->count--;
}

/* Closes the directory that was read longest ago, if too many are open. */
static void make_room(struct listing_group *group)
{
    struct listing *oldest;

    if (group->count <= LISTING_OPEN_MAX)
        return;
    oldest = OWNER_OF(group->open.next, struct listing, list_node);
    oldest->left_at = telldir(oldest->directory);
    close_directory(oldest);
}

/* Opens the directory. If it was closed to make room, reading goes on where it
 * was left. Returns false if the directory cannot be opened. */
static bool open_directory(struct listing *listing)
{
    struct stat st;
    int fd;

    listing->path[listing->path_len] = '\0';
    fd = docroot_open_file(listing->root, listing->path, &st);
    if (fd < 0)
        return false;
    listing->directory = S_ISDIR(st.st_mode) ? fdopendir(fd) : NULL;
    if (!listing->directory) {
        close(fd);
        return false;
    }
    if (listing->left_at != 0)
        seekdir(listing->directory, listing->left_at);
    list_put_last(&listing->group->open, &listing->list_node);
    listing->group->count++;
    make_room(listing->group);
    return true;
}

/* --- Memory --------------------------------------------------------------- */

/* Tells the group how much memory the entries and their names take now. */
static void count_held(struct listing *listing)
{
    size_t held = listing->capacity * sizeof(*listing->entries) +
                  listing->names.capacity;

    listing->group->held += held - listing->held;
    listing->held = held;
}

static void drop_entries(struct listing *listing)
{
    free(listing->entries);
    listing->entries = NULL;
    listing->count = listing->capacity = listing->at = 0;
    buf_fini(&listing->names);
    buf_init(&listing->names, NULL, 0, NAMES_BYTES_MAX);
    count_held(listing);
}

/* --- Reading -------------------------------------------------------------- */

static bool is_listed(const struct listing *listing, const char *name)
{
    if (name[0] != '.')
        return true;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    return listing->show_hidden || strcmp(name, ".well-known") == 0;
}

/* Stats a name, following symlinks. Returns false if the name has gone, or if
 * it is a symlink to something that is not served: nothing, a device, a file
 * outside of the root. */
static bool look_at(struct listing *listing, struct bytes name, struct stat *st)
{
    int fd;

    if (fstatat(dirfd(listing->directory), name.data, st,
                AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == -1)
        return false;
    if (!S_ISLNK(st->st_mode))
        return true;
    memcpy(listing->path + listing->path_len, name.data, name.len + 1);
    fd = docroot_open_file(listing->root, listing->path, st);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* Adds an entry. Returns false when there is no memory. */
static bool add_entry(struct listing *listing, struct bytes name,
                      const struct stat *st)
{
    size_t name_at = listing->names.len;
    bool is_file = S_ISREG(st->st_mode);

    if (listing->count == listing->capacity) {
        size_t capacity = listing->capacity > 0 ? 2 * listing->capacity
                                                : BATCH_NAMES_MAX;
        struct listed_name *entries = realloc(listing->entries,
                                              capacity * sizeof(*entries));

        if (!entries)
            return false;
        listing->entries = entries;
        listing->capacity = capacity;
    }
    buf_put(&listing->names, name);
    if (listing->names.failed)
        return false;
    listing->entries[listing->count++] = (struct listed_name){
        .modified = st->st_mtime,
        .bytes = is_file ? (uint64_t)st->st_size : 0,
        .name_at = (uint32_t)name_at,
        .name_len = (uint16_t)name.len,
        .kind = is_file                ? LISTING_FILE
                : S_ISDIR(st->st_mode) ? LISTING_DIRECTORY
                                       : LISTING_OTHER};
    count_held(listing);
    return true;
}

/* Reads names until a batch is full, or the directory has ended and is closed.
 * Returns false if the directory cannot be read, or when there is no memory. */
static bool read_batch(struct listing *listing)
{
    if (!listing->directory && !open_directory(listing))
        return false;
    /* This directory is now the one read most recently. */
    list_drop(&listing->list_node);
    list_put_last(&listing->group->open, &listing->list_node);
    for (int i = 0; i < BATCH_NAMES_MAX; i++) {
        const struct dirent *found;
        struct bytes name;
        struct stat st;

        errno = 0;
        found = readdir(listing->directory);
        if (!found) {
            int err = errno;

            close_directory(listing);
            listing->has_more = false;
            return err == 0;
        }
        name = bytes_of(found->d_name);
        if (name.len <= LISTING_NAME_BYTES_MAX &&
            is_listed(listing, name.data) && look_at(listing, name, &st) &&
            !add_entry(listing, name, &st))
            return false;
    }
    return true;
}

/* Orders directories before everything else; then by names without regard to
 * case; then by bytes, so that "A" and "a" have an order, too. */
static int compare_entries(const void *left, const void *right, void *names)
{
    const struct listed_name *a = left;
    const struct listed_name *b = right;
    const char *a_name = (const char *)names + a->name_at;
    const char *b_name = (const char *)names + b->name_at;
    size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
    bool a_first = a->kind == LISTING_DIRECTORY;
    bool b_first = b->kind == LISTING_DIRECTORY;
    int order;

    if (a_first != b_first)
        return a_first ? -1 : 1;
    for (size_t i = 0; i < len; i++) {
        order = (unsigned char)byte_lower(a_name[i]) -
                (unsigned char)byte_lower(b_name[i]);
        if (order != 0)
            return order;
    }
    if (a->name_len != b->name_len)
        return a->name_len < b->name_len ? -1 : 1;
    return memcmp(a_name, b_name, len);
}

/* Reads a batch of names before writing begins. Sorts all names if the batch
 * was the last one. */
static bool read_ahead(struct listing *listing)
{
    if (!read_batch(listing))
        return false;
    if (listing->count > LISTING_SORT_MAX ||
        NAMES_BYTES_MAX - listing->names.len < BATCH_BYTES_MAX) {
        listing->reads_ahead = false;
    } else if (!listing->has_more) {
        if (listing->count > 1)
            qsort_r(listing->entries, listing->count, sizeof(*listing->entries),
                    compare_entries, listing->names.data);
        listing->reads_ahead = false;
    } else if (listing->group->held > LISTING_HELD_MAX) {
        listing->reads_ahead = false;
    }
    return true;
}

/* --- Writing ------------------------------------------------------------- */

/* Writes the intro. Like write_entries(), appends at most `room` bytes, and
 * returns whether all was written. */
static bool write_intro(struct listing *listing, struct buf *out, size_t room)
{
    size_t len = listing->intro.len - listing->intro_at;

    if (len > room)
        len = room;
    if (len > 0)
        buf_put(out,
                (struct bytes){listing->intro.data + listing->intro_at, len});
    listing->intro_at += len;
    if (listing->intro_at < listing->intro.len)
        return false;
    buf_fini(&listing->intro);
    listing->intro_at = 0;
    return true;
}

static bool write_entries(struct listing *listing, struct buf *out, size_t room)
{
    size_t end = out->len + room;

    for (; listing->at < listing->count; listing->at++) {
        const struct listed_name *entry = &listing->entries[listing->at];

        if (end - out->len < listing_entry_bytes_max(entry->name_len))
            return false;
        listing_put_entry(out, listing->format,
                          &(struct listing_entry){
                              .name = {listing->names.data + entry->name_at,
                                       entry->name_len},
                              .kind = (enum listing_kind)entry->kind,
                              .bytes = entry->bytes,
                              .modified = entry->modified},
                          listing->written++);
    }
    return true;
}

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    struct listing *listing = (struct listing *)text;
    size_t end = out->len + BODY_PIECE_BYTES;

    if (!write_intro(listing, out, end - out->len))
        return PIECE_MORE;
    if (listing->reads_ahead) {
        if (!read_ahead(listing))
            return PIECE_FAILED;
        if (listing->reads_ahead)
            return PIECE_MORE;
    } else if (listing->at == listing->count && listing->has_more) {
        drop_entries(listing);
        if (!read_batch(listing))
            return PIECE_FAILED;
    }
    if (!write_entries(listing, out, end - out->len) || listing->has_more ||
        end - out->len < LISTING_OUTRO_BYTES_MAX)
        return PIECE_MORE;
    listing_put_outro(out, listing->format, listing->written);
    return PIECE_END;
}

/* --- Coming and going ---------------------------------------------------- */

static void destroy(struct text_source *text)
{
    struct listing *listing = (struct listing *)text;

    close_directory(listing);
    drop_entries(listing);
    buf_fini(&listing->intro);
    free(listing);
}

struct source *listing_open(const struct docroot *root,
                            struct listing_group *group, struct bytes path,
                            enum listing_format format, bool show_hidden)
{
    size_t path_len = path.len - 1; /* without the leading slash */
    struct listing *listing = malloc(sizeof(*listing) + path_len +
                                     LISTING_NAME_BYTES_MAX + 1);

    if (!listing)
        return NULL;
    *listing = (struct listing){.root = root,
                                .group = group,
                                .format = format,
                                .show_hidden = show_hidden,
                                .reads_ahead = true,
                                .has_more = true,
                                .path_len = path_len};
    text_source_init(&listing->text, fill, destroy);
    listing->text.source.bytes += BATCH_BYTES_USUAL;
    memcpy(listing->path, path.data + 1, path_len);
    list_init(&listing->list_node);
    buf_init(&listing->names, NULL, 0, NAMES_BYTES_MAX);
    buf_init(&listing->intro, NULL, 0, INTRO_BYTES_MAX);
    if (open_directory(listing)) {
        listing_put_intro(&listing->intro, format, path);
        if (!listing->intro.failed)
            return &listing->text.source;
    }
    destroy(&listing->text);
    return NULL;
}
