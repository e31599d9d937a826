#include "cache/cache_body_priv.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A longer body is not mapped, because it has few readers. */
enum { MAP_BYTES_MAX = 1 << 30 };

/* --- Coming and going ---------------------------------------------------- */

void cache_body_count_file(const struct cache_body *body)
{
    atomic_fetch_add_explicit(&body->counts->files, 1, memory_order_relaxed);
}

static void close_file(const struct cache_body *body, int fd)
{
    if (fd == -1)
        return;
    close(fd);
    atomic_fetch_sub_explicit(&body->counts->files, 1, memory_order_relaxed);
}

static void unmap(const struct cache_body *body, char *map)
{
    if (!map)
        return;
    munmap(map, body->map_bytes);
    atomic_fetch_sub_explicit(&body->counts->maps, 1, memory_order_relaxed);
}

/* Sets `bytes` aside for the body. A spooled body gets CACHE_SPOOL_PENDING_MAX
 * at most, because no more of it is in memory at a time. */
void cache_body_set_aside(struct cache_body *body, uint64_t bytes)
{
    if (body->spool && bytes > CACHE_SPOOL_PENDING_MAX)
        bytes = CACHE_SPOOL_PENDING_MAX;
    atomic_fetch_add_explicit(&body->counts->filling, bytes - body->set_aside,
                              memory_order_relaxed);
    body->set_aside = bytes;
}

struct cache_body *cache_body_make(uint64_t length,
                                   struct cache_body_counts *counts)
{
    struct cache_body *body = calloc(1, sizeof(*body));

    if (!body)
        return NULL;
    atomic_init(&body->refs, 1);
    atomic_init(&body->state, CACHE_BODY_FILLING);
    body->counts = counts;
    body->length = length;
    body->fd = -1;
    atomic_init(&body->fallen_fd, -1);
    atomic_init(&body->map, NULL);
    atomic_init(&body->beginners, 0);
    pthread_mutex_init(&body->mutex, NULL);
    list_init(&body->waits);
    list_init(&body->writer);
    list_init(&body->readers);
    return body;
}

struct cache_body *cache_body_create_of(int fd, uint64_t length, bool is_whole,
                                        struct cache_body_counts *counts)
{
    struct cache_body *body = cache_body_make(length, counts);

    if (!body)
        return NULL;
    body->fd = fd;
    body->is_on_disk = true;
    cache_body_count_file(body);
    if (is_whole) {
        atomic_init(&body->filled, length);
        atomic_init(&body->state, CACHE_BODY_WHOLE);
    }
    return body;
}

struct cache_body *cache_body_acquire(struct cache_body *body)
{
    atomic_fetch_add_explicit(&body->refs, 1, memory_order_relaxed);
    return body;
}

void cache_body_release(struct cache_body **body_ref)
{
    struct cache_body *body = *body_ref;

    *body_ref = NULL;
    if (!body ||
        atomic_fetch_sub_explicit(&body->refs, 1, memory_order_acq_rel) > 1)
        return;
    cache_body_set_aside(body, 0);
    atomic_fetch_sub_explicit(&body->counts->whole, body->counted,
                              memory_order_relaxed);
    cache_spool_destroy(body->spool);
    unmap(body, atomic_load(&body->map));
    close_file(body, body->fd);
    close_file(body, atomic_load(&body->fallen_fd));
    free(body->memory);
    pthread_mutex_destroy(&body->mutex);
    free(body);
}

/* Whether anybody besides the writer, an entry and the spool holds the body.
 * `refs` is read before `holds`, because the spool lowers `holds` first and
 * then drops its reference. */
bool cache_body_is_wanted(const struct cache_body *body)
{
    unsigned refs = atomic_load(&body->refs);

    return refs > 2 + atomic_load(&body->holds);
}

void cache_body_cancel(struct cache_body *body, struct cache_wait *wait)
{
    cache_wait_cancel(wait, &body->mutex);
}

/* --- Reading ------------------------------------------------------------- */

void cache_body_join(struct cache_body *body, struct cache_reader *reader,
                     uint64_t at)
{
    reader->at = at;
    atomic_fetch_add_explicit(&body->beginners, 1, memory_order_relaxed);
    pthread_mutex_lock(&body->mutex);
    list_put_last(&body->readers, &reader->list_node);
    pthread_mutex_unlock(&body->mutex);
}

void cache_body_leave(struct cache_body *body, struct cache_reader *reader)
{
    pthread_mutex_lock(&body->mutex);
    list_drop(&reader->list_node);
    cache_wait_tell(&body->writer);
    pthread_mutex_unlock(&body->mutex);
}

void cache_body_advance(struct cache_body *body, struct cache_reader *reader,
                        uint64_t len)
{
    pthread_mutex_lock(&body->mutex);
    reader->at += len;
    cache_wait_tell(&body->writer);
    pthread_mutex_unlock(&body->mutex);
}

void cache_body_note_begun(struct cache_body *body)
{
    atomic_fetch_sub_explicit(&body->beginners, 1, memory_order_relaxed);
}

bool cache_body_has_beginners(const struct cache_body *body)
{
    return atomic_load_explicit(&body->beginners, memory_order_relaxed) > 0;
}

bool cache_body_has_from(struct cache_body *body, uint64_t at)
{
    bool has;

    if (cache_body_state_of(body) == CACHE_BODY_WHOLE)
        return at >= body->given_up; /* given_up no longer changes */
    pthread_mutex_lock(&body->mutex);
    has = at >= body->given_up;
    pthread_mutex_unlock(&body->mutex);
    return has;
}

