#include "handler/location.h"

#include <stdio.h>

#include "base/units.h"
#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/redirect.h"
#include "handler/respond.h"
#include "handler/try_files.h"
#include "http/rules/cache_rules.h"
#include "http/rules/compress_rules.h"
#include "http/rules/dictionary_rules.h"
#include "http/rules/priority_rules.h"
#include "http/rules/type_rules.h"

#define NO_MEMORY "cannot be had: out of memory"

/* --- Redirects ----------------------------------------------------------- */

const char *location_add_redirect(struct redirect_rules *rules,
                                  struct bytes text)
{
    struct bytes from = bytes_take_word(&text);
    struct bytes to = bytes_take_word(&text);
    struct bytes status = bytes_take_word(&text);
    unsigned number = 0;

    if (to.len == 0 || bytes_trim(text).len > 0)
        return "is not \"PATTERN TARGET\" or \"PATTERN TARGET STATUS\"";
    if (status.len > 3)
        return "has a status that is none of 301, 302, 303, 307, 308";
    for (size_t i = 0; i < status.len; i++) {
        if (!byte_is_digit(status.data[i]))
            return "has a status that is none of 301, 302, 303, 307, 308";
        number = number * 10 + (unsigned)(status.data[i] - '0');
    }
    return redirect_rules_add(rules, from, to, number);
}

/* --- Compiling lists ----------------------------------------------------- */

static const char *add_edits(struct head_edits *edits, enum head_edit_kind kind,
                             const struct texts *texts)
{
    const char *fault = NULL;

    for (size_t i = 0; i < texts->count && !fault; i++)
        fault = head_edits_add(edits, kind, bytes_of(texts->items[i]));
    return fault;
}

static const char *make_edits(struct location_options *location,
                              struct arena *arena)
{
    struct head_edits *edits;
    const char *fault;

    location->edits = NULL;
    if (location->header_set.count + location->header_add.count +
            location->header_remove.count ==
        0)
        return NULL;
    edits = arena_take(arena, sizeof(*edits));
    if (!edits)
        return NO_MEMORY;
    location->edits = edits;
    fault = add_edits(edits, HEAD_REMOVE, &location->header_remove);
    if (!fault)
        fault = add_edits(edits, HEAD_SET, &location->header_set);
    return fault ? fault : add_edits(edits, HEAD_ADD, &location->header_add);
}

/* Defines a function that makes an object of `type` and calls `add` with each
 * of the texts. Without texts, the object is NULL. */
#define MAKE(type, add)                                                     \
    static const char *make_##type(const struct type **made_out,            \
                                   const struct texts *texts,               \
                                   struct arena *arena)                     \
    {                                                                       \
        struct type *made = NULL;                                           \
        const char *fault = NULL;                                           \
                                                                            \
        if (texts->count > 0 && !(made = arena_take(arena, sizeof(*made)))) \
            return NO_MEMORY;                                               \
        for (size_t i = 0; i < texts->count && !fault; i++)                 \
            fault = add(made, bytes_of(texts->items[i]));                   \
        *made_out = made;                                                   \
        return fault;                                                       \
    }

MAKE(cache_rules, cache_rules_add)
MAKE(type_rules, type_rules_add)
MAKE(priority_rules, priority_rules_add)
MAKE(try_files, try_files_add)
MAKE(error_pages, error_pages_add)
MAKE(redirect_rules, location_add_redirect)

static const char *add_all(struct cors *cors, const struct texts *texts,
                           const char *(*add)(struct cors *cors,
                                              struct bytes text))
{
    const char *fault = NULL;

    for (size_t i = 0; i < texts->count && !fault; i++)
        fault = add(cors, bytes_of(texts->items[i]));
    return fault;
}

static const char *make_cors(struct location_options *location,
                             struct arena *arena)
{
    struct cors *cors;
    const char *fault;

    location->cors = NULL;
    if (location->cors_origin.count == 0)
        return NULL;
    cors = arena_take(arena, sizeof(*cors));
    if (!cors)
        return NO_MEMORY;
    location->cors = cors;
    cors->allows_credentials = location->cors_credentials;
    cors->max_age_s = (uint32_t)(location->cors_max_age_ms / MS_PER_S);
    fault = add_all(cors, &location->cors_origin, cors_add_origin);
    if (!fault)
        fault = add_all(cors, &location->cors_method, cors_add_method);
    if (!fault)
        fault = add_all(cors, &location->cors_header, cors_add_field);
    if (!fault)
        fault = add_all(cors, &location->cors_expose, cors_add_exposed);
    return fault ? fault : cors_finish(cors);
}

/* --- HTTPS --------------------------------------------------------------- */

