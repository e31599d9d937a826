#include "cache/cache_body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOVED_BYTES = 65536, WORTH_COMPACTING = 4096 };

struct cache_body {
    atomic_uint refs;
    atomic_int state;        /* enum cache_body_state */
    _Atomic uint64_t filled; /* bytes that are there */
    struct cache_body_counts *counts;
    uint64_t length;    /* as announced, or unknown */
    uint64_t set_aside; /* of counts->filling */
    char *memory;       /* of its beginning; NULL: all is in the file */
    size_t memory_bytes;
    int fd;                    /* -1: all is in memory; set by the writer before
                                 filled is raised beyond memory */
    bool is_on_disk;           /* the file is; set with fd */
    struct cache_spool *spool; /* NULL: what is put is there at once; then the
                                  thread that writes is the writer of filled */
    uint64_t taken;            /* put, of one that is spooled */
    atomic_uint holds;         /* references of the spool's */
    atomic_int fallen_fd;      /* -1: nothing of it lies elsewhere */
    uint64_t fallen_at;        /* from here on; set before */
    pthread_mutex_t mutex;     /* guards the rest */
    struct list waits;         /* readers that have all there is */
    struct list writer;        /* the writer, while its readers are slow */
    struct list readers;
    bool is_passing;
    uint64_t given_up; /* bytes before that are gone */
};

static const struct cache_spool_events spool_events;

/* --- Coming and going ------------------------------------------------------- */

static void count_file(const struct cache_body *body)
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

static bool open_file(struct cache_body *body)
{
    struct cache_spooling *spooling = body->counts->spooling;

    if (spooling && cache_folder_takes(spooling->folder)) {
        body->spool = cache_spool_create(spooling, &spool_events, body);
        return body->spool;
    }
    body->fd = memfd_create("sprintd-cache", MFD_CLOEXEC);
    if (body->fd != -1)
        count_file(body);
    return body->fd != -1;
}

static bool open_room(struct cache_body *body)
{
    bool is_short = body->length <= CACHE_BODY_MEMORY_MAX;

    if (!is_short && body->length != CACHE_LENGTH_UNKNOWN)
        return open_file(body);
    body->memory_bytes = is_short ? (size_t)body->length
                                  : CACHE_BODY_MEMORY_MAX;
    if (body->memory_bytes == 0)
        return true;
    body->memory = malloc(body->memory_bytes);
    return body->memory;
}

/* Of what is spooled only a part is ever in memory. */
static void set_aside(struct cache_body *body, uint64_t bytes)
{
    if (body->spool && bytes > CACHE_SPOOL_PENDING_MAX)
        bytes = CACHE_SPOOL_PENDING_MAX;
    atomic_fetch_add_explicit(&body->counts->filling, bytes - body->set_aside,
                              memory_order_relaxed);
    body->set_aside = bytes;
}

static struct cache_body *make(uint64_t length,
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
    pthread_mutex_init(&body->mutex, NULL);
    list_init(&body->waits);
    list_init(&body->writer);
    list_init(&body->readers);
    return body;
}

struct cache_body *cache_body_create(uint64_t length,
                                     struct cache_body_counts *counts)
{
    struct cache_body *body = make(length, counts);

    if (!body)
        return NULL;
    if (!open_room(body)) {
        cache_body_release(&body);
        return NULL;
    }
    set_aside(body,
              length == CACHE_LENGTH_UNKNOWN ? body->memory_bytes : length);
    return body;
}

struct cache_body *cache_body_create_of(int fd, uint64_t length, bool is_whole,
                                        struct cache_body_counts *counts)
{
    struct cache_body *body = make(length, counts);

    if (!body)
        return NULL;
    body->fd = fd;
    body->is_on_disk = true;
    count_file(body);
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
    set_aside(body, 0);
    cache_spool_destroy(body->spool);
    close_file(body, body->fd);
    close_file(body, atomic_load(&body->fallen_fd));
    free(body->memory);
    pthread_mutex_destroy(&body->mutex);
    free(body);
}

