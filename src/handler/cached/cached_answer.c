#include "cache/cached_head.h"
#include "handler/cached/cached_priv.h"
#include "handler/encode.h"
#include "handler/representation.h"
#include "http/condition.h"
#include "http/range.h"

/* Parts of a response: one for the head, and up to three for each range. */
enum { RANGES_PARTS_MAX = 1 + 3 * CACHE_RANGES_MAX };

/* --- Heads --------------------------------------------------------------- */

/* Puts the fields that a cache adds to the stored fields: Age (RFC 9111 5.1)
 * and Cache-Status (RFC 9211). An answer that the origin has just made or
 * confirmed for this request has no Age. */
static void put_own_fields(const struct cached *cached,
                           const struct cache_entry *entry,
                           const struct cached_note *note, struct buf *head)
{
    if (!note->is_from_origin || note->is_aged)
        head_number(head, BYTES("Age"),
                    (uint64_t)cache_facts_age(&entry->facts,
                                              cached_now(cached)->wall_s));
    cached_note_put(cached, note, head);
}

static void put_kept_fields(const struct cache_entry *entry,
                            const struct cached_note *note, struct buf *head)
{
    buf_put(head, entry->lines);
    buf_put(head, note->own);
}

static void begin(struct response *response, const struct cache_entry *entry,
                  unsigned status, struct bytes phrase)
{
    response_begin_relayed(response, status, phrase);
    response->has_date = entry->facts.has_date;
}

/* Completes the head of an answer that is not compressed this time, but may be
 * compressed for other clients. */
static void note_codings(struct exchange *exchange,
                         const struct cache_entry *entry)
{
    encode_unsent(exchange->response.encode, exchange,
                  cached_head_find(entry->lines, BYTES("Content-Type")));
}

static void answer_not_modified(struct cached *cached,
                                struct exchange *exchange,
                                const struct cache_entry *entry,
                                const struct cached_note *note)
{
    struct response *response = &exchange->response;

    begin(response, entry, 304, BYTES("Not Modified"));
    cached_head_put_not_modified(entry->lines, &response->head);
    buf_put(&response->head, note->own);
    note_codings(exchange, entry);
    put_own_fields(cached, entry, note, &response->head);
    response_add_head(response);
}

/* --- Ranges -------------------------------------------------------------- */

enum part_verdict { PART_ALL, PART_ONE, PART_NONE };

/* Returns the time before which a stored Last-Modified is a strong validator. A
 * later date may be the date of several versions that were made in the same
 * second (RFC 9110 8.8.2.2). */
static int64_t end_of_strong_dates(const struct cached *cached,
                                   const struct cache_facts *facts)
{
    int64_t now_s = cached_now(cached)->wall_s;

    return facts->date_s < now_s ? facts->date_s : now_s;
}

/* Finds the part that the request wants. A request for several parts gets the
 * whole body, which is a valid answer, too. */
static enum part_verdict find_part(const struct cached *cached,
                                   const struct exchange *exchange,
                                   const struct cache_entry *entry,
                                   uint64_t length, struct range *range_out)
{
    const struct field *field = request_single(&exchange->request, FIELD_RANGE);
    const struct cache_facts *facts = &entry->facts;
    struct validators validators = {.etag = facts->etag,
                                    .modified = facts->modified_s};
    struct range ranges[RANGE_COUNT_MAX];
    size_t count = 0;

    if (!field || exchange->request.method != METHOD_GET ||
        (facts->status != 200 && facts->status != 206) ||
        length == CACHE_LENGTH_UNKNOWN)
        return PART_ALL;
    validators.is_date_shared = encode_has_forms(exchange->response.encode,
                                                 entry->lines);
    if (!condition_range_applies(&exchange->request, &validators,
                                 end_of_strong_dates(cached, facts)))
        return PART_ALL;
    switch (range_parse(field->value, length, ranges, &count)) {
    case RANGE_IGNORE:
        return PART_ALL;
    case RANGE_UNSATISFIABLE:
        range_out->last = length;
        return PART_NONE;
    case RANGE_PARTIAL:
        break;
    }
    *range_out = ranges[0];
    return count == 1 ? PART_ONE : PART_ALL;
}

