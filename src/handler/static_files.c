#include "handler/static_files_priv.h"

#include <stdlib.h>
#include <sys/random.h>

#include "handler/representation.h"
#include "http/http1/http1.h"
#include "http/http1/http1_frame.h"
#include "http/path.h"

#define ALLOW_LINE "Allow: GET, HEAD, OPTIONS\r\n"

static void fail(const struct static_files *files, struct response *response,
                 unsigned status)
{
    response_make_error(response, status, BYTES(""), files->options.defaults);
    if (status == 414) /* try-files has made the path too long */
        response->reason = REASON_TARGET_TOO_LONG;
}

/* --- Bodies ------------------------------------------------------------- */

static bool entry_is_intact(void *entry)
{
    return file_entry_is_intact(entry);
}

static void release_entry(void *entry)
{
    file_entry_release(entry);
}

/* Makes `entry` the response's origin. The caller's reference becomes the
 * origin's, which is given back when the response was sent. */
static void set_origin(struct response *response, struct file_entry *entry)
{
    response->origin = (struct origin){
        .is_intact = file_entry_is_resident(entry) ? NULL : entry_is_intact,
        .release = release_entry,
        .object = entry};
}

/* Whether the client may have a part of another form that has the same date. A
 * client that takes codings may have a coded form even if it gets the plain one
 * now: forms come and go (RFC 9110 8.8.1). */
static bool is_date_shared(const struct exchange *exchange,
                           const struct file_entry *entry)
{
    return entry->coding != CODING_IDENTITY ||
           ((entry->siblings | entry->codable) != 0 &&
            request_find(&exchange->request, FIELD_ACCEPT_ENCODING));
}

/* Makes the representation of a file. Pages of the file's mapping can
 * disappear, so only the kernel may read them. */
static struct representation represent(const struct static_files *files,
                                       const struct exchange *exchange,
                                       const struct file_entry *entry)
{
    const char *map = exchange_can_splice(exchange) ? entry->map : NULL;

    return (struct representation){
        .validators = {.etag = entry->etag,
                       .modified = entry->modified_s,
                       .is_date_shared = is_date_shared(exchange, entry)},
        .length = entry->stamp.bytes,
        .type = entry->type,
        .encoding = coding_token(entry->coding),
        .fields = file_entry_fields(entry),
        .memory = file_entry_is_resident(entry) ? file_entry_body(entry).data
                                                : map,
        .fd = entry->fd,
        .file_kind = files->options.send_method == SEND_READ ? PART_READ
                                                             : PART_SENDFILE};
}

static void add_whole_body(const struct static_files *files,
                           struct exchange *exchange,
                           const struct file_entry *entry)
{
    struct representation representation;

    if (exchange->response.is_head)
        return;
    representation = represent(files, exchange, entry);
    representation_add_body(&representation, &exchange->response, 0,
                            entry->stamp.bytes);
}

/* Sends a file with a head that is made for this answer only. */
static void send_special(const struct static_files *files,
                         struct exchange *exchange,
                         const struct file_entry *entry, struct bytes head,
                         bool tells_dictionary)
{
    struct response *response = &exchange->response;

    head.data += HTTP1_CACHED_FIELDS_AT;
    head.len -= HTTP1_CACHED_FIELDS_AT;
    response_begin_edited(response, 200, head);
    if (tells_dictionary)
        static_files_put_dictionary(&response->head, entry);
    response_add_head(response);
    add_whole_body(files, exchange, entry);
}

static void send_whole(const struct static_files *files,
                       struct exchange *exchange, struct file_entry *entry)
{
    struct response *response = &exchange->response;
    struct bytes head = file_entry_head(entry, files->options.defaults->now);
    bool tells_dictionary = (entry->dictionary_made ||
                             entry->dictionary_used) &&
                            static_files_is_trustworthy(files, exchange);

