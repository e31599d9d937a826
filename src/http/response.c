#include "http/response.h"

#include <assert.h>
#include <stdlib.h>

#include "base/list.h"

const char *response_cache_name(enum response_cache use)
{
    static const char *const names[RESPONSE_CACHE_USES] = {
        [RESPONSE_CACHE_UNASKED] = "",
        [RESPONSE_CACHE_HIT] = "hit",
        [RESPONSE_CACHE_MISS] = "miss",
        [RESPONSE_CACHE_STALE] = "stale",
        [RESPONSE_CACHE_REVALIDATED] = "revalidated",
        [RESPONSE_CACHE_BYPASS] = "bypass"};

    return names[use];
}

enum { PARTS_MAX = 255 }; /* the largest number that part_count holds */

/* Returns the response's room: the memory in which the head began is a part of
 * it. */
static struct response_room *room_of(const struct response *response)
{
    return OWNER_OF(response->head.storage, struct response_room, head);
}

void response_lend_room(struct response *response, struct response_room *room)
{
    response->parts = room->parts;
    buf_init(&response->head, room->head, sizeof(room->head),
             RESPONSE_HEAD_BYTES_MAX);
    response->head.len = RESPONSE_HEADROOM;
}

void response_take_room(struct response *response)
{
    response->parts = NULL;
    buf_init(&response->head, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
}

bool response_can_rest(const struct response *response)
{
    const struct buf *head = &response->head;
    bool is_blank = response->status == 0 && response->part_count == 0 &&
                    head->len == RESPONSE_HEADROOM;

    return response_has_room(response) &&
           response->parts == room_of(response)->parts &&
           head->data == head->storage &&
           (is_blank || (response->is_waiting && response->bytes_left == 0));
}

void response_init(struct response *response, struct response_room *room)
{
    response->status = 0;
    response->persists = false;
    response->is_head = false;
    response->has_head = false;
    response->is_borrowed = false;
    response->is_framed = false;
    response->has_date = false;
    response->has_phrase = false;
    response->is_relayed = false;
    response->is_unsized = false;
    response->has_length = false;
    response->has_ended = false;
    response->is_timed = false;
    response->is_error = false;
    response->is_edited = false;
    response->reason = REASON_NONE;
    response->extra_count = 0;
    response->own_fields = 0;
    response->cache_use = RESPONSE_CACHE_UNASKED;
    response->is_waiting = false;
    response->part_count = 0;
    response->part_at = 0;
    response->bytes_left = 0;
    response->bytes_sent = 0;
    response->bytes_before = 0;
    response->body_bytes = 0;
    response->head_bytes = 0;
    response->timing_at = 0;
    response->origin.object = NULL;
    response->source = NULL;
    response->taken_bytes = 0;
    response->edits = NULL;
    response->own_edits = NULL;
    response->errors = NULL;
    response->encode = NULL;
    response->relayed_line.len = 0;
    response->id_line.len = 0;
    response->head_copy = NULL;
    response->coded_head = NULL;
    response->trailer.len = 0;
    response_lend_room(response, room);
}

void response_drop_body(struct response *response)
{
    if (response->origin.object)
        response->origin.release(response->origin.object);
    response->origin.object = NULL;
    if (response->source)
        response->source->destroy(response->source);
    response->source = NULL;
}

void response_fini(struct response *response)
{
    response_drop_body(response);
    if (response_has_room(response) &&
        response->parts != room_of(response)->parts)
        free(response->parts);
    response->parts = NULL;
    buf_fini(&response->head);
}

/* --- Writing fields ------------------------------------------------------ */

void head_put_server_defaults(struct buf *head,
                              const struct server_defaults *defaults)
{
    if (defaults->server_field)
        buf_put_literal(head, "Server: sprintd\r\n");
    buf_put_literal(head, "X-Content-Type-Options: nosniff\r\n");
}

void response_begin(struct response *response, unsigned status,
                    const struct server_defaults *defaults)
{
    response->status = (uint16_t)status;
    head_put_server_defaults(&response->head, defaults);
}

void response_begin_relayed(struct response *response, unsigned status,
                            struct bytes phrase)
{
    struct buf *head = &response->head;

    assert(response->bytes_left == 0 && !response->has_head);
    response->status = (uint16_t)status;
    response->part_count = response->part_at = 0;
    response->bytes_sent = response->bytes_before = response->body_bytes = 0;
    head->len = RESPONSE_HEADROOM;
    response->is_relayed = true;
    response->has_phrase = phrase.len <= RESPONSE_PHRASE_MAX;
    if (!response->has_phrase || phrase.len == 0)
        phrase.len = 0;
    else
        memcpy(head->data, phrase.data, phrase.len);
    response->phrase_len = (uint8_t)phrase.len;
}

void response_begin_edited(struct response *response, unsigned status,
                           struct bytes fields)
{
    response->status = (uint16_t)status;
    buf_put(&response->head, fields);
    response->is_edited = true;
}

/* Reserves memory once for the whole line, because a relayed head consists
 * mostly of such lines. */
void head_field(struct buf *head, struct bytes name, struct bytes value)
{
    char *to = buf_reserve(head, name.len + value.len + 4);

    if (!to)
        return;
    memcpy(to, name.data, name.len);
    to += name.len;
    *to++ = ':';
    *to++ = ' ';
    if (value.len > 0) /* an empty value may have no data */
        memcpy(to, value.data, value.len);
    to += value.len;
    *to++ = '\r';
    *to++ = '\n';
    head->len = (size_t)(to - head->data);
}

void head_number(struct buf *head, struct bytes name, uint64_t value)
{
    buf_put(head, name);
    buf_put_literal(head, ": ");
    buf_put_number(head, value);
    buf_put_literal(head, "\r\n");
}

void response_put_extra(struct response *response, struct bytes piece)
{
    assert(response->extra_count < RESPONSE_EXTRA_MAX);
    response->extra[response->extra_count++] = piece;
}

/* Drops the lines that an upstream server has sent of own_fields. Of two lines
 * Strict-Transport-Security the browser takes the first (RFC 6797 8.1), and of
 * two Access-Control-Allow-Origin none. With leave for credentials that the
 * upstream gives to one origin, all that the site allows could use them. */
static void drop_others(struct response *response)
{
    static const struct {
        enum response_own own;
        struct bytes name;
    } fields[] = {{RESPONSE_OWN_HSTS, {"Strict-Transport-Security", 25}},
                  {RESPONSE_OWN_CORS, {"Access-Control-Allow-Origin", 27}},
                  {RESPONSE_OWN_CORS,
                   {"Access-Control-Allow-Credentials", 32}}};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (response->own_fields & fields[i].own)
            head_drop(&response->head, RESPONSE_HEADROOM, fields[i].name);
}

static void edit_head(struct response *response)
{
    struct buf *head = &response->head;

    if (response->edits && !response->is_edited)
        head_edits_apply(response->edits, head, RESPONSE_HEADROOM,
                         response->is_error);
    if (response->own_edits)
        head_edits_apply(response->own_edits, head, RESPONSE_HEADROOM,
                         response->is_error);
    response->is_edited = true;
    drop_others(response);
    for (unsigned i = 0; i < response->extra_count; i++)
        buf_put(head, response->extra[i]);
    if (response->is_relayed)
        buf_put(head, response->relayed_line);
    buf_put(head, response->id_line);
}

static bool end_fields(struct response *response)
{
    struct buf *head = &response->head;

    response->fields_end = (uint32_t)head->len;
    if (!buf_reserve(head, RESPONSE_TAILROOM))
        return false;
    head->len += RESPONSE_TAILROOM;
    return !head->failed;
}

/* The value of Server-Timing is known only when the head leaves. Blanks keep
 * room for it: they may stand behind a value and mean nothing (RFC 9112 5). */
bool response_end_head(struct response *response)
{
    struct buf *head = &response->head;
    char *value;

    edit_head(response);
    if (response->is_timed) {
        buf_put_literal(head, "Server-Timing: ");
        value = buf_reserve(head, RESPONSE_TIMING_BYTES);
        if (value) {
            memset(value, ' ', RESPONSE_TIMING_BYTES);
            response->timing_at = (uint32_t)head->len;
            head->len += RESPONSE_TIMING_BYTES;
        }
        buf_put_literal(head, "\r\n");
    }
    return end_fields(response);
}

void response_set_timing(struct response *response, struct bytes value)
{
    char *at;

    assert(value.len <= RESPONSE_TIMING_BYTES);
    if (response->timing_at == 0 || response->head.failed ||
        response->bytes_sent > 0)
        return;
    at = response->head.data + response->timing_at;
    memset(at, ' ', RESPONSE_TIMING_BYTES);
    memcpy(at, value.data, value.len);
}

/* --- Adding parts ------------------------------------------------------- */

bool response_reserve_parts(struct response *response, size_t count)
{
    struct part *parts;

    if (count <= RESPONSE_PARTS_INLINE)
        return true;
    assert(response->parts == room_of(response)->parts && count <= PARTS_MAX);
    parts = malloc(count * sizeof(*parts));
    if (!parts)
        return false;
    memcpy(parts, response->parts, response->part_count * sizeof(*parts));
    response->parts = parts;
    return true;
}

void response_add_part(struct response *response, struct part part)
{
    if (part.len == 0 || response->head.failed)
        return; /* without a head nothing may be sent */
    response->parts[response->part_count++] = part;
    response->bytes_left += part.len;
}

void response_add_memory(struct response *response, struct bytes text)
{
    response_add_part(response, part_of_memory(text));
}

void response_add_file(struct response *response, enum part_kind kind, int fd,
                       uint64_t offset, uint64_t len)
{
    response_add_part(response, (struct part){.kind = kind,
                                              .fd = fd,
                                              .at.offset = offset,
                                              .len = len});
}

void response_lay_head(struct response *response)
{
    uint64_t len = response->fields_end - RESPONSE_HEADROOM;

    assert(response->part_count == 0);
    response->has_head = true;
    response->parts[response->part_count++] = part_of_memory((struct bytes){
        response->head.data + RESPONSE_HEADROOM, len});
    response->bytes_left += len;
}

void response_break_off(struct response *response)
{
    response->status = 500;
    response->persists = false;
    response->part_count = response->part_at = 0;
    response->bytes_left = 0;
    response->head.failed = true;
}

void response_add_head(struct response *response)
{
    if (response_end_head(response))
        response_lay_head(response);
    else
        response_break_off(response);
}

void response_add_bare_head(struct response *response)
{
    if (end_fields(response))
        response_lay_head(response);
    else
        response_break_off(response);
}

void response_borrow_head(struct response *response, struct bytes block,
                          size_t head_len)
{
    response->has_head = response->is_borrowed = true;
    response->head_bytes = (uint32_t)head_len + 2;
    response_add_memory(response, block);
}

/* --- Sending ------------------------------------------------------------ */

void response_advance(struct response *response, uint64_t len)
{
    response->bytes_left -= len;
    response->bytes_sent += len;
    while (len > 0) {
        struct part *part = &response->parts[response->part_at];
        uint64_t step = part->len < len ? part->len : len;

        part->len -= step;
        if (part->kind == PART_MEMORY)
            part->at.memory += step;
        else
            part->at.offset += step;
        if (part->len == 0)
            response->part_at++;
        len -= step;
    }
}
