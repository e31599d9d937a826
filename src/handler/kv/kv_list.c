#include <stdlib.h>

#include "base/address_key.h"
#include "handler/kv/kv_list_priv.h"
#include "http/accept.h"

/*
 *   {"keys":[{"key":"a","size":3,...},...],
 *    "prefixes":[{"prefix":"b/"},...],"cursor":"622f"}
 *
 * Entries have short values, too, if these are asked for. As NDJSON, the answer
 * has a line for each entry, in the order of keys, and a line for the cursor if
 * there are more entries. The store is asked for a few entries at a time. They
 * are written before the store is asked for more. Only the prefixes of a JSON
 * document have to wait in memory, and end the page when they are many.
 */
enum {
    STEP_ENTRIES = 64,
    STEP_BYTES_USUAL = 32768, /* with long keys */
    STEP_ENTRIES_VALUES = KV_LIST_BYTES / KV_PAGE_VALUE_BYTES_MAX,
    /* After this many bytes of values, the answer ends with a cursor. */
    VALUES_BYTES_MAX = 4 << 20,
    LIMIT_MAX = 1000,
    LIMIT_USUAL = 1000,
    /* After this many bytes of prefixes, the same; the room is for those that
     * one more answer of the store can add. */
    PREFIXES_BYTES_MAX = 128 << 10,
    PREFIXES_ROOM = PREFIXES_BYTES_MAX + STEP_ENTRIES * (KV_KEY_BYTES_MAX + 2)
};

#define NO_CURSOR "this is no cursor of ours"
#define TOO_LONG "this is longer than any key"
#define NO_FLAG "this is 0 or 1"

/* --- Asking -------------------------------------------------------------- */

static void on_done(struct kv_page *page)
{
    kv_question_done(&OWNER_OF(page, struct kv_listing, page)->question);
}

/* Asks the store for the next entries. Returns whether they have come at once.
 * If not, on_done() will be called. */
static bool ask(struct kv_listing *listing)
{
    struct kv_question *question = &listing->question;
    size_t most = listing->with_values ? STEP_ENTRIES_VALUES : STEP_ENTRIES;
    size_t step = listing->limit < most ? listing->limit : most;

    arena_fini(&listing->page.arena);
    listing->page = (struct kv_page){
        .prefix = {listing->texts, listing->prefix_len},
        .delimiter = {listing->texts + listing->prefix_len,
                      listing->delimiter_len},
        .after = {listing->after, listing->after_len},
        .limit = step,
        .with_values = listing->with_values,
        .on_done = on_done};
    listing->at = 0;
    question->is_done = kv_client_list(question->kv->options.client,
                                       &listing->page);
    if (!question->is_done)
        kv_question_ask(question);
    return question->is_done;
}

/* Ends a page after all of its entries were written. */
static void finish_page(struct kv_listing *listing)
{
    const struct kv_page *page = &listing->page;

    listing->limit -= page->count < listing->limit ? page->count
                                                   : listing->limit;
    listing->after_len = page->next.len;
    if (page->next.len > 0)
        memcpy(listing->after, page->next.data, page->next.len);
    listing->values_left -= page->value_bytes < listing->values_left
                                ? page->value_bytes
                                : listing->values_left;
    if (listing->after_len == 0 || listing->limit == 0 ||
        listing->values_left == 0 ||
        listing->prefixes.len >= PREFIXES_BYTES_MAX)
        listing->stage = STAGE_PREFIXES;
    else
        ask(listing);
}

/* --- The text ------------------------------------------------------------ */

/* Writes entries of at most one page of the store, since the worker has other
 * clients, too. */
static enum piece_state write_entries(struct kv_listing *listing,
                                      struct buf *out)
{
    if (!listing->question.is_done)
        return PIECE_LATER;
    if (listing->page.outcome != KV_FOUND || listing->prefixes.failed)
        return PIECE_FAILED;
    for (; listing->at < listing->page.count; listing->at++) {
        if (text_source_room(out) < KV_ENTRY_BYTES_MAX)
            return PIECE_MORE;
        if (!kv_listing_put_entry(listing, out,
                                  &listing->page.entries[listing->at]))
            return PIECE_MORE;
    }
    finish_page(listing);
    return PIECE_MORE;
}

static struct kv_listing *fail_parameter(const struct kv *kv,
                                         struct exchange *exchange,
                                         const char *name, const char *detail)
{
    kv_fail_parameter(kv, exchange, name, detail);
    return NULL;
}

