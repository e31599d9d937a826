#include "cache/cache_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct spooled {
    struct list list_node;
    size_t len;
    char data[];
};

enum ending { NOT_ENDED, ENDED_WHOLE, ENDED_BROKEN };

struct cache_spool {
    struct cache_job job;
    struct cache_spooling *spooling;
    const struct cache_spool_events *events;
    void *context;
    pthread_mutex_t mutex; /* guards the next four */
    struct list pieces;
    uint64_t pending; /* bytes of all pieces, also of the one being written */
    enum ending ending;
    bool wants_fall;
    /* For the queue's thread: */
    struct cache_file_writer *writer; /* NULL: no file yet, or it was taken */
    int fallen_fd; /* the file in memory; -1: nothing has gone there */
    uint64_t written;
    bool is_broken; /* a piece could not be written anywhere */
    bool has_ended;
};

/* --- In the queue's thread ----------------------------------------------- */

static void fall(struct cache_spool *spool)
{
    int fd;

    spool->fallen_fd = memfd_create("sprintd-cache", MFD_CLOEXEC);
    fd = fcntl(spool->fallen_fd, F_DUPFD_CLOEXEC, 0);
    if (fd == -1)
        spool->is_broken = true;
    else
        spool->events->on_fall(spool->context, fd, spool->written);
}

/* Begins the file, and tells the spool's owner. Returns 0 or -errno. */
static int begin(struct cache_spool *spool)
{
    struct cache_folder *folder = spool->spooling->folder;
    int err, fd;

    if (!cache_folder_takes(folder))
        return -EAGAIN;
    err = cache_file_begin(&spool->writer, folder);
    if (err != 0) {
        cache_folder_note(folder, err);
        return err;
    }
    fd = fcntl(cache_file_writer_fd(spool->writer), F_DUPFD_CLOEXEC, 0);
    if (fd == -1) {
        cache_file_writer_destroy(spool->writer);
        spool->writer = NULL;
        return -errno;
    }
    spool->events->on_file(spool->context, fd);
    return 0;
}

/* Writes data to the file. Returns false when the file cannot be begun or
 * written. */
static bool put_in_file(struct cache_spool *spool, struct bytes data)
{
    int err;

    if (!spool->writer && (spool->written > 0 || begin(spool) != 0))
        return false;
    err = cache_file_put(spool->writer, data);
    if (err != 0)
        cache_folder_note(spool->spooling->folder, err);
    return err == 0;
}