/* Checks the directives of RFC 6797 6.1: there must be one max-age. */
static const char *check_hsts(struct bytes text)
{
    bool has_max_age = false;

    while (text.len > 0) {
        const char *end = memchr(text.data, ';', text.len);
        struct bytes word =
            bytes_trim(bytes_between(text.data,
                                     end ? end : text.data + text.len));

        text = end ? bytes_between(end + 1, text.data + text.len) : BYTES("");
        if (bytes_ieq(word, BYTES("includeSubDomains")) ||
            bytes_ieq(word, BYTES("preload")))
            continue;
        if (has_max_age || word.len < sizeof("max-age=0") - 1 ||
            !bytes_ieq((struct bytes){word.data, 8}, BYTES("max-age=")))
            return "is not \"max-age=SECONDS\", perhaps with "
                   "\"; includeSubDomains\" or \"; preload\" behind it";
        for (size_t i = 8; i < word.len; i++)
            if (!byte_is_digit(word.data[i]))
                return "has a max-age that is no number of seconds";
        has_max_age = true;
    }
    return has_max_age ? NULL : "has no max-age";
}

static const char *make_hsts(struct location_options *location,
                             struct arena *arena)
{
    struct line {
        struct bytes bytes;
        char text[];
    } * line;
    const char *fault;
    size_t size;

    location->hsts_line = NULL;
    if (!location->hsts)
        return NULL;
    fault = check_hsts(bytes_of(location->hsts));
    if (fault)
        return fault;
    size = sizeof("Strict-Transport-Security: \r\n") + strlen(location->hsts);
    line = arena_take(arena, sizeof(*line) + size);
    if (!line)
        return NO_MEMORY;
    snprintf(line->text, size, "Strict-Transport-Security: %s\r\n",
             location->hsts);
    line->bytes = (struct bytes){line->text, size - 1};
    location->hsts_line = &line->bytes;
    return NULL;
}

/* --- Compressed ---------------------------------------------------------- */

static const char *add_codings(struct compress_rules *rules,
                               const struct texts *texts)
{
    const char *fault = NULL;

    if (texts->count == 0)
        compress_rules_add_codings(rules);
    for (size_t i = 0; i < texts->count && !fault; i++)
        fault = compress_rules_add_coding(rules, bytes_of(texts->items[i]));
    return fault;
}

static const char *add_types(struct compress_rules *rules,
                             const struct texts *texts)
{
    const char *fault = NULL;

    if (texts->count == 0)
        compress_rules_add_types(rules);
    for (size_t i = 0; i < texts->count && !fault; i++)
        fault = compress_rules_add_type(rules, bytes_of(texts->items[i]));
    return fault;
}

/* Returns false if the location has the single word "off", or inherits it. */
static bool wants_compression(const struct location_options *location)
{
    return location->compress.count != 1 ||
           strcmp(location->compress.items[0], COMPRESS_OFF) != 0;
}

static const char *make_compress_rules(struct location_options *location,
                                       struct arena *arena)
{
    struct compress_rules *rules;
    const char *fault;

    location->compress_rules = NULL;
    if (!wants_compression(location))
        return NULL;
    rules = arena_take(arena, sizeof(*rules));
    if (!rules)
        return NO_MEMORY;
    rules->bytes_min = location->compress_min;
    rules->bytes_max = location->compress_max;
    fault = add_codings(rules, &location->compress);
    location->compress_rules = rules;
    return fault ? fault : add_types(rules, &location->compress_types);
}

static const char *make_dictionary_rules(struct location_options *location,
                                         struct arena *arena)
{
    struct dictionary_rules *rules;
    const char *fault = NULL;

    location->dictionary_rules = NULL;
    if (location->dictionary.count == 0)
        return NULL;
    rules = arena_take(arena, sizeof(*rules));
    if (!rules)
        return NO_MEMORY;
    for (size_t i = 0; i < location->dictionary.count && !fault; i++)
        fault = dictionary_rules_add(rules,
                                     bytes_of(location->dictionary.items[i]));
    location->dictionary_rules = rules;
    return fault;
}

static const char *check_respond(const struct location_options *location)
{
    struct respond_options respond = {
        .status = (unsigned)location->respond_status,
        .type = bytes_of(location->respond_type ? location->respond_type : ""),
        .text = bytes_of(location->respond ? location->respond : "")};

    return location->respond ? respond_check(&respond) : NULL;
}

struct location_fault location_compile(struct location_options *location,
                                       struct arena *arena)
{
    const char *words;

#define TRY(option, call) \
    words = call;         \
    if (words)            \
    return (struct location_fault){option, words}

    TRY("header-set", make_edits(location, arena));
    TRY("cache-control-for",
        make_cache_rules(&location->cache_rules, &location->cache_control_for,
                         arena));
    TRY("type", make_type_rules(&location->type_rules, &location->type, arena));
    TRY("priority", make_priority_rules(&location->priority_rules,
                                        &location->priority, arena));
    TRY("try-files",
        make_try_files(&location->try_files, &location->try_list, arena));
    TRY("error-page",
        make_error_pages(&location->error_pages, &location->error_page, arena));
    TRY("redirect",
        make_redirect_rules(&location->redirects, &location->redirect, arena));
    TRY("cors-origin", make_cors(location, arena));
    TRY("hsts", make_hsts(location, arena));
    TRY("compress", make_compress_rules(location, arena));
    TRY("dictionary", make_dictionary_rules(location, arena));
    TRY("respond", check_respond(location));
#undef TRY
    return (struct location_fault){NULL, NULL};
}
