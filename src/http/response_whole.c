#include "http/response.h"

#include <assert.h>

#include "base/list.h"
#include "http/error_page.h"
#include "http/status.h"

/* Takes back all of the answer that was made so far, but keeps what the
 * response knows of the request. */
static void restart(struct response *response)
{
    bool persists = response->persists;
    bool is_head = response->is_head;
    bool is_timed = response->is_timed;
    uint8_t extra_count = response->extra_count; /* `extra` itself stays */
    uint8_t own_fields = response->own_fields;
    const struct head_edits *edits = response->edits;
    const struct head_edits *own_edits = response->own_edits;
    const struct error_source *errors = response->errors;
    struct bytes relayed_line = response->relayed_line;
    struct bytes id_line = response->id_line;
    struct buf *head_copy = response->head_copy;
    struct response_room *room = OWNER_OF(response->head.storage,
                                          struct response_room, head);

    response_fini(response);
    response_init(response, room);
    response->persists = persists;
    response->is_head = is_head;
    response->is_timed = is_timed;
    response->extra_count = extra_count;
    response->own_fields = own_fields;
    response->edits = edits;
    response->own_edits = own_edits;
    response->errors = errors;
    response->relayed_line = relayed_line;
    response->id_line = id_line;
    response->head_copy = head_copy;
}

struct short_body {
    struct bytes type;
    struct bytes text;
    bool is_static; /* `text` need not be copied */
    bool is_error;
};

/* Makes the head, and copies the text behind the head unless it is static.
 * Returns false when memory is short. */
static bool write_short(struct response *response, struct bytes extra_fields,
                        const struct short_body *body, struct bytes *text_out)
{
    struct buf *head = &response->head;
    size_t text_at;

    buf_put(head, extra_fields);
    head_field(head, BYTES("Content-Type"), body->type);
    head_number(head, BYTES("Content-Length"), body->text.len);
    *text_out = body->text;
    if (!response_end_head(response))
        return false;
    if (body->is_static || response->is_head)
        return true;
    text_at = head->len;
    buf_put(head, body->text);
    *text_out = bytes_between(head->data + text_at, head->data + head->len);
    return !head->failed;
}

static void make_short(struct response *response, unsigned status,
                       struct bytes extra_fields, const struct short_body *body,
                       const struct server_defaults *defaults)
{
    struct bytes text;

    restart(response);
    response->is_error = body->is_error;
    response_begin(response, status, defaults);
    if (!write_short(response, extra_fields, body, &text)) { /* out of memory */
        restart(response);
        response->status = (uint16_t)status;
        response->persists = false;
        return;
    }
    response_lay_head(response);
    if (response->is_head)
        return;
    response->body_bytes = text.len;
    response_add_memory(response, text);
}

void response_make_error(struct response *response, unsigned status,
                         struct bytes extra_fields,
                         const struct server_defaults *defaults)
{
    char page[ERROR_PAGE_BYTES_MAX];
    struct short_body body = {.type = BYTES("text/html; charset=utf-8"),
                              .text = error_page_find(status),
                              .is_static = true,
                              .is_error = true};

    if (body.text.len == 0) {
        body.text = error_page_write(page, status);
        body.is_static = false;
    }
    make_short(response, status, extra_fields, &body, defaults);
}

void response_make_short(struct response *response, unsigned status,
                         struct bytes extra_fields, struct bytes type,
                         struct bytes text,
                         const struct server_defaults *defaults)
{
    struct short_body body = {.type = type, .text = text};

    make_short(response, status, extra_fields, &body, defaults);
}

void response_make_error_text(struct response *response, unsigned status,
                              struct bytes extra_fields, struct bytes type,
                              struct bytes text,
                              const struct server_defaults *defaults)
{
    struct short_body body = {.type = type, .text = text, .is_error = true};

    make_short(response, status, extra_fields, &body, defaults);
}

/* The head is ended a second time. So the edits, extra lines and id that it got
 * the first time are not made again. */
bool response_replace_body(struct response *response, struct bytes type,
                           uint64_t length)
{
    static const struct bytes gone[] = {
        {"Content-Type", 12}, {"Content-Length", 14}, {"Server-Timing", 13}};
    struct buf *head = &response->head;

    assert(response->is_error && response->bytes_sent == 0);
    head->len = response->fields_end;
    for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++)
        head_drop(head, RESPONSE_HEADROOM, gone[i]);
    head_field(head, BYTES("Content-Type"), type);
    head_number(head, BYTES("Content-Length"), length);
    /* A cached body has a source, which would go on behind the new body. */
    response_drop_body(response);
    response->has_length = response->is_unsized = false;
    response->part_count = response->part_at = 0;
    response->bytes_left = 0;
    response->has_head = false;
    response->timing_at = 0;
    response->extra_count = 0;
    response->own_fields = 0;
    response->relayed_line.len = 0;
    response->id_line.len = 0;
    response->own_edits = NULL;
    response->is_error = false;
    response->body_bytes = response->is_head ? 0 : length;
    response_add_head(response);
    return !head->failed;
}
