#include "handler/error_pages.h"

#include "http/path.h"

/* --- Reading ------------------------------------------------------------- */

/* Returns where `pages` keeps the number of the page for a status ("404") or a
 * class ("5xx"). Returns NULL if `word` is neither. */
static uint8_t *find_number(struct error_pages *pages, struct bytes word)
{
    unsigned class;

    if (word.len != 3 || (*word.data != '4' && *word.data != '5'))
        return NULL;
    class = (unsigned)(*word.data - '4');
    if (bytes_eq((struct bytes){word.data + 1, 2}, BYTES("xx")))
        return &pages->of_class[class];
    if (!byte_is_digit(word.data[1]) || !byte_is_digit(word.data[2]))
        return NULL;
    return &pages->of_status[class * 100 + (unsigned)(word.data[1] - '0') * 10 +
                             (unsigned)(word.data[2] - '0')];
}

static bool is_file_path(struct bytes text)
{
    char storage[ERROR_PAGE_PATH_MAX];
    struct path path;

    return text.len <= ERROR_PAGE_PATH_MAX &&
           path_clean(text, storage, &path) && bytes_eq(path.clean, text) &&
           text.data[text.len - 1] != '/';
}

const char *error_pages_add(struct error_pages *pages, struct bytes text)
{
    struct error_pages made = *pages; /* a faulty text changes only this copy */
    struct bytes rest = bytes_trim(text);
    struct bytes word = bytes_take_word(&rest);

    if (pages->count == ERROR_PAGES_MAX)
        return "is one page too many, 32 are allowed";
    if (word.len == 0 || rest.len == 0)
        return "is not statuses and a path";
    made.count++;
    for (; rest.len > 0; word = bytes_take_word(&rest)) {
        uint8_t *number = find_number(&made, word);

        if (!number)
            return "has something other than 400 to 599, 4xx or 5xx before "
                   "its path";
        if (*number != 0)
            return "names a status that has a page already";
        *number = (uint8_t)made.count;
    }
    if (!is_file_path(word))
        return "does not end in the path of a file: '/' first, not last, no "
               "'//', '.' or '..', nothing encoded, at most 500 bytes";
    made.paths[pages->count] = word;
    *pages = made;
    return NULL;
}

/* --- Finding ------------------------------------------------------------- */

struct bytes error_pages_find(const struct error_pages *pages, unsigned status)
{
    unsigned at = status - ERROR_PAGE_STATUS_MIN;
    unsigned number;

    if (status < ERROR_PAGE_STATUS_MIN || at >= ERROR_PAGE_STATUS_COUNT)
        return BYTES("");
    number = pages->of_status[at];
    if (number == 0)
        number = pages->of_class[at / 100];
    return number > 0 ? pages->paths[number - 1] : BYTES("");
}

/* --- Answering ----------------------------------------------------------- */

static bool is_intact(void *entry)
{
    return file_entry_is_intact(entry);
}

static void release(void *entry)
{
    file_entry_release(entry);
}

/* Makes the file the response's body. The response takes over the reference to
 * `entry`. */
static void put_body(struct response *response, struct file_entry *entry)
{
    if (entry->is_snapshot)
        response_add_memory(response, file_entry_body(entry));
    else
        response_add_file(response, PART_READ, entry->fd, 0,
                          entry->stamp.bytes);
    response->origin = (struct origin){
        .is_intact = entry->is_snapshot ? NULL : is_intact,
        .release = release,
        .object = entry};
}

void error_pages_apply(const struct error_pages *pages,
                       struct file_cache *cache, const struct file_space *space,
                       struct response *response)
{
    struct bytes path = error_pages_find(pages, response->status);
    struct file_entry *entry;

    if (!response->is_error || path.len == 0)
        return;
    entry = file_cache_acquire(cache, space, path, CODING_IDENTITY);
    if (!entry)
        return;
    if (entry->kind == FILE_REGULAR && file_entry_is_intact(entry) &&
        response_replace_body(response, file_cache_type(cache, space, path),
                              entry->stamp.bytes) &&
        !response->is_head)
        put_body(response, entry);
    else
        file_entry_release(entry);
}