static bool put_in_memory(const struct cache_spool *spool, struct bytes data)
{
    uint64_t at = spool->written;

    while (data.len > 0) {
        ssize_t n = pwrite(spool->fallen_fd, data.data, data.len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data.data += n;
        data.len -= (size_t)n;
        at += (uint64_t)n;
    }
    return true;
}

static void write_piece(struct cache_spool *spool, const struct spooled *piece,
                        bool wants_fall)
{
    struct bytes data = {piece->data, piece->len};

    if (spool->is_broken)
        return;
    if (spool->fallen_fd == -1 && !wants_fall && put_in_file(spool, data)) {
        spool->written += data.len;
        return;
    }
    if (spool->fallen_fd == -1)
        fall(spool);
    if (!spool->is_broken && put_in_memory(spool, data))
        spool->written += data.len;
    else
        spool->is_broken = true;
}

static struct spooled *take_piece(struct cache_spool *spool, bool *wants_fall)
{
    struct spooled *piece = NULL;

    pthread_mutex_lock(&spool->mutex);
    *wants_fall = spool->wants_fall;
    if (!list_is_empty(&spool->pieces)) {
        piece = OWNER_OF(spool->pieces.next, struct spooled, list_node);
        list_drop(&piece->list_node);
    }
    pthread_mutex_unlock(&spool->mutex);
    return piece;
}

static void done_with(struct cache_spool *spool, struct spooled *piece)
{
    atomic_fetch_sub_explicit(&spool->spooling->pending, piece->len,
                              memory_order_relaxed);
    pthread_mutex_lock(&spool->mutex);
    spool->pending -= piece->len;
    pthread_mutex_unlock(&spool->mutex);
    free(piece);
}

static void run(struct cache_job *job)
{
    struct cache_spool *spool = OWNER_OF(job, struct cache_spool, job);
    enum ending ending;
    struct spooled *piece;
    bool wants_fall;

    while ((piece = take_piece(spool, &wants_fall))) {
        write_piece(spool, piece, wants_fall);
        done_with(spool, piece);
        spool->events->on_written(spool->context, spool->written);
    }
    pthread_mutex_lock(&spool->mutex);
    ending = list_is_empty(&spool->pieces) ? spool->ending : NOT_ENDED;
    pthread_mutex_unlock(&spool->mutex);
    if (ending != NOT_ENDED && !spool->has_ended) {
        spool->has_ended = true;
        spool->events->on_end(spool->context,
                              ending == ENDED_WHOLE && !spool->is_broken);
    }
    spool->events->release(spool->context);
}

struct cache_file_writer *cache_spool_take(struct cache_spool *spool)
{
    struct cache_file_writer *writer = spool->writer;

    if (!spool->has_ended || spool->fallen_fd != -1 || spool->is_broken)
        return NULL;
    spool->writer = NULL;
    return writer;
}

/* --- In the worker ------------------------------------------------------- */

static void order(struct cache_spool *spool)
{
    spool->events->hold(spool->context);
    if (!cache_queue_put(spool->spooling->queue, &spool->job))
        spool->events->release(spool->context);
}

bool cache_spool_put(struct cache_spool *spool, struct bytes data)
{
    struct spooled *piece = malloc(sizeof(*piece) + data.len);

    if (!piece)
        return false;
    piece->len = data.len;
    memcpy(piece->data, data.data, data.len);
    list_init(&piece->list_node);
    atomic_fetch_add_explicit(&spool->spooling->pending, data.len,
                              memory_order_relaxed);
    pthread_mutex_lock(&spool->mutex);
    list_put_last(&spool->pieces, &piece->list_node);
    spool->pending += data.len;
    pthread_mutex_unlock(&spool->mutex);
    order(spool);
    return true;
}

bool cache_spool_is_full(struct cache_spool *spool)
{
    uint64_t all = atomic_load_explicit(&spool->spooling->pending,
                                        memory_order_relaxed);
    bool is_full;

    pthread_mutex_lock(&spool->mutex);
    is_full = spool->pending >= CACHE_SPOOL_PENDING_MAX ||
              (spool->pending > 0 && all >= CACHE_SPOOL_ALL_MAX);
    pthread_mutex_unlock(&spool->mutex);
    return is_full;
}

void cache_spool_end(struct cache_spool *spool, bool is_whole)
{
    pthread_mutex_lock(&spool->mutex);
    spool->ending = is_whole ? ENDED_WHOLE : ENDED_BROKEN;
    pthread_mutex_unlock(&spool->mutex);
    order(spool);
}

void cache_spool_fall(struct cache_spool *spool)
{
    pthread_mutex_lock(&spool->mutex);
    spool->wants_fall = true;
    pthread_mutex_unlock(&spool->mutex);
}

/* --- Coming and going ---------------------------------------------------- */

struct cache_spool *cache_spool_create(struct cache_spooling *spooling,
                                       const struct cache_spool_events *events,
                                       void *context)
{
    struct cache_spool *spool = calloc(1, sizeof(*spool));

    if (!spool)
        return NULL;
    cache_job_init(&spool->job, run);
    spool->spooling = spooling;
    spool->events = events;
    spool->context = context;
    spool->fallen_fd = -1;
    list_init(&spool->pieces);
    pthread_mutex_init(&spool->mutex, NULL);
    return spool;
}

void cache_spool_destroy(struct cache_spool *spool)
{
    bool wants_fall;
    struct spooled *piece;

    if (!spool)
        return;
    while ((piece = take_piece(spool, &wants_fall)))
        done_with(spool, piece);
    if (spool->fallen_fd != -1)
        close(spool->fallen_fd);
    cache_file_writer_destroy(spool->writer);
    pthread_mutex_destroy(&spool->mutex);
    free(spool);
}