    if (!response->is_head)
        response->body_bytes = entry->stamp.bytes;
    if (entry->plain_bytes > 0 && !response->is_head)
        file_cache_note_saved(files->options.cache, entry);
    if (tells_dictionary || response_needs_own_head(response)) {
        send_special(files, exchange, entry, head, tells_dictionary);
    } else {
        struct bytes block = {head.data, head.len + 2};

        response->status = 200;
        response->coded_head = &entry->coded_head;
        if (entry->is_snapshot) { /* head and body are adjacent in memory */
            block.len += response->body_bytes;
            response_borrow_head(response, block, head.len);
        } else {
            response_borrow_head(response, block, head.len);
            add_whole_body(files, exchange, entry);
        }
    }
    set_origin(response, entry);
}

/* Answers 304 to a client that names a coded form of this version. `entry` is
 * the plain form, of the same date. Returns false if the client names no such
 * form, or if another condition is not true. */
static bool answer_named(struct static_files *files, struct exchange *exchange,
                         const struct file_entry *entry)
{
    const struct request *request = &exchange->request;
    struct bytes fields = file_entry_fields(entry);
    const char *end = fields.data + fields.len;
    struct response *response = &exchange->response;
    struct coding_taste taste;
    struct validators validators = {.modified = entry->modified_s};
    struct bytes named = {NULL, 0};
    const char *etag = NULL;

    if (entry->codable != 0 &&
        coding_taste_recall(&files->memo, request, &taste))
        named = static_files_named(request, entry, &taste);
    if (named.len > 0)
        etag = memmem(fields.data, fields.len, entry->etag.data,
                      entry->etag.len);
    validators.etag = named;
    if (!etag || condition_evaluate(request, &validators,
                                    files->options.defaults->now->wall_s) !=
                     CONDITION_NOT_MODIFIED)
        return false;
    response_begin(response, 304, files->options.defaults);
    buf_put(&response->head, bytes_between(fields.data, etag));
    buf_put(&response->head, named);
    buf_put(&response->head, bytes_between(etag + entry->etag.len, end));
    response_add_head(response);
    return true;
}

/* Answers with a file. Takes over the reference to `entry`. */
static void answer_file(struct static_files *files, struct exchange *exchange,
                        struct file_entry *entry)
{
    struct representation representation;

    if (!representation_is_plain(&exchange->request)) {
        if (answer_named(files, exchange, entry)) {
            file_entry_release(entry);
            return;
        }
        representation = represent(files, exchange, entry);
        switch (representation_answer(&representation, exchange,
                                      files->options.defaults,
                                      &files->boundary)) {
        case REPRESENTATION_BODY:
            set_origin(&exchange->response, entry);
            return;
        case REPRESENTATION_NO_BODY:
            file_entry_release(entry);
            return;
        case REPRESENTATION_WHOLE:
            break;
        }
    }
    send_whole(files, exchange, entry);
}

/* --- Directories --------------------------------------------------------- */

/* Answers 301 to the same path with a slash, and the query. The new path is
 * made from the clean path, so that it cannot name another host ("//evil"). */
static void redirect_to_slash(const struct static_files *files,
                              struct exchange *exchange)
{
    struct bytes clean = exchange->path.clean;
    struct bytes query = exchange->request.query;
    struct buf fields;
    char *to;

    buf_init(&fields, NULL, 0, RESPONSE_HEAD_BYTES_MAX / 2);
    buf_put_literal(&fields, "Location: ");
    to = buf_reserve(&fields, 3 * clean.len);
    if (to)
        fields.len += path_encode(clean, to);
    buf_put_literal(&fields, "/");
    if (query.data) {
        buf_put_literal(&fields, "?");
        path_put_query(query, &fields);
    }
    buf_put_literal(&fields, "\r\n");
    if (fields.failed)
        fail(files, &exchange->response, 500);
    else
        response_make_error(&exchange->response, 301, buf_bytes(&fields),
                            files->options.defaults);
    buf_fini(&fields);
}

