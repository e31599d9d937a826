#include "cache/cache_disk_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/cache_record.h"

enum {
    CHECKED_BLOCKS = 16 /* blocks of a body that are checked in one go */
};

/* A job about an entry. */
struct disk_order {
    struct cache_job job;
    struct cache_disk *disk;
    struct cache_entry *entry;
    struct cache_body *body;
    struct cache_file *file;
    uint64_t pending; /* bytes of disk->pending that belong to this order */
    uint64_t at;      /* all bytes before this offset have been checked */
};

static void count(_Atomic uint64_t *number)
{
    atomic_fetch_add_explicit(number, 1, memory_order_relaxed);
}

/* --- Orders -------------------------------------------------------------- */

static struct disk_order *make_order(struct cache_disk *disk,
                                     void (*run)(struct cache_job *job),
                                     struct cache_entry *entry,
                                     struct cache_body *body,
                                     struct cache_file *file)
{
    struct disk_order *order = calloc(1, sizeof(*order));

    if (!order)
        return NULL;
    cache_job_init(&order->job, run);
    order->disk = disk;
    order->entry = cache_entry_acquire(entry);
    order->body = body ? cache_body_acquire(body) : NULL;
    order->file = file ? cache_file_acquire(file) : NULL;
    return order;
}

static void done(struct disk_order *order)
{
    atomic_fetch_sub_explicit(&order->disk->pending, order->pending,
                              memory_order_relaxed);
    cache_entry_release(&order->entry);
    cache_body_release(&order->body);
    cache_file_release(&order->file);
    free(order);
}

/* --- Writing ------------------------------------------------------------- */

/* Writes a whole body that lies in memory, or in a file of memory. */
static int put_body(struct cache_disk *disk, struct cache_file_writer *writer,
                    const struct cache_body *body)
{
    uint64_t at = 0, length = cache_body_filled(body);
    int err = 0;

    while (at < length && err == 0) {
        struct part part = cache_body_part(body, at, length - at);
        struct bytes data = {part.at.memory, (size_t)part.len};

        if (part.kind != PART_MEMORY) {
            ssize_t n = pread(part.fd, disk->buffer,
                              part.len < CACHE_FILE_BLOCK_BYTES
                                  ? (size_t)part.len
                                  : CACHE_FILE_BLOCK_BYTES,
                              (off_t)part.at.offset);

            if (n <= 0)
                return -EIO;
            data = (struct bytes){disk->buffer, (size_t)n};
        }
        err = cache_file_put(writer, data);
        at += data.len;
    }
    return err;
}

/* Writes an entry's file. Returns NULL when the head is too long, or the file
 * could not be written. */
static struct cache_file *write_file(struct disk_order *order,
                                     struct cache_file_writer *writer)
{
    struct cache_disk *disk = order->disk;
    bool is_begun = writer;
    struct cache_file *file = NULL;
    struct buf head;
    int err = is_begun ? 0 : cache_file_begin(&writer, &disk->folder);

    buf_init(&head, NULL, 0, CACHE_FILE_HEAD_BYTES_MAX);
    cache_record_put(order->entry, &head);
    if (err == 0 && order->body && !is_begun)
        err = put_body(disk, writer, order->body);
    if (err == 0 && !head.failed)
        err = cache_file_end(writer, buf_bytes(&head), order->entry->hash,
                             &file);
    cache_file_writer_destroy(writer);
    cache_folder_note(&disk->folder, err);
    buf_fini(&head);
    count(file ? &disk->written : &disk->refused);
    return file;
}

static void run_keep(struct cache_job *job)
{
    struct disk_order *order = OWNER_OF(job, struct disk_order, job);
    struct cache_disk *disk = order->disk;
    struct cache_body *body = order->body;
    bool is_spooled = body && cache_body_is_spooled(body);
    struct cache_file_writer *writer = is_spooled ? cache_body_take_file(body)
                                                  : NULL;
    struct cache_file *file = NULL;

    if ((body && cache_body_state_of(body) != CACHE_BODY_WHOLE) ||
        (is_spooled && cache_body_has_fallen(body))) {
        disk->events->on_lost(disk->context, order->entry);
    } else {
        if (is_spooled && !writer)
            count(&disk->refused); /* another entry has the file already */
        else if (cache_folder_takes(&disk->folder) &&
                 !cache_queue_is_late(disk->queue))
            file = write_file(order, writer);
        else
            cache_file_writer_destroy(writer);
        disk->events->on_kept(disk->context, order->entry, file);
    }
    done(order);
}

