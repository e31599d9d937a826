#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/cache_body_priv.h"

enum { MOVED_BYTES = 65536, WORTH_COMPACTING = 4096 };

static const struct cache_spool_events spool_events;

/* --- Room ---------------------------------------------------------------- */

static bool open_file(struct cache_body *body)
{
    struct cache_spooling *spooling = body->counts->spooling;

    if (spooling && cache_folder_takes(spooling->folder)) {
        body->spool = cache_spool_create(spooling, &spool_events, body);
        return body->spool;
    }
    body->fd = memfd_create("sprintd-cache", MFD_CLOEXEC);
    if (body->fd != -1)
        cache_body_count_file(body);
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

struct cache_body *cache_body_create(uint64_t length,
                                     struct cache_body_counts *counts)
{
    struct cache_body *body = cache_body_make(length, counts);

    if (!body)
        return NULL;
    if (!open_room(body)) {
        cache_body_release(&body);
        return NULL;
    }
    cache_body_set_aside(body, length == CACHE_LENGTH_UNKNOWN
                                   ? body->memory_bytes
                                   : length);
    return body;
}

/* --- Writing ------------------------------------------------------------- */

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

/* Publishes that the body now has `filled` bytes, and wakes those who wait for
 * more of it. */
static void publish(struct cache_body *body, uint64_t filled)
{
    atomic_store_explicit(&body->filled, filled, memory_order_release);
    if (!body->spool && body->length == CACHE_LENGTH_UNKNOWN &&
        filled > body->set_aside && !body->is_passing)
        cache_body_set_aside(body, filled);
    pthread_mutex_lock(&body->mutex);
    cache_wait_tell(&body->waits);
    if (body->spool)
        cache_wait_tell(&body->writer);
    pthread_mutex_unlock(&body->mutex);
}

/* Copies data into the body's memory, as far as there is room. Returns how many
 * bytes were copied. */
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

/* Gives data to the spool, whose file gets all of the body, from the first byte
 * on. */
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
        return false; /* data is longer than announced */
    if (body->spool)
        return spool(body, data);
    done = put_in_memory(body, filled, data);
    if (done < data.len && !has_opened(body) && !open_file(body))
        return false;
    if (body->spool) {
        cache_body_set_aside(body, CACHE_SPOOL_PENDING_MAX);
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

/* Ends a body for which no write is under way or will come. */
static void end(struct cache_body *body, bool is_whole)
{
    if (is_whole && !body->is_on_disk) {
        body->counted = cache_body_filled(body);
        atomic_fetch_add_explicit(&body->counts->whole, body->counted,
                                  memory_order_relaxed);
    }
    pthread_mutex_lock(&body->mutex);
    atomic_store_explicit(&body->state,
                          is_whole ? CACHE_BODY_WHOLE : CACHE_BODY_BROKEN,
                          memory_order_release);
    cache_wait_tell(&body->waits);
    pthread_mutex_unlock(&body->mutex);
    cache_body_set_aside(body, 0);
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

/* --- Spooling ------------------------------------------------------------ */

static void on_file(void *context, int fd)
{
    struct cache_body *body = context;

    pthread_mutex_lock(&body->mutex);
    body->fd = fd;
    body->is_on_disk = true;
    cache_body_count_file(body);
    pthread_mutex_unlock(&body->mutex);
}

static void on_fall(void *context, int fd, uint64_t at)
{
    struct cache_body *body = context;

    body->fallen_at = at;
    atomic_store(&body->fallen_fd, fd);
    cache_body_count_file(body);
}

static void on_written(void *context, uint64_t written)
{
    struct cache_body *body = context;
    uint64_t filled = cache_body_filled(body);

    /* The body's first bytes lie in memory, too, so that more of it may have
     * been published than the file has. */
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

/* --- Passing ------------------------------------------------------------- */

/* Sets memory aside for a passing body: CACHE_BODY_PASSING_MAX, or as many
 * bytes as the body holds if these are more. */
static void set_aside_passing(struct cache_body *body)
{
    uint64_t filled = cache_body_filled(body);
    uint64_t held = filled > body->given_up ? filled - body->given_up : 0;

    cache_body_set_aside(body, held > CACHE_BODY_PASSING_MAX
                                   ? held
                                   : CACHE_BODY_PASSING_MAX);
}

void cache_body_pass(struct cache_body *body)
{
    pthread_mutex_lock(&body->mutex);
    body->is_passing = true;
    pthread_mutex_unlock(&body->mutex);
    if (body->spool)
        cache_spool_fall(body->spool);
    set_aside_passing(body);
}

/* Returns the offset that the slowest reader has reached. The mutex is held,
 * and there is a reader. */
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

/* Gives up the bytes before the offset `before`, which all readers have read;
 * the offset is lowered to a whole megabyte. */
static void give_up(struct cache_body *body, uint64_t before)
{
    int fd = body->spool ? atomic_load(&body->fallen_fd) : body->fd;

    before -= before % CACHE_BODY_PASSING_MAX;
    if (fd == -1 || before <= body->given_up)
        return;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)body->given_up,
                  (off_t)(before - body->given_up)) == 0) {
        body->given_up = before;
        set_aside_passing(body);
    }
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
    if (takes)
        cache_wait_leave(wait);
    else
        cache_wait_in(&body->writer, wait);
    pthread_mutex_unlock(&body->mutex);
    return takes;
}

bool cache_body_is_forsaken(struct cache_body *body)
{
    bool is_forsaken;

    pthread_mutex_lock(&body->mutex);
    is_forsaken = body->is_passing && list_is_empty(&body->readers);
    pthread_mutex_unlock(&body->mutex);
    return is_forsaken;
}

/* --- Copying ------------------------------------------------------------- */

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
