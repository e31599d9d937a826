#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/units.h"
#include "files/file_cache_priv.h"

enum {
    /* Some file systems stamp only every two seconds (FAT). So a folder that
     * has changed lately may change again and keep its stamp. */
    YOUNG_MS = 3000,
    /* A folder counts as changed after this time. This finds changes that leave
     * its stamp alone: another target of a symlink, or any change where the
     * file system has no stamps. */
    RENEW_MS = 60000
};

static bool is_old(const struct file_stamp *stamp, const struct now *now)
{
    return now->wall_ns - stamp->changed_ns >= (int64_t)YOUNG_MS * NS_PER_MS;
}

static bool is_due(const struct file_folder *folder, const struct now *now)
{
    return folder->looked_ms == 0 ||
           now->mono_ms - folder->looked_ms >= FILE_CACHE_CHECK_MS;
}

/* Stats the folder, whose path below the root has no slash at either end. */
static void look(struct file_folders *folders, struct file_folder *folder,
                 const struct docroot *root, const char *path,
                 const struct now *now)
{
    struct file_stamp before = folder->stamp;
    struct stat st;
    bool is_there = docroot_stat(root, path, &st) == 0;

    folder->looked_ms = now->mono_ms;
    if (is_there)
        folder->stamp = file_stamp_of(&st);
    if (is_there && folder->version != 0 &&
        file_stamp_eq(&before, &folder->stamp) &&
        now->mono_ms - folder->renewed_ms < RENEW_MS)
        return;
    folder->version = is_there && is_old(&folder->stamp, now)
                          ? ++folders->versions
                          : 0;
    folder->renewed_ms = now->mono_ms;
}

uint64_t file_folders_look(struct file_folders *folders,
                           const struct file_entry *entry, uint64_t seed,
                           const struct now *now, uint64_t *looked_ms_out)
{
    char path[FILE_NAME_BYTES_MAX];
    const char *slash = memrchr(entry->path, '/', entry->path_len);
    size_t len = (size_t)(slash - entry->path);
    uint64_t hash = XXH3_64bits_withSeed(entry->path, len,
                                         seed + (uintptr_t)entry->space);
    struct file_folder *folder = &folders->folders[hash % FILE_FOLDERS];
    bool is_another = folder->hash != hash;

    /* A place keeps its folder until a new look is due. So if there are more
     * folders than places, most folders are not known, and cost no stat. */
    if (len >= sizeof(path) || (is_another && !is_due(folder, now)))
        return 0;
    if (is_another)
        *folder = (struct file_folder){.hash = hash};
    if (is_due(folder, now)) {
        memcpy(path, entry->path + 1, len); /* NUL replaces the final slash */
        path[len > 0 ? len - 1 : 0] = '\0';
        look(folders, folder, entry->space->root, path, now);
    }
    *looked_ms_out = folder->looked_ms;
    return folder->version;
}
