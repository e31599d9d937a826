#include "handler/static_files_priv.h"

#include <assert.h>

#include "http/http1/http1.h"

/* --- Plain entries ------------------------------------------------------- */

static bool is_intact(const struct file_entry *entry)
{
    return entry->kind != FILE_REGULAR || entry->is_snapshot ||
           file_entry_is_intact(entry);
}

/* Replaces an entry that is not intact. Takes over the reference to `entry`. */
static struct file_entry *renew(struct static_files *files, struct bytes name,
                                struct file_entry *entry)
{
    enum coding coding = entry->coding;

    file_cache_forget(files->options.cache, entry);
    file_entry_release(entry);
    return file_cache_acquire(files->options.cache, &files->options.space, name,
                              coding);
}

static struct file_entry *acquire_intact(struct static_files *files,
                                         struct bytes name, enum coding coding)
{
    struct file_entry *entry = file_cache_acquire(files->options.cache,
                                                  &files->options.space, name,
                                                  coding);

    return !entry || is_intact(entry) ? entry : renew(files, name, entry);
}

/* Whether a variant, and not the file itself, will most likely be sent. Then
 * the file need not be checked. */
static bool has_variant(const struct file_entry *entry)
{
    return !entry->is_snapshot && file_entry_variants(entry) != 0;
}

/* If the client accepts codings, also looks whether siblings have come or gone.
 * No other client gets a sibling. */
struct file_entry *static_files_acquire(struct static_files *files,
                                        const struct request *request,
                                        struct bytes name)
{
    bool takes_codings = request_find(request, FIELD_ACCEPT_ENCODING);
    struct file_entry *entry = file_cache_acquire(files->options.cache,
                                                  &files->options.space, name,
                                                  CODING_IDENTITY);

    if (entry && !(takes_codings && has_variant(entry)) && !is_intact(entry))
        entry = renew(files, name, entry);
    if (!entry || entry->kind != FILE_REGULAR || !takes_codings ||
        !file_cache_siblings_changed(files->options.cache, entry))
        return entry;
    file_entry_release(entry);
    return acquire_intact(files, name, CODING_IDENTITY);
}

/* --- Paths other than the one asked for ---------------------------------- */

/* The most bytes of a path. The 300 are for the name of an index, which has up
 * to 255 bytes, or for the suffix of a sibling, which has fewer. */
enum { OWN_PATH_MAX = HTTP1_LINE_BYTES_MAX + TRY_FILES_TEXT_MAX + 300 };

/* Returns the name of the file that answers for a directory; empty for `name`
 * without a final slash. */
static struct bytes index_of(const struct static_files *files,
                             struct bytes name)
{
    return name.data[name.len - 1] == '/' ? bytes_of(files->options.space.index)
                                          : BYTES("");
}

/* Returns the path that `name` has in its site, with index and the coding's
 * suffix behind it. `name` is below the root, and was found for the path
 * `asked`. */
static struct bytes own_path(const struct exchange *exchange,
                             struct bytes asked, struct bytes name,
                             struct bytes index, enum coding coding,
                             char storage[OWN_PATH_MAX])
{
    struct bytes clean = exchange->path.clean;
    struct buf path;

    buf_init(&path, storage, OWN_PATH_MAX, OWN_PATH_MAX);
    buf_put(&path, (struct bytes){clean.data, clean.len - asked.len});
    buf_put(&path, name);
    buf_put(&path, index);
    buf_put(&path, coding_suffix(coding));
    assert(!path.failed);
    return buf_bytes(&path);
}

bool static_files_admit(const struct static_files *files,
                        struct exchange *exchange, struct bytes asked,
                        struct bytes name, enum file_kind kind)
{
    const struct file_judge *judge = &files->options.judge;
    struct bytes index = kind == FILE_REGULAR ? index_of(files, name)
                                              : BYTES("");
    char storage[OWN_PATH_MAX];

    if (!judge->admits || (bytes_eq(name, asked) && index.len == 0))
        return true;
    return judge->admits(judge->context, exchange,
                         own_path(exchange, asked, name, index, CODING_IDENTITY,
                                  storage));
}

static bool is_free(const struct static_files *files,
                    const struct exchange *exchange, struct bytes asked,
                    struct bytes name, enum coding coding)
{
    const struct file_judge *judge = &files->options.judge;
    char storage[OWN_PATH_MAX];

    return !judge->is_free ||
           judge->is_free(judge->context, exchange,
                          own_path(exchange, asked, name, index_of(files, name),
                                   coding, storage));
}

/* Returns the sibling that the client likes best, or NULL if there is none.
 * Siblings that the client may not have do not count. */
