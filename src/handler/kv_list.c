#include <stdlib.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "handler/kv_priv.h"
#include "http/accept.h"
#include "http/date.h"

/*
 *   {"keys":[{"key":"a","size":3,...},...],
 *    "prefixes":[{"prefix":"b/"},...],"cursor":"622f"}
 *
 * or, as NDJSON, a line for each of them in the order of keys, and one for the
 * cursor if there is more. The store is asked for a few entries at a time, and
 * they are written before it is asked for more. Only the prefixes of a JSON
 * document wait for their turn: 1,000 of 511 bytes at most.
 */
enum {
    STEP_ENTRIES = 64,
    LIMIT_MAX = 1000,
    LIMIT_USUAL = 1000,
    PREFIXES_BYTES_MAX = LIMIT_MAX * (KV_KEY_BYTES_MAX + 2),
    /* A key and a type with each byte as "\u00XX", and what stands around. */
    ENTRY_BYTES_MAX = 6 * (KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX) + 300,
    END_BYTES_MAX = 2 * KV_CURSOR_BYTES_MAX + 40
};

_Static_assert((int)ENTRY_BYTES_MAX <= (int)RESPONSE_STREAM_BYTES &&
                   (int)END_BYTES_MAX <= (int)RESPONSE_STREAM_BYTES,
               "any piece must fit one fill");

#define NO_CURSOR "this is no cursor of ours"

enum stage {
    STAGE_ASKING, /* there is no head yet */
    STAGE_ENTRIES,
    STAGE_PREFIXES,
    STAGE_END
};

struct listing {
    struct kv_question question; /* first: the same address */
    struct stream stream;
    struct kv_page page;
    enum stage stage;
    bool is_ndjson;
    bool has_begun; /* to write */
    size_t limit;   /* how many may follow those that the store was asked for */
    size_t at;      /* the next entry to write */
    uint64_t keys;
    size_t prefixes_at;
    struct buf prefixes; /* each behind two bytes with its length */
    size_t after_len;
    char after[KV_CURSOR_BYTES_MAX];
    size_t prefix_len;
    size_t delimiter_len;
    char texts[]; /* prefix and delimiter */
};

/* --- Writing ---------------------------------------------------------------- */

/* "name":"text", or "name64":"..." for what is no text. */
static void put_text(struct buf *out, const char *name, struct bytes text)
{
    bool is_text = utf8_is_valid(text);

    buf_put_literal(out, "\"");
    buf_put(out, bytes_of(name));
    buf_put(out, is_text ? BYTES("\":\"") : BYTES("64\":\""));
    if (is_text)
        buf_put_json(out, text);
    else
        base64_put(out, text);
    buf_put_literal(out, "\"");
}

static void put_prefix(struct buf *out, struct bytes prefix)
{
    buf_put_literal(out, "{");
    put_text(out, "prefix", prefix);
    buf_put_literal(out, "}");
}

static void put_key(struct buf *out, const struct kv_entry *entry)
{
    buf_put_literal(out, "{");
    put_text(out, "key", entry->key);
    buf_put_literal(out, ",\"size\":");
    buf_put_number(out, entry->value_bytes);
    buf_put_literal(out, ",\"etag\":\"\\\"");
    buf_put_number(out, entry->meta.revision);
    buf_put_literal(out, "\\\"\",\"type\":\"");
    buf_put_json(out,
                 entry->type.len > 0 ? entry->type : BYTES(KV_DEFAULT_TYPE));
    buf_put_literal(out, "\",\"time\":\"");
    date_put_rfc3339(out, entry->meta.stored_ms / 1000, 'T');
    buf_put_literal(out, "\",\"expires\":");
    if (entry->meta.expires_ms == 0) {
        buf_put_literal(out, "null}");
        return;
    }
    buf_put_literal(out, "\"");
    date_put_rfc3339(out, kv_expires_s(&entry->meta), 'T');
    buf_put_literal(out, "\"}");
}