static void put_content_range(struct buf *head, const struct range *range,
                              uint64_t length)
{
    buf_printf(head, "Content-Range: bytes %llu-%llu/%llu\r\n",
               (unsigned long long)range->first,
               (unsigned long long)range->last, (unsigned long long)length);
}

static void answer_range(struct cached *cached, struct exchange *exchange,
                         const struct cache_found *found,
                         const struct range *range,
                         const struct cached_note *note)
{
    struct response *response = &exchange->response;
    const struct cache_entry *entry = found->entry;

    begin(response, entry, 206, BYTES("Partial Content"));
    cached_head_put_for_part(entry->lines, &response->head);
    buf_put(&response->head, note->own);
    note_codings(exchange, entry);
    put_content_range(&response->head, range, cache_body_length(found->body));
    put_own_fields(cached, entry, note, &response->head);
    cached_add_body(cached, exchange, found->body, range->first,
                    range->last - range->first + 1);
}

static void refuse_range(struct cached *cached, struct exchange *exchange,
                         uint64_t length, const struct cached_note *note)
{
    char storage[128 + CACHED_NOTE_BYTES];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    buf_printf(&fields, "Content-Range: bytes */%llu\r\n",
               (unsigned long long)length);
    cached_note_put(cached, note, &fields);
    response_make_error(&exchange->response, 416, buf_bytes(&fields),
                        cached->options.defaults);
}

/* --- The whole body ------------------------------------------------------ */

static void answer_all(struct cached *cached, struct exchange *exchange,
                       const struct cache_found *found,
                       const struct cached_note *note)
{
    struct response *response = &exchange->response;
    const struct cache_entry *entry = found->entry;

    begin(response, entry, entry->facts.status, entry->phrase);
    put_kept_fields(entry, note, &response->head);
    put_own_fields(cached, entry, note, &response->head);
    cached_add_body(cached, exchange, found->body, 0,
                    found->body ? cache_body_length(found->body) : 0);
}

/* Returns true if the request's conditions show that the client has the stored
 * answer. Conditions count only if the answer would be a 200 without them (RFC
 * 9110 13.2.1). For an answer without Last-Modified, its Date is used instead
 * (RFC 9111 4.3.2). */
static bool is_known(const struct cached *cached,
                     const struct exchange *exchange,
                     const struct cache_entry *entry)
{
    const struct cache_facts *facts = &entry->facts;
    struct validators validators = {.etag = facts->etag,
                                    .modified = facts->modified_s != INT64_MIN
                                                    ? facts->modified_s
                                                    : facts->date_s};

    return (facts->status == 200 || facts->status == 206) &&
           condition_evaluate(&exchange->request, &validators,
                              cached_now(cached)->wall_s) ==
               CONDITION_NOT_MODIFIED;
}

/* --- Entries of parts ---------------------------------------------------- */

static bool is_intact(void *object)
{
    (void)object;
    return true; /* stored bytes never change */
}

static void release_entry(void *object)
{
    struct cache_entry *entry = object;

    cache_entry_release(&entry);
}

/* Adds the head, and `len` bytes of the body from byte `first` on, which lie in
 * one or several stored ranges. */
static void add_ranges(struct exchange *exchange, struct cache_entry *entry,
                       uint64_t first, uint64_t len)
{
    struct response *response = &exchange->response;

    head_number(&response->head, BYTES("Content-Length"), len);
    response->origin = (struct origin){.is_intact = is_intact,
                                       .release = release_entry,
                                       .object = cache_entry_acquire(entry)};
    if (!response_reserve_parts(response, RANGES_PARTS_MAX)) {
        response_break_off(response);
        return;
    }
    response_add_head(response);
    if (response->head.failed)
        return;
    response->body_bytes = len;
    while (len > 0) {
        struct part part = cache_ranges_part(entry->ranges, first, len);

        response_add_part(response, part);
        first += part.len;
        len -= part.len;
    }
}