/* Fields of a 304 for a listing, which may be compressed. */
#define UNCHANGED_FIELDS LISTING_FIELDS "Vary: Accept-Encoding\r\n"

static void answer_directory(struct static_files *files,
                             struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;
    enum listing_format format;
    struct source *listing;

    if (rest.data[rest.len - 1] != '/') {
        redirect_to_slash(files, exchange);
        return;
    }
    if (!files->options.autoindex) {
        fail(files, response, 403);
        return;
    }
    format = listing_choose(&exchange->request);
    listing = listing_open(files->options.space.root, &files->listings, rest,
                           format, files->options.show_hidden);
    if (!listing) {
        fail(files, response, 500);
        return;
    }
    if (representation_answer_unvalidated(BYTES(UNCHANGED_FIELDS), exchange,
                                          files->options.defaults)) {
        listing->destroy(listing);
        return;
    }
    response_begin(response, 200, files->options.defaults);
    listing_describe(format, &response->head);
    encode_add_source(&files->options.encode, exchange, listing,
                      ENCODE_UNSIZED);
}

/* --- Which entry --------------------------------------------------------- */

/* Answers for an entry that is no file. Takes over the reference to `entry`. */
static void answer_other(struct static_files *files, struct exchange *exchange,
                         struct bytes name, struct file_entry *entry)
{
    switch (entry->kind) {
    case FILE_DIRECTORY:
        answer_directory(files, exchange, name);
        break;
    case FILE_MISSING:
        fail(files, &exchange->response, 404);
        break;
    case FILE_FORBIDDEN:
        fail(files, &exchange->response, 403);
        break;
    case FILE_BROKEN:
        fail(files, &exchange->response, 500);
        break;
    case FILE_REGULAR: /* answer_file() handles files */
        break;
    }
    file_entry_release(entry);
}

/* Answers with the entry of `name`, which was found for the path `asked`. Takes
 * over the reference to `entry`. */
static void answer_entry(struct static_files *files, struct exchange *exchange,
                         struct bytes asked, struct bytes name,
                         struct file_entry *entry)
{
    bool may_be_told = entry->kind == FILE_REGULAR ||
                       entry->kind == FILE_DIRECTORY;

    if (may_be_told && files->options.judge.admits &&
        !static_files_admit(files, exchange, asked, name, entry->kind)) {
        file_entry_release(entry);
        return;
    }
    if (entry->kind == FILE_REGULAR) {
        if (entry->dictionary_made)
            file_cache_note_dictionary(files->options.cache, entry);
        if ((entry->siblings | entry->codable) != 0 &&
            request_find(&exchange->request, FIELD_ACCEPT_ENCODING))
            entry = static_files_prefer(files, exchange, asked, name, entry);
    }
    if (!entry)
        fail(files, &exchange->response, 500);
    else if (entry->kind == FILE_REGULAR)
        answer_file(files, exchange, entry);
    else
        answer_other(files, exchange, name, entry);
}

/* Whether a candidate of try_files exists. A directory counts only for a name
 * with a final slash: "/about" must not lead to a directory if there is a file
 * "/about.html". */
static bool is_there(const struct file_entry *entry, struct bytes name)
{
    return entry->kind == FILE_REGULAR || entry->kind == FILE_BROKEN ||
           (entry->kind == FILE_DIRECTORY && name.data[name.len - 1] == '/');
}

/* Answers with the first candidate that exists, or else with the error. */
static void answer_tried(struct static_files *files, struct exchange *exchange,
                         struct bytes asked)
{
    struct response *response = &exchange->response;
    struct try_progress progress = {0};
    bool is_directory = false;
    char storage[HTTP1_LINE_BYTES_MAX + TRY_FILES_TEXT_MAX];