/* Makes the response, by the store's first answer: a listing or an error. */
static void answer_first(struct kv_listing *listing)
{
    struct kv_question *question = &listing->question;
    struct exchange *exchange = question->exchange;
    char storage[KV_FIELDS_BYTES_MAX];
    struct buf fields;

    if (listing->page.outcome != KV_FOUND) {
        if (listing->page.outcome == KV_MISSING) {
            fail_parameter(question->kv, exchange, "cursor", NO_CURSOR);
        } else {
            kv_note_undone(question->kv, listing->page.outcome);
            kv_fail_outcome(question->kv, exchange, listing->page.outcome);
        }
        kv_question_release(question);
        return;
    }
    kv_note(question->kv, STATS_STORE_LISTS, 1);
    listing->stage = STAGE_ENTRIES;
    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    buf_put_literal(&fields, "Vary: Accept\r\nCache-Control: no-cache\r\n");
    if (listing->page.has_revision)
        head_number(&fields, BYTES("X-KV-Revision"), listing->page.revision);
    kv_send_text(question->kv, exchange,
                 listing->is_ndjson ? BYTES("application/x-ndjson")
                                    : BYTES("application/json"),
                 buf_bytes(&fields), &listing->text);
}

static struct answer look(struct pending *pending)
{
    struct kv_listing *listing = OWNER_OF(pending, struct kv_listing, pending);

    if (!listing->question.is_done)
        return (struct answer){.state = ANSWER_LATER};
    listing->question.exchange->pending = NULL;
    answer_first(listing);
    return (struct answer){.state = ANSWER_READY};
}

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    struct kv_listing *listing = OWNER_OF(text, struct kv_listing, text);

    if (listing->stage == STAGE_ENTRIES) {
        if (!listing->has_begun && !listing->is_ndjson &&
            listing->question.is_done)
            buf_put_literal(out, "{\"keys\":[");
        listing->has_begun = true;
        return write_entries(listing, out);
    }
    if (listing->stage == STAGE_PREFIXES)
        return kv_listing_write_prefixes(listing, out);
    return kv_listing_write_end(listing, out);
}

static void destroy_pending(struct pending *pending)
{
    kv_question_release(&OWNER_OF(pending, struct kv_listing, pending)
                             ->question);
}

static void destroy_text(struct text_source *text)
{
    kv_question_release(&OWNER_OF(text, struct kv_listing, text)->question);
}

static void destroy(struct kv_question *question)
{
    struct kv_listing *listing = (struct kv_listing *)question;

    arena_fini(&listing->page.arena);
    buf_fini(&listing->prefixes);
    if (listing->with_values)
        kv_memory_give(question->kv->options.values, listing->asker,
                       KV_LIST_BYTES);
    free(listing);
}

/* --- The question -------------------------------------------------------- */

enum parameter {
    PREFIX,
    DELIMITER,
    LIMIT,
    CURSOR,
    VALUES,
    WATCH,
    SINCE,
    PARAMETER_COUNT
};

