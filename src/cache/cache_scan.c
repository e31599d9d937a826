#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/cache_disk_priv.h"
#include "cache/cache_record.h"

/* Reads an entry's file. NULL: it is damaged, or, if *is_damaged_out is false,
 * cannot be read now. */
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

static void look_at(struct cache_disk *disk, const char *text)
{
    struct cache_file_name name;
    struct cache_file *file;
    struct cache_entry *entry;
    bool is_new, is_damaged = true;

    if (!cache_file_name_read(&name, &is_new, text) ||
        cache_folder_has_made(&disk->folder, &name))
        return;
    entry = is_new ? NULL : read_entry(disk, &name, &file, &is_damaged);
    if (!entry && !is_damaged)
        return; /* the next to start may find it */
    if (!entry) {
        if (!is_new)
            atomic_fetch_add_explicit(&disk->damaged, 1, memory_order_relaxed);
        cache_file_remove(&disk->folder, &name, is_new);
        return;
    }
    if (!disk->events->on_found(disk->context, entry, file))
        cache_file_remove(&disk->folder, &name, false);
    cache_file_release(&file);
    cache_entry_release(&entry);
}

static void end_scan(struct cache_disk *disk)
{
    uint64_t damaged = atomic_load(&disk->damaged);

    if (damaged > disk->damaged_said)
        log_warning("proxy-cache '%s': %llu damaged entries removed",
                    disk->folder.path,
                    (unsigned long long)(damaged - disk->damaged_said));
    disk->damaged_said = damaged;
    closedir(disk->names);
    disk->names = NULL;
}

void cache_scan_run(struct cache_job *job)
{
    struct cache_disk *disk = OWNER_OF(job, struct cache_disk, scan);
    struct dirent *entry = NULL;

    for (unsigned i = 0; i < CACHE_DISK_SCAN; i++) {
        if (cache_queue_is_ending(disk->queue) ||
            !atomic_load(&disk->folder.is_ours) ||
            !(entry = readdir(disk->names))) {
            end_scan(disk);
            return;
        }
        look_at(disk, entry->d_name);
    }
    cache_queue_put(disk->queue, job);
}

void cache_scan_begin(struct cache_disk *disk)
{
    int fd = openat(disk->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (disk->names)
        return; /* one is under way */
    disk->names = fd == -1 ? NULL : fdopendir(fd);
    if (disk->names)
        cache_queue_put(disk->queue, &disk->scan);
    else if (fd != -1)
        close(fd);
}