void cache_body_await_crowd(struct cache_body *body)
{
    pthread_mutex_lock(&body->mutex);
    body->awaits_crowd = true;
    pthread_mutex_unlock(&body->mutex);
}

bool cache_body_is_crowded(struct cache_body *body)
{
    bool is_crowded;

    pthread_mutex_lock(&body->mutex);
    is_crowded = body->awaits_crowd || body->readers.next != body->readers.prev;
    pthread_mutex_unlock(&body->mutex);
    return is_crowded;
}

struct part cache_body_read(struct cache_body *body,
                            struct cache_reader *reader, uint64_t at_most,
                            struct cache_wait *wait,
                            enum cache_body_state *state_out)
{
    uint64_t len;

    pthread_mutex_lock(&body->mutex);
    *state_out = cache_body_state_of(body);
    len = cache_body_filled(body);
    len = len > reader->at ? len - reader->at : 0;
    if (reader->at < body->given_up) { /* the reader joined too late */
        *state_out = CACHE_BODY_BROKEN;
        len = 0;
    }
    if (len == 0 && *state_out == CACHE_BODY_FILLING)
        cache_wait_in(&body->waits, wait);
    pthread_mutex_unlock(&body->mutex);
    if (len > at_most)
        len = at_most;
    return reader->is_mapped ? cache_body_part_mapped(body, reader->at, len)
                             : cache_body_part(body, reader->at, len);
}

enum cache_body_state cache_body_state_of(const struct cache_body *body)
{
    return (enum cache_body_state)atomic_load_explicit(&body->state,
                                                       memory_order_acquire);
}

uint64_t cache_body_filled(const struct cache_body *body)
{
    return atomic_load_explicit(&body->filled, memory_order_acquire);
}

uint64_t cache_body_length(const struct cache_body *body)
{
    return cache_body_state_of(body) == CACHE_BODY_WHOLE
               ? cache_body_filled(body)
               : body->length;
}

struct part cache_body_part(const struct cache_body *body, uint64_t at,
                            uint64_t len)
{
    int fd;

    /* Without bytes to send no file is needed, and there may be none yet. */
    if (len == 0)
        return part_of_memory(BYTES(""));
    if (at < body->memory_bytes) {
        if (len > body->memory_bytes - at)
            len = body->memory_bytes - at;
        return part_of_memory((struct bytes){body->memory + at, (size_t)len});
    }
    fd = atomic_load_explicit(&body->fallen_fd, memory_order_acquire);
    if (fd != -1 && at < body->fallen_at && len > body->fallen_at - at)
        len = body->fallen_at - at;
    if (fd == -1 || at < body->fallen_at)
        fd = body->fd;
    return (struct part){
        .kind = PART_SENDFILE, .fd = fd, .at.offset = at, .len = len};
}

/* --- The mapping --------------------------------------------------------- */

/* Returns how long the mapping has to be; 0 when the body cannot be mapped. A
 * file on a disk is never mapped, because reading it in place may fail. */
static size_t bytes_to_map(const struct cache_body *body)
{
    uint64_t length = cache_body_length(body);

    if (body->fd == -1 || body->spool || body->is_on_disk ||
        length == CACHE_LENGTH_UNKNOWN || length > MAP_BYTES_MAX)
        return 0;
    return (size_t)length;
}

/* Maps the file without MAP_POPULATE, by which the kernel would look up all
 * pages now. Later a read of one page makes the kernel map sixteen at once
 * anyway. */
static char *map_file(struct cache_body *body)
{
    char *map;

    body->map_bytes = bytes_to_map(body);
    if (body->map_bytes == 0)
        return NULL;
    if (atomic_fetch_add_explicit(&body->counts->maps, 1,
                                  memory_order_relaxed) < CACHE_BODY_MAPS_MAX) {
        map = mmap(NULL, body->map_bytes, PROT_READ, MAP_SHARED, body->fd, 0);
        if (map != MAP_FAILED)
            return map;
    }
    atomic_fetch_sub_explicit(&body->counts->maps, 1, memory_order_relaxed);
    return NULL;
}

/* Returns the mapping of the body's file, which the first call makes. Returns
 * NULL when the file cannot be mapped. */
static const char *find_map(struct cache_body *body)
{
    char *map = atomic_load_explicit(&body->map, memory_order_acquire);

    if (map)
        return map;
    pthread_mutex_lock(&body->mutex);
    map = atomic_load_explicit(&body->map, memory_order_relaxed);
    if (!map && !body->is_passing) {
        map = map_file(body);
        atomic_store_explicit(&body->map, map, memory_order_release);
    }
    pthread_mutex_unlock(&body->mutex);
    return map;
}

struct part cache_body_part_mapped(struct cache_body *body, uint64_t at,
                                   uint64_t len)
{
    struct part part = cache_body_part(body, at, len);
    const char *map;

    if (part.kind == PART_MEMORY)
        return part;
    map = find_map(body);
    return map ? part_of_memory((struct bytes){map + at, (size_t)part.len})
               : part;
}

/* --- Room ---------------------------------------------------------------- */

static uint64_t bytes_in_file(const struct cache_body *body)
{
    return body->fd != -1 ? cache_body_length(body) - body->memory_bytes : 0;
}

uint64_t cache_body_footprint(const struct cache_body *body)
{
    return sizeof(*body) + body->memory_bytes + bytes_in_file(body);
}

uint64_t cache_body_memory(const struct cache_body *body)
{
    return sizeof(*body) + body->memory_bytes +
           (body->is_on_disk ? 0 : bytes_in_file(body));
}

bool cache_body_is_spooled(const struct cache_body *body)
{
    return body->spool;
}