static struct file_entry *find_sibling(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       unsigned siblings,
                                       const struct coding_taste *taste)
{
    for (;;) {
        enum coding coding = coding_pick(taste, siblings,
                                         &coding_order_of_siblings);
        struct file_entry *sibling;

        if (coding == CODING_IDENTITY)
            return NULL;
        siblings &= ~(1u << coding);
        if (!is_free(files, exchange, asked, name, coding))
            continue;
        sibling = acquire_intact(files, name, coding);
        if (sibling && sibling->kind == FILE_REGULAR)
            return sibling;
        file_entry_release(sibling);
        return NULL;
    }
}

/* Returns true if a condition of the request names the ETag of the plain file:
 * the client has the plain file, or a part of it. Such a client gets an answer
 * about the plain file, whatever codings it accepts. */
static bool has_plain(const struct request *request,
                      const struct file_entry *entry)
{
    static const enum field_id fields[] = {FIELD_IF_MATCH, FIELD_IF_NONE_MATCH,
                                           FIELD_IF_RANGE};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (const struct field *field = request_find(request, fields[i]);
             field; field = request_next(request, field))
            if (memmem(field->value.data, field->value.len, entry->etag.data,
                       entry->etag.len))
                return true;
    return false;
}

/* Returns the existing variant that the client likes best, and of several liked
 * equally, the smallest. Returns NULL if there is none. Also asks for the
 * variant `first`, which the client would like best if all were made. If
 * `first` does not exist, this orders it. If it exists but is not the smallest,
 * its use still counts, since it may be made smaller. */
static struct file_entry *find_variant(struct static_files *files,
                                       struct file_entry *entry,
                                       const struct coding_taste *taste)
{
    const struct coding_order *order = &files->options.space.compress->order;
    enum coding first = coding_pick(taste, entry->codable, order);
    struct file_entry *variant;
    unsigned there;
    enum coding best;

    if (first == CODING_IDENTITY)
        return NULL;
    variant = file_cache_variant(files->options.cache, entry, first);
    there = file_entry_variants(entry);
    if (variant && there == 1u << first)
        return variant;
    best = coding_pick(taste, there, order);
    if (best != CODING_IDENTITY)
        best = file_entry_smallest(entry, coding_likes_as(taste, there, best));
    if (best == CODING_IDENTITY || (variant && best == first))
        return variant;
    file_entry_release(variant);
    return file_cache_variant(files->options.cache, entry, best);
}

/* Only tags of coded forms that this request accepts count. If the client is a
 * cache, its If-None-Match may also name forms that it keeps for its other
 * clients (RFC 9111 4.3.1). */
struct bytes static_files_named(const struct request *request,
                                const struct file_entry *entry,
                                const struct coding_taste *taste)
{
    const struct field *field = request_find(request, FIELD_IF_NONE_MATCH);
    struct bytes found = {NULL, 0};
    unsigned taken = 0;

    for (int i = CODING_IDENTITY + 1; field && i <= CODING_DCZ; i++)
        if (taste->weights[i] > 0)
            taken |= 1u << i;
    for (; field && found.len == 0; field = request_next(request, field))
        found = file_entry_find_made(entry, field->value,
                                     taken & entry->codable);
    return found;
}

/* Returns the entry to send instead of a file's plain entry, or NULL. */
static struct file_entry *find_coded(struct static_files *files,
                                     const struct exchange *exchange,
                                     struct bytes asked, struct bytes name,
                                     struct file_entry *entry)
{
    const struct request *request = &exchange->request;
    unsigned codable = entry->codable;
    struct coding_taste taste;
    struct file_entry *coded = NULL;

    if (!coding_taste_recall(&files->memo, request, &taste) ||
        static_files_named(request, entry, &taste).len > 0)
        return NULL;
    if (codable != 0 && !representation_is_plain(request) &&
        has_plain(request, entry))
        codable = 0;
    if (codable & 1u << CODING_DCZ)
        coded = static_files_find_delta(files, exchange, entry, &taste);
    if (!coded && entry->siblings != 0)
        coded = find_sibling(files, exchange, asked, name, entry->siblings,
                             &taste);
    if (!coded && (codable & ~(1u << CODING_DCZ)) != 0)
        coded = find_variant(files, entry, &taste);
    return coded;
}

struct file_entry *static_files_prefer(struct static_files *files,
                                       const struct exchange *exchange,
                                       struct bytes asked, struct bytes name,
                                       struct file_entry *entry)
{
    bool is_unchecked = has_variant(entry);
    struct file_entry *coded = find_coded(files, exchange, asked, name, entry);

    if (coded) {
        file_entry_release(entry);
        return coded;
    }
    return is_unchecked && !is_intact(entry) ? renew(files, name, entry)
                                             : entry;
}
