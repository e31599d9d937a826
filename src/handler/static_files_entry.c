#include "handler/static_files_priv.h"

#include <assert.h>

#include "http/http1.h"

/* --- In itself -------------------------------------------------------------- */

static struct file_entry *acquire_intact(struct static_files *files,
                                         struct bytes name, enum coding coding)
{
    struct file_entry *entry = file_cache_acquire(files->options.cache,
                                                  &files->options.space, name,
                                                  coding);

    if (entry && entry->kind == FILE_REGULAR && !entry->is_snapshot &&
        !file_entry_is_intact(entry)) {
        file_cache_forget(files->options.cache, entry);
        file_entry_release(entry);
        entry = file_cache_acquire(files->options.cache, &files->options.space,
                                   name, coding);
    }
    return entry;
}

/* Whether it has siblings is of interest only to a client that takes codings. */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name)
{
    struct file_entry *entry = acquire_intact(files, name, CODING_IDENTITY);

    if (!entry || entry->kind != FILE_REGULAR ||
        !request_find(request, FIELD_ACCEPT_ENCODING) ||
        !file_cache_siblings_changed(files->options.cache, entry))
        return entry;
    file_entry_release(entry);
    return acquire_intact(files, name, CODING_IDENTITY);
}

/* --- By another path than the one asked for --------------------------------- */

/* Room for any: an index has 255 bytes, a suffix fewer. */
enum { OWN_PATH_MAX = HTTP1_LINE_BYTES_MAX + TRY_FILES_TEXT_MAX + 300 };

/* A name below the root, found for asked, as a path of the site. */
static struct bytes own_path(const struct static_files *files,
                             const struct exchange *exchange,
                             struct bytes asked, struct bytes name,
                             enum coding coding, char storage[OWN_PATH_MAX])
{
    struct bytes clean = exchange->path.clean;
    struct buf path;

    buf_init(&path, storage, OWN_PATH_MAX, OWN_PATH_MAX);
    buf_put(&path, (struct bytes){clean.data, clean.len - asked.len});
    buf_put(&path, name);
    if (name.data[name.len - 1] == '/')
        buf_put(&path, bytes_of(files->options.space.index));
    buf_put(&path, coding_suffix(coding));
    assert(!path.failed);
    return buf_bytes(&path);
}

bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name)
{
    const struct file_judge *judge = &files->options.judge;
    char storage[OWN_PATH_MAX];

    if (!judge->admits ||
        (bytes_eq(name, asked) && name.data[name.len - 1] != '/'))
        return true;
    return judge->admits(judge->context, exchange,
                         own_path(files, exchange, asked, name, CODING_IDENTITY,
                                  storage));
}

static bool is_free(const struct static_files *files,
                    const struct exchange *exchange, struct bytes asked,
                    struct bytes name, enum coding coding)
{
    const struct file_judge *judge = &files->options.judge;
    char storage[OWN_PATH_MAX];

    return !judge->is_free || judge->is_free(judge->context, exchange,
                                             own_path(files, exchange, asked,
                                                      name, coding, storage));
}

struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry)
{
    unsigned siblings = entry->siblings;
    enum coding coding = coding_choose(&exchange->request, siblings);
    struct file_entry *sibling;

    while (coding != CODING_IDENTITY &&
           !is_free(files, exchange, asked, name, coding)) {
        siblings &= ~(1u << coding);
        coding = coding_choose(&exchange->request, siblings);
    }
    if (coding == CODING_IDENTITY)
        return entry;
    sibling = acquire_intact(files, name, coding);
    if (sibling && sibling->kind == FILE_REGULAR) {
        file_entry_release(entry);
        return sibling;
    }
    file_entry_release(sibling);
    return entry;
}
