#include "unit/kv/kv_disk.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "wrap.h"

enum { METAS_BYTES = 2 * 4096 }; /* the pages by which a commit counts */

/* --- LMDB's system calls: a disk that the test has in its hands ----------- */

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_is_open = true; /* guarded by gate_mutex */
static unsigned syncs_begun;     /* likewise */
atomic_int sync_errno;
atomic_int write_errno;
atomic_int meta_errno;
_Atomic off_t disk_bytes;
atomic_bool writes_short;
atomic_int short_writes;

void set_gate(bool is_open)
{
    pthread_mutex_lock(&gate_mutex);
    gate_is_open = is_open;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

unsigned count_syncs(void)
{
    unsigned begun;

    pthread_mutex_lock(&gate_mutex);
    begun = syncs_begun;
    pthread_mutex_unlock(&gate_mutex);
    return begun;
}

void wait_for_syncs(unsigned count)
{
    pthread_mutex_lock(&gate_mutex);
    while (syncs_begun < count)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
}

/* The program's own come before the C library's, for LMDB too. */
int fdatasync(int fd)
{
    pthread_mutex_lock(&gate_mutex);
    syncs_begun++;
    pthread_cond_broadcast(&gate_changed);
    while (!gate_is_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
    errno = sync_errno;
    return errno != 0 ? -1 : (int)syscall(SYS_fdatasync, fd);
}

/* How many of len bytes at offset find room. */
static ssize_t room_at(off_t offset, size_t len)
{
    off_t limit = disk_bytes;

    if (write_errno != 0) {
        errno = write_errno;
        return -1;
    }
    if (short_writes > 0) {
        short_writes--;
        return (ssize_t)len / 2;
    }
    if (limit == 0 || offset + (off_t)len <= limit)
        return (ssize_t)len;
    if (writes_short && offset < limit)
        return (ssize_t)(limit - offset);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t offset)
{
    ssize_t room = room_at(offset, len);

    if (meta_errno != 0 && offset < METAS_BYTES) {
        errno = meta_errno;
        return -1;
    }
    return room == -1 ? -1
                      : syscall(SYS_pwrite64, fd, from, (size_t)room, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count_of)
{
    size_t len = 0;
    ssize_t room;

    for (int i = 0; i < count_of; i++)
        len += parts[i].iov_len;
    room = room_at(lseek(fd, 0, SEEK_CUR), len);
    return room == -1 || room < (ssize_t)len
               ? room
               : syscall(SYS_writev, fd, parts, count_of);
}

WRAP(int, fstatvfs, int fd, struct statvfs *fs)
{
    int rc = __real_fstatvfs(fd, fs);

    if (disk_bytes != 0)
        fs->f_bavail = 0;
    return rc;
}

int heal_and_tear_down(void **state)
{
    set_gate(true);
    sync_errno = 0;
    write_errno = meta_errno = 0;
    disk_bytes = 0;
    writes_short = false;
    short_writes = 0;
    return tear_down(state);
}

/* --- Writes that wait ----------------------------------------------------- */

struct asked waiting[WAITING];
char names[WAITING][32];

void ask_all(size_t count_of, struct bytes value)
{
    for (size_t i = 0; i < count_of; i++) {
        struct kv_op op;

        snprintf(names[i], sizeof(names[i]), "key-%zu", i);
        op = put_op(names[i], "");
        op.value = value;
        ask(&waiting[i], op);
    }
}

size_t wait_for_all(size_t count_of, enum kv_outcome outcome)
{
    size_t equal = 0;

    for (size_t i = 0; i < count_of; i++) {
        wait_for(&waiting[i]);
        equal += waiting[i].op.outcome == outcome;
    }
    return equal;
}
