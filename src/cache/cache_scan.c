#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/cache_disk_priv.h"
#include "cache/cache_record.h"

/* Reads an entry's file. Returns NULL when the file is damaged, or cannot be
 * read now; *is_damaged_out tells which. */
static struct cache_entry *read_entry(struct cache_disk *disk,
                                      const struct cache_file_name *name,
                                      struct cache_file **file_out,
                                      bool *is_damaged_out)
{
    struct cache_file *file = cache_file_create(&disk->folder, name, 0);
    struct cache_entry *entry = NULL;
    struct buf head;
    int fd = file ? cache_file_open(file) : -ENOMEM;

    *is_damaged_out = fd >= 0 || !cache_file_is_want(fd);
    buf_init(&head, disk->buffer, CACHE_FILE_BLOCK_BYTES,
             CACHE_FILE_HEAD_BYTES_MAX);
    if (fd >= 0 && cache_file_read_head(fd, &head, &file->length))
        entry = cache_record_read(buf_bytes(&head), disk->surrogate);
    if (fd >= 0)
        close(fd);
    buf_fini(&head);
    if (entry)
        *file_out = file;
    else
        cache_file_release(&file);
    return entry;
}

/* Looks at a file. Returns false when it cannot be read now. */
static bool look_at(struct cache_disk *disk, const char *text)
{
    struct cache_file_name name;
    struct cache_file *file;
    struct cache_entry *entry;
    bool is_new, is_damaged = true;

    if (!cache_file_name_read(&name, &is_new, text) ||
        cache_folder_has_made(&disk->folder, &name))
        return true;
    entry = is_new ? NULL : read_entry(disk, &name, &file, &is_damaged);
    if (!entry && !is_damaged)
        return false;
    if (!entry) {
        if (!is_new)
            atomic_fetch_add_explicit(&disk->damaged, 1, memory_order_relaxed);
        cache_file_remove(&disk->folder, &name, is_new);
        return true;
    }
    if (!disk->events->on_found(disk->context, entry, file))
        cache_file_remove(&disk->folder, &name, false);
    cache_file_release(&file);
    cache_entry_release(&entry);
    return true;
}

static void end_scan(struct cache_disk *disk)
{
    uint64_t damaged = atomic_load(&disk->damaged);

    if (damaged > disk->damaged_said)
        log_warning("proxy-cache '%s': %llu damaged entries removed",
                    disk->folder.path,
                    (unsigned long long)(damaged - disk->damaged_said));
    disk->damaged_said = damaged;
    if (disk->names)
        closedir(disk->names);
    disk->names = NULL;
    disk->unread = NULL;
}

/* Goes on after a pause, when descriptors and memory may be there again. Other
 * jobs have their turn in between. */
static void go_on_later(struct cache_disk *disk)
{
    usleep(CACHE_DISK_PAUSE_US);
    cache_queue_put(disk->queue, &disk->scan);
}

/* Opens the list of the folder's files. Returns 0 or -errno. */
static int open_names(struct cache_disk *disk)
{
    int fd = openat(disk->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = fd == -1 ? -errno : 0;

    disk->names = fd == -1 ? NULL : fdopendir(fd);
    if (fd != -1 && !disk->names) {
        err = -errno;
        close(fd);
    }
    return err;
}

static bool is_over(const struct cache_disk *disk)
{
    return cache_queue_is_ending(disk->queue) ||
           !atomic_load(&disk->folder.is_ours);
}

void cache_scan_run(struct cache_job *job)
{
    struct cache_disk *disk = OWNER_OF(job, struct cache_disk, scan);
    int err = is_over(disk) || disk->names ? 0 : open_names(disk);

    if (err != 0 && cache_file_is_want(err)) {
        go_on_later(disk);
        return;
    }
    if (err != 0)
        log_warning("proxy-cache '%s': it cannot be looked through: %s",
                    disk->folder.path, strerror(-err));
    for (unsigned i = 0; i < CACHE_DISK_SCAN; i++) {
        struct dirent *entry = disk->unread;

        if (is_over(disk) || !disk->names ||
            (!entry && !(entry = readdir(disk->names)))) {
            end_scan(disk);
            return;
        }
        disk->unread = look_at(disk, entry->d_name) ? NULL : entry;
        if (disk->unread) {
            go_on_later(disk);
            return;
        }
    }
    cache_queue_put(disk->queue, job);
}

void cache_scan_begin(struct cache_disk *disk)
{
    cache_queue_put(disk->queue, &disk->scan);
}