static void answer_ranges(struct cached *cached, struct exchange *exchange,
                          struct cache_entry *entry,
                          const struct cached_note *note)
{
    const struct cache_ranges *ranges = entry->ranges;
    struct response *response = &exchange->response;
    struct range range;
    enum part_verdict verdict = find_part(cached, exchange, entry,
                                          ranges->length, &range);
    const struct cache_range *there;

    if (verdict == PART_NONE) {
        refuse_range(cached, exchange, ranges->length, note);
        return;
    }
    if (verdict == PART_ALL)
        range = (struct range){0, ranges->length - 1};
    /* If the origin has chosen another part, that part is sent. */
    if (!cache_ranges_has(ranges, &range)) {
        range = ranges->ranges[0].at;
        verdict = PART_ONE;
    }
    if (verdict == PART_ONE)
        begin(response, entry, 206, BYTES("Partial Content"));
    else
        begin(response, entry, 200, BYTES("OK"));
    put_kept_fields(entry, note, &response->head);
    note_codings(exchange, entry);
    if (verdict == PART_ONE)
        put_content_range(&response->head, &range, ranges->length);
    put_own_fields(cached, entry, note, &response->head);
    there = cache_ranges_find(ranges, range.first);
    if (there->at.last >= range.last)
        cached_add_body(cached, exchange, there->body,
                        there->skip + (range.first - there->at.first),
                        range.last - range.first + 1);
    else
        add_ranges(exchange, entry, range.first, range.last - range.first + 1);
}

bool cached_has(const struct cached *cached, const struct exchange *exchange,
                const struct cache_found *found)
{
    const struct cache_entry *entry = found->entry;
    struct range range;

    if (found->body && cache_body_state_of(found->body) == CACHE_BODY_BROKEN)
        return false;
    if (!entry->ranges || is_known(cached, exchange, entry))
        return true;
    if (exchange->request.method != METHOD_GET)
        return false;
    switch (find_part(cached, exchange, entry, entry->ranges->length, &range)) {
    case PART_NONE:
        return true;
    case PART_ONE:
        break;
    case PART_ALL:
        range = (struct range){0, entry->ranges->length - 1};
        break;
    }
    return cache_ranges_has(entry->ranges, &range);
}

/* --- Any entry ----------------------------------------------------------- */

void cached_answer(struct cached *cached, struct exchange *exchange,
                   const struct cache_found *found,
                   const struct cached_note *note)
{
    struct range range;
    bool is_plain = representation_is_plain(&exchange->request);

    cached_note_use(cached, exchange, note);
    if (is_plain && !found->entry->ranges) {
        answer_all(cached, exchange, found, note);
        return;
    }
    if (is_known(cached, exchange, found->entry)) {
        answer_not_modified(cached, exchange, found->entry, note);
        return;
    }
    if (found->entry->ranges) {
        answer_ranges(cached, exchange, found->entry, note);
        return;
    }
    switch (find_part(cached, exchange, found->entry,
                      found->body ? cache_body_length(found->body) : 0,
                      &range)) {
    case PART_ONE:
        answer_range(cached, exchange, found, &range, note);
        return;
    case PART_NONE:
        refuse_range(cached, exchange, range.last, note);
        return;
    case PART_ALL:
        break;
    }
    answer_all(cached, exchange, found, note);
}

void cached_answer_none(struct cached *cached, struct exchange *exchange)
{
    static const struct cached_note note = {.way = CACHED_REQUEST};

    cached_note_use(cached, exchange, &note);
    response_make_error(&exchange->response, 504, BYTES(""),
                        cached->options.defaults);
}