    for (;;) {
        struct file_entry *entry;
        struct buf name;
        struct try_step step;

        buf_init(&name, storage, sizeof(storage), sizeof(storage));
        step = try_files_next(files->options.try_files, &progress,
                              &exchange->request, asked, &name);
        response->own_edits = step.edits;
        if (step.kind == TRY_STATUS || name.failed) {
            if (is_directory && !name.failed)
                redirect_to_slash(files, exchange);
            else
                fail(files, response, name.failed ? 414 : step.status);
            return;
        }
        entry = static_files_acquire(files, &exchange->request,
                                     buf_bytes(&name));
        if (!entry) {
            fail(files, response, 500);
            return;
        }
        if (is_there(entry, buf_bytes(&name))) {
            answer_entry(files, exchange, asked, buf_bytes(&name), entry);
            return;
        }
        is_directory |= entry->kind == FILE_DIRECTORY &&
                        bytes_eq(buf_bytes(&name), asked);
        file_entry_release(entry);
    }
}

static void answer_get(struct static_files *files, struct exchange *exchange,
                       struct bytes name)
{
    struct file_entry *entry;

    if (exchange->path.is_hidden && !files->options.show_hidden) {
        fail(files, &exchange->response, 404);
    } else if (name.len == 0) { /* the root, without a final slash */
        redirect_to_slash(files, exchange);
    } else if (files->options.try_files) {
        answer_tried(files, exchange, name);
    } else {
        entry = static_files_acquire(files, &exchange->request, name);
        if (entry)
            answer_entry(files, exchange, name, name, entry);
        else
            fail(files, &exchange->response, 500);
    }
}

static void answer_options(const struct static_files *files,
                           struct response *response)
{
    response_begin(response, 204, files->options.defaults);
    buf_put_literal(&response->head, ALLOW_LINE);
    response_add_head(response);
}

/* Answers a GET, and notes how the cache was involved. */
static void answer_get_timed(struct static_files *files,
                             struct exchange *exchange, struct bytes name)
{
    struct file_cache_counts before = file_cache_count(files->options.cache);
    struct file_cache_counts after;

    answer_get(files, exchange, name);
    after = file_cache_count(files->options.cache);
    if (after.misses > before.misses)
        exchange->response.cache_use = RESPONSE_CACHE_MISS;
    else if (after.hits > before.hits)
        exchange->response.cache_use = RESPONSE_CACHE_HIT;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct static_files *files = self;
    struct bytes name = files->options.strips_prefix ? rest
                                                     : exchange->path.clean;

    switch (exchange->request.method) {
    case METHOD_GET:
    case METHOD_HEAD:
        if (exchange->response.is_timed)
            answer_get_timed(files, exchange, name);
        else
            answer_get(files, exchange, name);
        return;
    case METHOD_OPTIONS:
        answer_options(files, &exchange->response);
        return;
    case METHOD_POST:
    case METHOD_PUT:
    case METHOD_DELETE:
    case METHOD_PATCH:
    case METHOD_TRACE:
    case METHOD_CONNECT:
    case METHOD_OTHER:
    case METHOD_COUNT:
        break;
    }
    response_make_error(&exchange->response, 405, BYTES(ALLOW_LINE),
                        files->options.defaults);
}

struct handler static_files_handler(struct static_files *files)
{
    return (struct handler){.answer = answer, .self = files};
}

const struct file_space *static_files_space(const struct static_files *files)
{
    return &files->options.space;
}

struct static_files *static_files_create(const struct static_files_options
                                             *options)
{
    struct static_files *files = calloc(1, sizeof(*files));

    if (!files)
        return NULL;
    files->options = *options;
    listing_group_init(&files->listings);
    if (getrandom(&files->boundary.secret, sizeof(files->boundary.secret), 0) ==
        (ssize_t)sizeof(files->boundary.secret))
        return files;
    free(files);
    return NULL;
}

void static_files_destroy(struct static_files *files)
{
    free(files);
}
