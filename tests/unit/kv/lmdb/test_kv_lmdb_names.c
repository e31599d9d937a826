/* link: -Wl,--wrap=fsync */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv/kv_offline.h"
#include "unit/kv/store_fixture.h"
#include "wrap.h"

/*
 * What is on disk of a store whose machine loses power: of a file, what was
 * synced; of a name, what its folder was synced with.
 */

enum { SYNCED_MAX = 64 };

static struct stat synced[SYNCED_MAX];
static size_t synced_count;
static int sync_errno;

WRAP(int, fsync, int fd)
{
    if (synced_count < SYNCED_MAX && fstat(fd, &synced[synced_count]) == 0)
        synced_count++;
    errno = sync_errno;
    return errno != 0 ? -1 : __real_fsync(fd);
}

static bool is_synced(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    for (size_t i = 0; i < synced_count; i++)
        if (synced[i].st_dev == st.st_dev && synced[i].st_ino == st.st_ino)
            return true;
    return false;
}

TEST(names_of_a_new_store_are_on_disk_before_it_is_written)
{
    synced_count = 0;
    close_store();
    choose_store("new");
    open_store();
    assert_true(is_synced(options.path));
    assert_true(is_synced(place.name));
}

TEST(a_folder_that_cannot_be_synced_is_no_store)
{
    struct kv_lmdb *other = NULL;

    close_store();
    sync_errno = EIO;
    assert_int_equal(kv_lmdb_open(&other, &options), -EIO);
    sync_errno = EINVAL; /* it has nothing to be synced */
    open_store();
    sync_errno = 0;
    put("key", "value");
}

TEST(names_of_a_backup_are_on_disk_when_it_is_kept)
{
    struct kv_target target = {.to = "copy", .folder = dup(place.fd)};
    struct kv_backup backup;

    snprintf(target.new, sizeof(target.new), "copy");
    put("key", "value");
    close_store();
    assert_int_equal(kv_offline_begin_backup(&backup, &target), 0);
    assert_int_equal(kv_offline_copy(options.path, backup.fd), 0);
    synced_count = 0;
    assert_int_equal(kv_offline_keep_backup(&backup), 0);
    assert_true(is_synced(place_path(&place, "copy")));
    assert_true(is_synced(place.name));
    close(target.folder);
    open_store();
}

SUITE(.each_begin = set_up, .each_end = tear_down);