static int read_digit(char c)
{
    if (byte_is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a cursor. Returns false if it is invalid. */
static bool read_cursor(struct bytes text, char out[KV_CURSOR_BYTES_MAX],
                        size_t *len_out)
{
    *len_out = text.len / 2;
    if (text.len % 2 != 0 || *len_out > KV_CURSOR_BYTES_MAX)
        return false;
    for (size_t i = 0; i < *len_out; i++) {
        int high = read_digit(text.data[2 * i]);
        int low = read_digit(text.data[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (char)(high * 16 + low);
    }
    return true;
}

/* Whether Accept weighs NDJSON higher than application/json. */
static bool wants_ndjson(const struct request *request)
{
    struct accepted json = accept_find(request, BYTES("application/json"));
    struct accepted lines = accept_find(request, BYTES("application/x-ndjson"));

    return lines.weight > json.weight;
}

static struct kv_listing *create(struct kv *kv, struct exchange *exchange,
                                 struct bytes prefix, struct bytes delimiter)
{
    struct kv_listing *listing = malloc(sizeof(*listing) + prefix.len +
                                        delimiter.len);

    if (!listing)
        return NULL;
    *listing = (struct kv_listing){
        .pending = {.look = look, .destroy = destroy_pending, .is_sure = true},
        .is_ndjson = wants_ndjson(&exchange->request),
        .asker = address_key_of(exchange->peer),
        .values_left = VALUES_BYTES_MAX,
        .prefix_len = prefix.len,
        .delimiter_len = delimiter.len};
    kv_question_init(&listing->question, kv, exchange, destroy);
    text_source_init(&listing->text, fill, destroy_text);
    listing->text.source.bytes += STEP_BYTES_USUAL;
    buf_init(&listing->prefixes, NULL, 0, PREFIXES_ROOM);
    if (prefix.len > 0)
        memcpy(listing->texts, prefix.data, prefix.len);
    if (delimiter.len > 0)
        memcpy(listing->texts + prefix.len, delimiter.data, delimiter.len);
    return listing;
}

/* Makes the listing that the query asks for. Returns NULL after it has answered
 * the exchange with an error. */
static struct kv_listing *read_question(struct kv *kv,
                                        struct exchange *exchange,
                                        const struct query_parameter *asked)
{
    uint64_t limit = LIMIT_USUAL;
    struct kv_listing *listing;
    bool with_values;

    if (asked[DELIMITER].value.len > KV_KEY_BYTES_MAX)
        return fail_parameter(kv, exchange, "delimiter", TOO_LONG);
    if (asked[LIMIT].value.data &&
        (!query_number(asked[LIMIT].value, LIMIT_MAX, &limit) || limit == 0))
        return fail_parameter(kv, exchange, "limit", "this is 1 to 1000");
    if (!kv_read_flag(asked[VALUES].value, &with_values))
        return fail_parameter(kv, exchange, "values", NO_FLAG);
    listing = create(kv, exchange, asked[PREFIX].value, asked[DELIMITER].value);
    if (listing && with_values)
        listing->with_values = kv_memory_take(kv->options.values,
                                              listing->asker, KV_LIST_BYTES);
    if (!listing || listing->with_values != with_values) {
        kv_fail_outcome(kv, exchange, KV_BUSY);
        if (listing)
            kv_question_release(&listing->question);
        return NULL;
    }
    listing->limit = (size_t)limit;
    if (read_cursor(asked[CURSOR].value, listing->after, &listing->after_len))
        return listing;
    kv_question_release(&listing->question);
    return fail_parameter(kv, exchange, "cursor", NO_CURSOR);
}

/* Returns a parameter of the query that only the other kind of question may
 * have: a page has no "since", and a watch has only "prefix" and "since".
 * Returns NULL if there is none. */
static const struct query_parameter *find_stray(
    const struct query_parameter *asked, bool is_watch)
{
    static const enum parameter of_pages[] = {DELIMITER, LIMIT, CURSOR, VALUES};

    if (!is_watch)
        return asked[SINCE].value.data ? &asked[SINCE] : NULL;
    for (size_t i = 0; i < sizeof(of_pages) / sizeof(*of_pages); i++)
        if (asked[of_pages[i]].value.data)
            return &asked[of_pages[i]];
    return NULL;
}

static void list_keys(struct kv *kv, struct exchange *exchange,
                      const struct query_parameter *asked)
{
    struct kv_listing *listing = read_question(kv, exchange, asked);

    if (!listing)
        return;
    if (ask(listing))
        answer_first(listing);
    else
        exchange->pending = &listing->pending;
}

void kv_list(struct kv *kv, struct exchange *exchange)
{
    struct query_parameter asked[PARAMETER_COUNT] = {
        [PREFIX] = {.name = BYTES("prefix")},
        [DELIMITER] = {.name = BYTES("delimiter")},
        [LIMIT] = {.name = BYTES("limit")},
        [CURSOR] = {.name = BYTES("cursor")},
        [VALUES] = {.name = BYTES("values")},
        [WATCH] = {.name = BYTES("watch")},
        [SINCE] = {.name = BYTES("since")}};
    const struct query_parameter *stray;
    bool is_watch;

    if (!kv_read_query(kv, exchange, asked, PARAMETER_COUNT))
        return;
    if (!kv_read_flag(asked[WATCH].value, &is_watch)) {
        kv_fail_parameter(kv, exchange, "watch", NO_FLAG);
        return;
    }
    stray = find_stray(asked, is_watch);
    if (stray)
        kv_fail_parameter(kv, exchange, stray->name.data,
                          is_watch ? "a watch has no such parameter"
                                   : "only a watch has this");
    else if (asked[PREFIX].value.len > KV_KEY_BYTES_MAX)
        kv_fail_parameter(kv, exchange, "prefix", TOO_LONG);
    else if (is_watch)
        kv_watch(kv, exchange, asked[PREFIX].value, asked[SINCE].value);
    else
        list_keys(kv, exchange, asked);
}