/* --- Writing ---------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t len, uint64_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(fd, data, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return true;
}

/* There is more: whoever waits for it is told. */
static void publish(struct cache_body *body, uint64_t filled)
{
    atomic_store_explicit(&body->filled, filled, memory_order_release);
    if (body->length == CACHE_LENGTH_UNKNOWN && filled > body->set_aside &&
        !body->is_passing && !body->spool)
        set_aside(body, filled);
    pthread_mutex_lock(&body->mutex);
    cache_wait_tell(&body->waits);
    if (body->spool)
        cache_wait_tell(&body->writer);
    pthread_mutex_unlock(&body->mutex);
}

/* What has room in memory; how much that is. */
static size_t put_in_memory(struct cache_body *body, uint64_t filled,
                            struct bytes data)
{
    size_t room;

    if (filled >= body->memory_bytes)
        return 0;
    room = body->memory_bytes - (size_t)filled;
    if (data.len < room)
        room = data.len;
    memcpy(body->memory + filled, data.data, room);
    return room;
}

/* The file is to have all of it, from its beginning on. */
static bool spool(struct cache_body *body, struct bytes data)
{
    if (data.len == 0)
        return true;
    if (!cache_spool_put(body->spool, data))
        return false;
    body->taken += data.len;
    return true;
}

static bool has_opened(const struct cache_body *body)
{
    return body->fd != -1 || body->spool;
}

bool cache_body_put(struct cache_body *body, struct bytes data)
{
    uint64_t filled = body->spool ? body->taken : cache_body_filled(body);
    size_t done;

    if (data.len == 0)
        return true;
    if (body->length != CACHE_LENGTH_UNKNOWN &&
        data.len > body->length - filled)
        return false; /* more than was announced */
    if (body->spool)
        return spool(body, data);
    done = put_in_memory(body, filled, data);
    if (done < data.len && !has_opened(body) && !open_file(body))
        return false;
    if (body->spool) {
        set_aside(body, CACHE_SPOOL_PENDING_MAX);
        return spool(body, (struct bytes){body->memory, filled + done}) &&
               spool(body, (struct bytes){data.data + done, data.len - done});
    }
    if (!write_all(body->fd, data.data + done, data.len - done, filled + done))
        return false;
    publish(body, filled + data.len);
    return true;
}

bool cache_body_put_pipe(struct cache_body *body, int fd, uint64_t len)
{
    char moved[MOVED_BYTES];

    while (len > 0) {
        ssize_t n = read(fd, moved, len < sizeof(moved) ? len : sizeof(moved));

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0 || !cache_body_put(body, (struct bytes){moved, (size_t)n}))
            return false;
        len -= (uint64_t)n;
    }
    return true;
}

void cache_body_reveal(struct cache_body *body, uint64_t filled)
{
    publish(body, filled);
}

/* Nothing is written, and nothing is to be. */
static void end(struct cache_body *body, bool is_whole)
{
    pthread_mutex_lock(&body->mutex);
    atomic_store_explicit(&body->state,
                          is_whole ? CACHE_BODY_WHOLE : CACHE_BODY_BROKEN,
                          memory_order_release);
    cache_wait_tell(&body->waits);
    pthread_mutex_unlock(&body->mutex);
    set_aside(body, 0);
}

void cache_body_end(struct cache_body *body, bool is_whole)
{
    uint64_t put = body->spool ? body->taken : cache_body_filled(body);

    is_whole = is_whole &&
               (body->length == CACHE_LENGTH_UNKNOWN || body->length == put);
    if (body->spool)
        cache_spool_end(body->spool, is_whole);
    else
        end(body, is_whole);
}

/* --- Spooling ----------------------------------------------------------------- */

static void on_file(void *context, int fd)
{
    struct cache_body *body = context;

    pthread_mutex_lock(&body->mutex);
    body->fd = fd;
    body->is_on_disk = true;
    count_file(body);
    pthread_mutex_unlock(&body->mutex);
}

static void on_fall(void *context, int fd, uint64_t at)
{
    struct cache_body *body = context;

    body->fallen_at = at;
    atomic_store(&body->fallen_fd, fd);
    count_file(body);
}

static void on_written(void *context, uint64_t written)
{
    struct cache_body *body = context;
    uint64_t filled = cache_body_filled(body);

    /* The beginning may lie in memory as well. */
    publish(body, written > filled ? written : filled);
}