bool cache_disk_keep(struct cache_disk *disk, struct cache_entry *entry,
                     struct cache_body *body)
{
    bool is_spooled = body && cache_body_is_spooled(body);
    uint64_t bytes = body && !is_spooled ? cache_body_footprint(body) : 0;
    struct disk_order *order = NULL;

    if (is_spooled ||
        (cache_folder_takes(&disk->folder) &&
         atomic_load_explicit(&disk->pending, memory_order_relaxed) + bytes <=
             CACHE_DISK_PENDING_MAX))
        order = make_order(disk, run_keep, entry, body, NULL);
    if (!order) {
        count(&disk->refused);
        return false;
    }
    order->pending = bytes;
    atomic_fetch_add_explicit(&disk->pending, bytes, memory_order_relaxed);
    cache_queue_put(disk->queue, &order->job);
    return true;
}

static void run_change(struct cache_job *job)
{
    struct disk_order *order = OWNER_OF(job, struct disk_order, job);
    struct cache_folder *folder = &order->disk->folder;
    struct buf head;

    buf_init(&head, NULL, 0, CACHE_FILE_HEAD_BYTES_MAX);
    cache_record_put(order->entry, &head);
    if (!atomic_load(&order->file->is_gone) && atomic_load(&folder->is_ours) &&
        (head.failed ||
         cache_file_change_head(order->file, buf_bytes(&head)) != 0))
        cache_file_remove(folder, &order->file->name, false);
    buf_fini(&head);
    done(order);
}

void cache_disk_change(struct cache_disk *disk, struct cache_entry *entry,
                       struct cache_file *file)
{
    struct disk_order *order = make_order(disk, run_change, entry, NULL, file);

    if (order)
        cache_queue_put(disk->queue, &order->job);
    else
        cache_disk_forget(disk, file);
}

static void run_removal(struct cache_job *job)
{
    struct cache_file *file = OWNER_OF(job, struct cache_file, removal);

    cache_file_remove(file->folder, &file->name, false);
    cache_file_release(&file);
}

void cache_disk_forget(struct cache_disk *disk, struct cache_file *file)
{
    if (atomic_exchange(&file->is_gone, true))
        return;
    cache_job_init(&file->removal, run_removal);
    cache_file_acquire(file);
    cache_queue_put(disk->queue, &file->removal);
}

/* --- Reading ------------------------------------------------------------- */

static struct cache_body *read_short(int fd, uint64_t length,
                                     struct cache_body_counts *counts,
                                     bool *is_lost_out)
{
    struct cache_body *body = cache_body_create(length, counts);
    char *text = malloc((size_t)length + sizeof(uint64_t));
    bool is_right = body && text && cache_file_read_body(fd, length, text);
    bool is_read = is_right &&
                   cache_body_put(body, (struct bytes){text, (size_t)length});

    *is_lost_out = body && text && !is_right;
    free(text);
    if (is_read)
        cache_body_end(body, true);
    else
        cache_body_release(&body);
    return body;
}

struct cache_body *cache_disk_wake(struct cache_disk *disk,
                                   struct cache_file *file,
                                   struct cache_body_counts *counts,
                                   bool *is_lost_out)
{
    struct cache_body *body;
    int fd = cache_file_open(file);

    *is_lost_out = fd < 0 && !cache_file_is_want(fd);
    if (fd < 0)
        return NULL;
    if (file->length > CACHE_BODY_MEMORY_MAX) {
        body = cache_body_create_of(fd, file->length,
                                    atomic_load(&file->is_verified), counts);
        if (!body)
            close(fd);
        return body;
    }
    body = read_short(fd, file->length, counts, is_lost_out);
    close(fd);
    if (*is_lost_out)
        count(&disk->damaged);
    return body;
}

/* Checks the next blocks. Returns 1 when all are checked, 0 when more remain,
 * and -1 when the body is damaged. */
