#include "kv/kv_events.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"

enum {
    /* the most events that one call of kv_watch_next() skips */
    LOOKS_MAX = 4096,
    DRAFT_KEPT_BYTES = 1 << 16 /* a draft with more memory is freed */
};

/* The beginning of an event in the ring; the key and the type follow. */
struct head {
    uint32_t bytes; /* bytes of the whole event */
    uint16_t key_bytes;
    uint8_t type_bytes;
    uint8_t kind;
    uint64_t number;
    uint64_t value_bytes;
    struct kv_meta meta;
};

struct kv_events {
    pthread_mutex_t mutex; /* guards the ring */
    bool are_resumable;
    /* `size` is the length of the ring. `begin` and `end` are offsets that
     * count all bytes ever written. */
    uint64_t size;
    uint64_t begin;
    uint64_t end;
    uint64_t floor; /* number of the last event before `begin` */
    _Atomic uint64_t last;
    struct buf draft; /* used by the writer only */
    char ring[];
};

/* --- The ring ------------------------------------------------------------ */

static void read_ring(const struct kv_events *events, uint64_t offset,
                      void *out, size_t len)
{
    size_t at = (size_t)(offset % events->size);
    size_t first = events->size - at < len ? (size_t)(events->size - at) : len;

    memcpy(out, events->ring + at, first);
    memcpy((char *)out + first, events->ring, len - first);
}

static void append_ring(struct kv_events *events, const char *data, size_t len)
{
    size_t at = (size_t)(events->end % events->size);
    size_t first = events->size - at < len ? (size_t)(events->size - at) : len;

    memcpy(events->ring + at, data, first);
    memcpy(events->ring, data + first, len - first);
    events->end += len;
}

static void drop_oldest(struct kv_events *events)
{
    struct head head;

    read_ring(events, events->begin, &head, sizeof(head));
    events->begin += head.bytes;
    events->floor = head.number;
}

/* Empties the ring. All watchers' positions are then outside of the ring, which
 * resets the watchers. */
static void empty_ring(struct kv_events *events, uint64_t last)
{
    events->begin = ++events->end;
    events->floor = last;
}

/* --- The draft ----------------------------------------------------------- */

void kv_events_put(struct kv_events *events, enum kv_event_kind kind,
                   uint64_t number, const struct kv_entry *entry)
{
    struct head head = {.key_bytes = (uint16_t)entry->key.len,
                        .type_bytes = (uint8_t)entry->type.len,
                        .kind = (uint8_t)kind,
                        .number = number,
                        .value_bytes = entry->value_bytes,
                        .meta = entry->meta};

    head.bytes = (uint32_t)(sizeof(head) + entry->key.len + entry->type.len);
    buf_put(&events->draft, (struct bytes){(const char *)&head, sizeof(head)});
    buf_put(&events->draft, entry->key);
    buf_put(&events->draft, entry->type);
}

size_t kv_events_draft(const struct kv_events *events)
{
    return events->draft.len;
}

void kv_events_undo(struct kv_events *events, size_t draft)
{
    events->draft.len = draft;
}

static void renew_draft(struct kv_events *events)
{
    if (events->draft.failed || events->draft.capacity > DRAFT_KEPT_BYTES) {
        buf_fini(&events->draft);
        buf_init(&events->draft, NULL, 0, (size_t)events->size);
    }
    events->draft.len = 0;
}

void kv_events_publish(struct kv_events *events, uint64_t last)
{
    const char *at = events->draft.data;
    size_t left = events->draft.len;

    pthread_mutex_lock(&events->mutex);
    while (left > 0 && !events->draft.failed) {
        struct head head;

        memcpy(&head, at, sizeof(head));
        while (events->size - (events->end - events->begin) < head.bytes)
            drop_oldest(events);
        append_ring(events, at, head.bytes);
        at += head.bytes;
        left -= head.bytes;
    }
    if (events->draft.failed)
        empty_ring(events, last);
    atomic_store(&events->last, last);
    pthread_mutex_unlock(&events->mutex);
    renew_draft(events);
}

void kv_events_restart(struct kv_events *events, uint64_t last)
{
    pthread_mutex_lock(&events->mutex);
    empty_ring(events, last);
    atomic_store(&events->last, last);
    pthread_mutex_unlock(&events->mutex);
    renew_draft(events);
}