/* Hexadecimal: nothing in it needs an escape, wherever it is put. */
static void put_cursor(struct buf *out, struct bytes after)
{
    static const char digits[] = "0123456789abcdef";
    char *to = buf_reserve(out, 2 * after.len);

    if (!to)
        return;
    out->len += 2 * after.len;
    for (size_t i = 0; i < after.len; i++) {
        unsigned char byte = (unsigned char)after.data[i];

        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
}

static void keep_prefix(struct listing *listing, struct bytes prefix)
{
    char len[2] = {(char)(prefix.len >> 8), (char)prefix.len};

    buf_put(&listing->prefixes, (struct bytes){len, 2});
    buf_put(&listing->prefixes, prefix);
}

static void put_entry(struct listing *listing, struct buf *out,
                      const struct kv_entry *entry)
{
    if (listing->is_ndjson) {
        if (entry->is_prefix)
            put_prefix(out, entry->key);
        else
            put_key(out, entry);
        buf_put_literal(out, "\n");
    } else if (entry->is_prefix) {
        keep_prefix(listing, entry->key);
    } else {
        buf_put(out, listing->keys++ > 0 ? BYTES(",\n") : BYTES("\n"));
        put_key(out, entry);
    }
}

static size_t room_of(const struct buf *out)
{
    return out->len < RESPONSE_STREAM_BYTES ? RESPONSE_STREAM_BYTES - out->len
                                            : 0;
}

/* --- Asking ----------------------------------------------------------------- */

static void on_done(struct kv_page *page)
{
    kv_question_done(&OWNER_OF(page, struct listing, page)->question);
}

/* Whether the next entries have come; else it is told when they have. */
static bool ask(struct listing *listing)
{
    struct kv_question *question = &listing->question;
    size_t step = listing->limit < STEP_ENTRIES ? listing->limit : STEP_ENTRIES;

    arena_fini(&listing->page.arena);
    listing->page = (struct kv_page){
        .prefix = {listing->texts, listing->prefix_len},
        .delimiter = {listing->texts + listing->prefix_len,
                      listing->delimiter_len},
        .after = {listing->after, listing->after_len},
        .limit = step,
        .on_done = on_done};
    listing->at = 0;
    question->is_done = kv_desk_list(question->kv->options.desk,
                                     &listing->page);
    if (!question->is_done)
        kv_question_ask(question);
    return question->is_done;
}

/* All that came has been written. */
static void finish_page(struct listing *listing)
{
    const struct kv_page *page = &listing->page;

    listing->limit -= page->count < listing->limit ? page->count
                                                   : listing->limit;
    listing->after_len = page->next.len;
    if (page->next.len > 0)
        memcpy(listing->after, page->next.data, page->next.len);
    if (listing->after_len == 0 || listing->limit == 0)
        listing->stage = STAGE_PREFIXES;
    else
        ask(listing);
}

/* --- The stream ------------------------------------------------------------- */

/* One page of the store at most: a worker has others to serve. */
static int write_entries(struct listing *listing, struct buf *out)
{
    if (!listing->question.is_done)
        return STREAM_LATER;
    if (listing->page.outcome != KV_FOUND || listing->prefixes.failed)
        return STREAM_FAILED;
    for (; listing->at < listing->page.count; listing->at++) {
        if (room_of(out) < ENTRY_BYTES_MAX)
            return STREAM_MORE;
        put_entry(listing, out, &listing->page.entries[listing->at]);
    }
    finish_page(listing);
    return STREAM_MORE;
}

static int write_prefixes(struct listing *listing, struct buf *out)
{
    const struct buf *prefixes = &listing->prefixes;

    if (listing->is_ndjson) {
        listing->stage = STAGE_END;
        return STREAM_MORE;
    }
    while (listing->prefixes_at < prefixes->len) {
        const unsigned char *at = (const unsigned char *)prefixes->data +
                                  listing->prefixes_at;
        size_t len = (size_t)at[0] << 8 | at[1];

        if (room_of(out) < ENTRY_BYTES_MAX)
            return STREAM_MORE;
        buf_put(out, listing->prefixes_at > 0 ? BYTES(",\n")
                                              : BYTES("],\n\"prefixes\":["));
        put_prefix(out, (struct bytes){(const char *)at + 2, len});
        listing->prefixes_at += 2 + len;
    }
    if (room_of(out) < END_BYTES_MAX)
        return STREAM_MORE;
    if (prefixes->len == 0)
        buf_put_literal(out, "],\n\"prefixes\":[");
    listing->stage = STAGE_END;
    return STREAM_MORE;
}

static int write_end(struct listing *listing, struct buf *out)
{
    struct bytes after = {listing->after, listing->after_len};

    if (room_of(out) < END_BYTES_MAX)
        return STREAM_MORE;
    if (listing->is_ndjson) {
        if (after.len == 0)
            return STREAM_END;
        buf_put_literal(out, "{\"cursor\":\"");
        put_cursor(out, after);
        buf_put_literal(out, "\"}\n");
        return STREAM_END;
    }
    buf_put_literal(out, "],\n\"cursor\":");
    if (after.len > 0) {
        buf_put_literal(out, "\"");
        put_cursor(out, after);
        buf_put_literal(out, "\"}\n");
    } else {
        buf_put_literal(out, "null}\n");
    }
    return STREAM_END;
}

static struct listing *fail_parameter(const struct kv *kv,
                                      struct exchange *exchange,
                                      const char *name, const char *detail)
{
    struct problem problem = {
        .status = 400,
        .detail = bytes_of(detail),
        .members = {{.name = "parameter", .text = bytes_of(name)}}};

    kv_fail_with(kv, exchange, &problem);
    return NULL;
}

/* Whether there is to be a listing depends on what the store says first. */
static void answer_first(struct listing *listing)
{
    struct kv_question *question = &listing->question;
    struct exchange *exchange = question->exchange;

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
    kv_send_stream(question->kv, exchange,
                   listing->is_ndjson ? BYTES("application/x-ndjson")
                                      : BYTES("application/json"),
                   BYTES("Vary: Accept\r\nCache-Control: no-cache\r\n"),
                   &listing->stream);
}

static int fill(struct stream *stream, struct buf *out)
{
    struct listing *listing = OWNER_OF(stream, struct listing, stream);

    if (listing->stage == STAGE_ASKING) {
        if (!listing->question.is_done)
            return STREAM_LATER;
        listing->question.exchange->response.stream = NULL;
        answer_first(listing);
        return STREAM_ANSWERED;
    }
    if (listing->stage == STAGE_ENTRIES) {
        if (!listing->has_begun && !listing->is_ndjson &&
            listing->question.is_done)
            buf_put_literal(out, "{\"keys\":[");
        listing->has_begun = true;
        return write_entries(listing, out);
    }
    if (listing->stage == STAGE_PREFIXES)
        return write_prefixes(listing, out);
    return write_end(listing, out);
}

static void destroy_stream(struct stream *stream)
{
    kv_question_release(&OWNER_OF(stream, struct listing, stream)->question);
}

static void destroy(struct kv_question *question)
{
    struct listing *listing = (struct listing *)question;

    arena_fini(&listing->page.arena);
    buf_fini(&listing->prefixes);
    free(listing);
}

/* --- What is asked for ------------------------------------------------------ */

enum parameter { PREFIX, DELIMITER, LIMIT, CURSOR, PARAMETER_COUNT };

static int read_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: none of ours. */
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

/* NDJSON when Accept gives it a higher weight than application/json. */
static bool wants_ndjson(const struct request *request)
{
    struct accepted json = accept_find(request, BYTES("application/json"));
    struct accepted lines = accept_find(request, BYTES("application/x-ndjson"));

    return lines.weight > json.weight;
}

static struct listing *create(struct kv *kv, struct exchange *exchange,
                              struct bytes prefix, struct bytes delimiter)
{
    struct listing *listing = malloc(sizeof(*listing) + prefix.len +
                                     delimiter.len);

    if (!listing)
        return NULL;
    *listing = (struct listing){.stream = {.fill = fill,
                                           .destroy = destroy_stream},
                                .is_ndjson = wants_ndjson(&exchange->request),
                                .prefix_len = prefix.len,
                                .delimiter_len = delimiter.len};
    kv_question_init(&listing->question, kv, exchange, destroy);
    buf_init(&listing->prefixes, NULL, 0, PREFIXES_BYTES_MAX);
    if (prefix.len > 0)
        memcpy(listing->texts, prefix.data, prefix.len);
    if (delimiter.len > 0)
        memcpy(listing->texts + prefix.len, delimiter.data, delimiter.len);
    return listing;
}

/* NULL: it has been answered. */
static struct listing *read_question(struct kv *kv, struct exchange *exchange)
{
    struct query_parameter asked[PARAMETER_COUNT] = {
        [PREFIX] = {.name = BYTES("prefix")},
        [DELIMITER] = {.name = BYTES("delimiter")},
        [LIMIT] = {.name = BYTES("limit")},
        [CURSOR] = {.name = BYTES("cursor")}};
    uint64_t limit = LIMIT_USUAL;
    struct listing *listing;

    if (!kv_read_query(kv, exchange, asked, PARAMETER_COUNT))
        return NULL;
    if (asked[PREFIX].value.len > KV_KEY_BYTES_MAX)
        return fail_parameter(kv, exchange, "prefix",
                              "this is longer than any key");
    if (asked[DELIMITER].value.len > KV_KEY_BYTES_MAX)
        return fail_parameter(kv, exchange, "delimiter",
                              "this is longer than any key");
    if (asked[LIMIT].value.data &&
        (!query_number(asked[LIMIT].value, LIMIT_MAX, &limit) || limit == 0))
        return fail_parameter(kv, exchange, "limit", "this is 1 to 1000");
    listing = create(kv, exchange, asked[PREFIX].value, asked[DELIMITER].value);
    if (!listing) {
        kv_fail_outcome(kv, exchange, KV_BUSY);
        return NULL;
    }
    listing->limit = (size_t)limit;
    if (read_cursor(asked[CURSOR].value, listing->after, &listing->after_len))
        return listing;
    kv_question_release(&listing->question);
    return fail_parameter(kv, exchange, "cursor", NO_CURSOR);
}

void kv_list(struct kv *kv, struct exchange *exchange)
{
    struct listing *listing = read_question(kv, exchange);

    if (!listing)
        return;
    if (ask(listing))
        answer_first(listing);
    else
        exchange->response.stream = &listing->stream;
}