static void on_end(void *context, bool is_whole)
{
    end(context, is_whole);
}

static void hold(void *context)
{
    struct cache_body *body = cache_body_acquire(context);

    atomic_fetch_add(&body->holds, 1);
}

static void release(void *context)
{
    struct cache_body *body = context;

    atomic_fetch_sub(&body->holds, 1);
    cache_body_release(&body);
}

static const struct cache_spool_events spool_events = {
    on_file, on_fall, on_written, on_end, hold, release};

struct cache_file_writer *cache_body_take_file(struct cache_body *body)
{
    return body->spool && cache_body_state_of(body) == CACHE_BODY_WHOLE
               ? cache_spool_take(body->spool)
               : NULL;
}

bool cache_body_has_fallen(const struct cache_body *body)
{
    return atomic_load(&body->fallen_fd) != -1;
}

/* --- Passing ---------------------------------------------------------------- */

void cache_body_pass(struct cache_body *body)
{
    pthread_mutex_lock(&body->mutex);
    body->is_passing = true;
    pthread_mutex_unlock(&body->mutex);
    if (body->spool)
        cache_spool_fall(body->spool);
    set_aside(body, CACHE_BODY_PASSING_MAX);
}

/* The place of the slowest reader; the mutex is held, and there is one. */
static uint64_t slowest(const struct cache_body *body)
{
    uint64_t least = UINT64_MAX;

    for (const struct list *at = body->readers.next; at != &body->readers;
         at = at->next) {
        const struct cache_reader *reader = OWNER_OF(at, struct cache_reader,
                                                     list_node);

        if (reader->at < least)
            least = reader->at;
    }
    return least;
}

/* Gives up what all have read, by whole megabytes. */
static void give_up(struct cache_body *body, uint64_t before)
{
    int fd = body->spool ? atomic_load(&body->fallen_fd) : body->fd;

    before -= before % CACHE_BODY_PASSING_MAX;
    if (fd == -1 || before <= body->given_up)
        return;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)body->given_up, (off_t)(before - body->given_up)) == 0)
        body->given_up = before;
}

/* References first: the spool takes its own away last. */
bool cache_body_is_wanted(const struct cache_body *body)
{
    unsigned refs = atomic_load(&body->refs);

    return refs > 2 + atomic_load(&body->holds);
}

bool cache_body_takes_more(struct cache_body *body, struct cache_wait *wait)
{
    bool takes = true;

    pthread_mutex_lock(&body->mutex);
    if (body->is_passing && !list_is_empty(&body->readers)) {
        uint64_t least = slowest(body);

        give_up(body, least);
        takes = cache_body_filled(body) < least + CACHE_BODY_PASSING_MAX;
    }
    takes = takes && !(body->spool && cache_spool_is_full(body->spool));
    if (!takes)
        list_put_last(&body->writer, &wait->list_node);
    pthread_mutex_unlock(&body->mutex);
    return takes;
}

void cache_body_cancel(struct cache_body *body, struct cache_wait *wait)
{
    cache_wait_cancel(wait, &body->mutex);
}

/* --- Reading ---------------------------------------------------------------- */

void cache_body_join(struct cache_body *body, struct cache_reader *reader,
                     uint64_t at)
{
    reader->at = at;
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
    if (len == 0 && *state_out == CACHE_BODY_FILLING)
        list_put_last(&body->waits, &wait->list_node);
    pthread_mutex_unlock(&body->mutex);
    return cache_body_part(body, reader->at, len < at_most ? len : at_most);
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

    if (len == 0) /* the file may be about to come */
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

/* --- Room --------------------------------------------------------------------- */

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

struct cache_body *cache_body_compact(const struct cache_body *body)
{
    uint64_t filled = cache_body_filled(body);
    struct cache_body *copy;

    if (body->fd != -1 || body->spool ||
        body->memory_bytes - filled < WORTH_COMPACTING)
        return NULL;
    copy = cache_body_create(filled, body->counts);
    if (!copy)
        return NULL;
    if (cache_body_put(copy, (struct bytes){body->memory, (size_t)filled})) {
        cache_body_end(copy, true);
        return copy;
    }
    cache_body_release(&copy);
    return NULL;
}