static int check_blocks(struct disk_order *order)
{
    struct cache_file *file = order->file;
    int fd = cache_body_part(order->body, 0, 1).fd;

    for (unsigned i = 0; i < CHECKED_BLOCKS && order->at < file->length; i++) {
        if (!cache_file_check_block(fd, file->length, order->at,
                                    order->disk->buffer, &order->at))
            return -1;
        cache_body_reveal(order->body, order->at);
    }
    return order->at == file->length;
}

static void run_check(struct cache_job *job)
{
    struct disk_order *order = OWNER_OF(job, struct disk_order, job);
    struct cache_disk *disk = order->disk;
    int how = cache_queue_is_ending(disk->queue) ? -1 : check_blocks(order);

    if (how == 0) {
        cache_queue_put(disk->queue, job);
        return;
    }
    if (how > 0)
        atomic_store(&order->file->is_verified, true);
    cache_body_end(order->body, how > 0);
    if (how < 0 && !cache_queue_is_ending(disk->queue)) {
        count(&disk->damaged);
        disk->events->on_lost(disk->context, order->entry);
    }
    done(order);
}

void cache_disk_check(struct cache_disk *disk, struct cache_entry *entry,
                      struct cache_file *file, struct cache_body *body)
{
    struct disk_order *order = make_order(disk, run_check, entry, body, file);

    if (order)
        cache_queue_put(disk->queue, &order->job);
    else
        cache_body_end(body, false);
}

/* --- Who owns the folder ------------------------------------------------- */

static void run_lock(struct cache_job *job)
{
    struct cache_disk *disk = OWNER_OF(job, struct cache_disk, lock);

    if (atomic_load(&disk->leaves)) {
        cache_folder_leave(&disk->folder);
    } else if (atomic_load(&disk->folder.is_ours) ||
               cache_folder_take(&disk->folder) == 0) {
        cache_scan_begin(disk);
    } else if (!cache_queue_is_ending(disk->queue)) {
        usleep(CACHE_DISK_PAUSE_US);
        cache_queue_put(disk->queue, job);
    }
}

void cache_disk_leave(struct cache_disk *disk)
{
    atomic_store(&disk->leaves, true);
    cache_queue_put(disk->queue, &disk->lock);
}

/* --- Coming and going ---------------------------------------------------- */

int cache_disk_open(struct cache_disk **disk_out,
                    const struct cache_disk_options *options)
{
    struct cache_disk *disk = calloc(1, sizeof(*disk));
    int err;

    if (!disk)
        return -ENOMEM;
    cache_job_init(&disk->lock, run_lock);
    cache_job_init(&disk->scan, cache_scan_run);
    disk->surrogate = options->surrogate;
    disk->spooling.folder = &disk->folder;
    disk->buffer = malloc(CACHE_FILE_BLOCK_BYTES);
    err = cache_folder_open(&disk->folder, options->folder);
    if (err == 0 && !disk->buffer)
        err = -ENOMEM;
    if (err == 0 && !options->is_awaited)
        err = cache_folder_take(&disk->folder);
    if (err == 0)
        err = cache_queue_create(&disk->queue);
    disk->spooling.queue = disk->queue;
    if (err == 0)
        *disk_out = disk;
    else
        cache_disk_close(disk);
    return err;
}

void cache_disk_start(struct cache_disk *disk,
                      const struct cache_disk_events *events, void *context)
{
    disk->events = events;
    disk->context = context;
    cache_queue_put(disk->queue, &disk->lock);
}

void cache_disk_stop(struct cache_disk *disk)
{
    cache_queue_stop(disk->queue);
}

void cache_disk_close(struct cache_disk *disk)
{
    if (!disk)
        return;
    cache_queue_destroy(disk->queue);
    cache_folder_close(&disk->folder);
    free(disk->buffer);
    free(disk);
}

struct cache_spooling *cache_disk_spooling(struct cache_disk *disk)
{
    return &disk->spooling;
}

struct cache_disk_counts cache_disk_count(const struct cache_disk *disk)
{
    return (struct cache_disk_counts){
        .written = atomic_load_explicit(&disk->written, memory_order_relaxed),
        .refused = atomic_load_explicit(&disk->refused, memory_order_relaxed),
        .damaged = atomic_load_explicit(&disk->damaged, memory_order_relaxed)};
}