/* --- Watching ------------------------------------------------------------ */

uint64_t kv_events_last(const struct kv_events *events)
{
    return atomic_load(&events->last);
}

void kv_events_begin(struct kv_events *events, struct kv_watch *watch,
                     uint64_t known)
{
    uint64_t since = watch->since;
    uint64_t last;

    pthread_mutex_lock(&events->mutex);
    last = events->last;
    watch->events = events;
    watch->wants_reset = !watch->has_since || !events->are_resumable ||
                         since < events->floor ||
                         since > (known > last ? known : last);
    watch->number = since;
    watch->offset = since < last ? events->begin : events->end;
    pthread_mutex_unlock(&events->mutex);
}

static void tell_reset(struct kv_watch *watch, struct kv_event *event)
{
    const struct kv_events *events = watch->events;

    watch->wants_reset = false;
    watch->offset = events->end;
    watch->number = events->last;
    *event = (struct kv_event){.kind = KV_EVENT_RESET, .number = watch->number};
}

static void tell_event(const struct kv_watch *watch, const struct head *head,
                       uint64_t at, struct kv_event *event)
{
    size_t texts = (size_t)head->key_bytes + head->type_bytes;

    read_ring(watch->events, at + sizeof(*head), event->room, texts);
    event->kind = (enum kv_event_kind)head->kind;
    event->number = head->number;
    event->entry = (struct kv_entry){.key = {event->room, head->key_bytes},
                                     .value_bytes = head->value_bytes,
                                     .meta = head->meta,
                                     .type = {event->room + head->key_bytes,
                                              head->type_bytes}};
}

static bool is_watched(const struct kv_watch *watch, const struct head *head,
                       uint64_t at)
{
    char start[KV_KEY_BYTES_MAX];
    size_t len = watch->prefix.len;

    if (len > head->key_bytes)
        return false;
    read_ring(watch->events, at + sizeof(*head), start, len);
    return len == 0 || memcmp(start, watch->prefix.data, len) == 0;
}

static enum kv_watch_result look(struct kv_watch *watch, struct kv_event *event)
{
    const struct kv_events *events = watch->events;

    if (watch->wants_reset || watch->offset < events->begin ||
        watch->number < events->floor) {
        tell_reset(watch, event);
        return KV_WATCH_EVENT;
    }
    for (unsigned looks = 0; watch->offset < events->end; looks++) {
        uint64_t at = watch->offset;
        struct head head;

        if (looks == LOOKS_MAX)
            return KV_WATCH_MORE;
        read_ring(events, at, &head, sizeof(head));
        watch->offset += head.bytes;
        if (head.number <= watch->number)
            continue;
        watch->number = head.number;
        if (is_watched(watch, &head, at)) {
            tell_event(watch, &head, at, event);
            return KV_WATCH_EVENT;
        }
    }
    if (watch->number < events->last)
        watch->number = events->last;
    return KV_WATCH_LATER;
}

enum kv_watch_result kv_watch_next(struct kv_watch *watch,
                                   struct kv_event *event)
{
    struct kv_events *events = watch->events;
    enum kv_watch_result result;

    if (!watch->wants_reset && watch->number >= atomic_load(&events->last))
        return KV_WATCH_LATER;
    pthread_mutex_lock(&events->mutex);
    result = look(watch, event);
    pthread_mutex_unlock(&events->mutex);
    if (!events->are_resumable)
        event->number = 0;
    return result;
}

/* --- Coming and going ---------------------------------------------------- */

struct kv_events *kv_events_create(size_t bytes_max, bool are_resumable)
{
    struct kv_events *events = malloc(sizeof(*events) + bytes_max);

    if (!events)
        return NULL;
    /* The kernel provides the ring's pages only when they are used. */
    *events = (struct kv_events){.are_resumable = are_resumable,
                                 .size = bytes_max};
    pthread_mutex_init(&events->mutex, NULL);
    buf_init(&events->draft, NULL, 0, bytes_max);
    return events;
}

void kv_events_destroy(struct kv_events *events)
{
    if (!events)
        return;
    pthread_mutex_destroy(&events->mutex);
    buf_fini(&events->draft);
    free(events);
}
