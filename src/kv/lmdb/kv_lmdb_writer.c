#include <errno.h>
#include <time.h>

#include <lmdb.h>

#include "base/units.h"
#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    GROUP_WRITES_MAX = 4096,
    SWEEP_KEYS_MAX = 1000 /* most keys swept in one transaction */
};

/* The limit of a transaction's memory before its commit. A transaction of a
 * single write may exceed the limit. */
#define GROUP_BYTES_MAX ((size_t)32 << 20)

#define NEVER UINT64_MAX

static uint64_t read_mono_ms(void)
{
    return now_read_ns() / NS_PER_MS;
}

/* --- The queue ------------------------------------------------------------ */

static void on_arrive(struct mailbox_note *note)
{
    struct kv_write *write = OWNER_OF(note, struct kv_write, note);

    write->on_done(write);
}

/* Whether enough writes wait to wake the writer. */
static bool has_enough(const struct kv_lmdb *store)
{
    return store->queue_writes >= store->signal_at ||
           store->queue_bytes >= GROUP_BYTES_MAX;
}

/* Whether the queue is half full, and might be full before a client wakes the
 * writer. */
static bool is_filling(const struct kv_lmdb *store)
{
    return store->queue_writes > store->options.queue_writes_max / 2 ||
           store->queue_bytes > store->options.queue_bytes_max / 2;
}

void kv_lmdb_wake_writer(struct kv_lmdb *store)
{
    pthread_mutex_lock(&store->queue_mutex);
    if (has_enough(store))
        pthread_cond_signal(&store->queue_changed);
    pthread_mutex_unlock(&store->queue_mutex);
}

bool kv_lmdb_put_write(struct kv_lmdb *store, struct mailbox *mailbox,
                       struct kv_write *write, bool wakes)
{
    enum kv_outcome refusal = KV_UNDONE; /* KV_UNDONE: not refused */
    size_t bytes_max = store->options.queue_bytes_max;

    write->bytes = kv_write_weigh(write);
    write->mailbox = mailbox;
    write->note.on_arrive = on_arrive;
    write->next = NULL;
    pthread_mutex_lock(&store->queue_mutex);
    if (store->is_stopping || store->is_paused) {
        refusal = store->is_paused ? KV_BUSY : KV_ERROR;
    } else if (store->queue_writes >= store->options.queue_writes_max ||
               (store->queue_writes > 0 && /* an empty queue takes any write */
                (store->queue_bytes >= bytes_max ||
                 write->bytes > bytes_max - store->queue_bytes))) {
        refusal = KV_BUSY;
    } else {
        *store->queue_end = write;
        store->queue_end = &write->next;
        store->queue_writes++;
        store->queue_bytes += write->bytes;
        if ((wakes || is_filling(store)) && has_enough(store))
            pthread_cond_signal(&store->queue_changed);
    }
    pthread_mutex_unlock(&store->queue_mutex);
    if (refusal == KV_UNDONE)
        return false;
    kv_write_set_outcomes(write, refusal);
    return true;
}

/* Takes the oldest write and the following writes that fit into one
 * transaction. */
static struct kv_write *take_group(struct kv_lmdb *store)
{
    struct kv_write *first = store->queue_first;
    struct kv_write **end = &store->queue_first;
    size_t count = 0;
    size_t bytes = 0;

    while (*end && count < GROUP_WRITES_MAX &&
           (count == 0 || (*end)->bytes <= GROUP_BYTES_MAX - bytes)) {
        bytes += (*end)->bytes < GROUP_BYTES_MAX ? (*end)->bytes
                                                 : GROUP_BYTES_MAX;
        count++;
        end = &(*end)->next;
    }
    store->queue_first = *end;
    if (!store->queue_first)
        store->queue_end = &store->queue_first;
    *end = NULL;
    return count > 0 ? first : NULL;
}

/* Sends each mailbox all of its notes in one call. A write may be freed as soon
 * as its note was sent. */
static void send_notes(struct kv_write *group)
{
    while (group) {
        struct mailbox *mailbox = group->mailbox;
        struct mailbox_note *notes = NULL;
        struct mailbox_note **notes_end = &notes;
        struct kv_write *others = NULL;
        struct kv_write **others_end = &others;

        for (struct kv_write *at = group; at; at = at->next) {
            if (at->mailbox == mailbox) {
                *notes_end = &at->note;
                notes_end = &at->note.next;
            } else {
                *others_end = at;
                others_end = &at->next;
            }
        }
        *notes_end = NULL;
        *others_end = NULL;
        mailbox_send_all(mailbox, notes);
        group = others;
    }
}

static void answer_group(struct kv_lmdb *store, struct kv_write *first,
                         uint64_t began_ns)
{
    uint64_t ended_ns = now_read_ns();
    size_t count = 0;
    size_t bytes = 0;

    for (struct kv_write *at = first; at; at = at->next) {
        count++;
        bytes += at->bytes;
    }
    pthread_mutex_lock(&store->queue_mutex);
    store->queue_writes -= count;
    store->queue_bytes -= bytes;
    kv_gather_note_commit(&store->gather, count, store->queue_writes, began_ns,
                          ended_ns);
    pthread_mutex_unlock(&store->queue_mutex);
    atomic_fetch_add_explicit(&store->writes, count, memory_order_relaxed);
    send_notes(first);
}

/* --- What comes of itself ------------------------------------------------- */

/* Syncs all commits. After a failed sync, no more writes are accepted: the sync
 * may have lost writes that were answered, even if the disk was only full. */
static void sync_now(struct kv_lmdb *store)
{
    int rc;

    do
        rc = mdb_env_sync(store->env.env, 1);
    while (rc == EINTR);
    store->is_unsynced = false;
    if (rc != 0) {
        (void)kv_lmdb_fail(store, rc);
        store->is_broken = true;
    }
}

/* Sweeps a limited number of keys, so that waiting writes are done between
 * sweeps. A failed sweep is repeated later; clients notice nothing. */
static void sweep(struct kv_lmdb *store)
{
    struct kv_change change;
    size_t swept = 0;
    bool some_left = true;
    bool may_grow = true;
    int rc;

    do {
        rc = kv_lmdb_begin(store, &change);
        if (rc != 0)
            break;
        rc = kv_change_sweep(&change, SWEEP_KEYS_MAX, &swept, &some_left);
        if (rc != 0 || swept == 0)
            kv_change_abort(&change);
        else
            rc = kv_change_commit(&change);
        may_grow = rc == MDB_MAP_FULL && kv_lmdb_make_room(store, true);
    } while (may_grow);
    store->sweep_at_ms = read_mono_ms() + store->options.sweep_ms;
    if (rc != 0) {
        (void)kv_lmdb_fail(store, rc);
        return;
    }
    if (swept > 0)
        kv_lmdb_note_commit(store, &change);
    atomic_fetch_add_explicit(&store->swept, swept, memory_order_relaxed);
    store->has_expiring = some_left;
    if (swept == SWEEP_KEYS_MAX)
        store->sweep_at_ms = 0;
}

/* Returns when the next sweep or sync is due, NEVER if neither is. */
static uint64_t next_duty_ms(const struct kv_lmdb *store)
{
    uint64_t at_ms = NEVER;

    if (store->is_broken)
        return at_ms;
    if (store->has_expiring)
        at_ms = store->sweep_at_ms;
    if (store->is_unsynced && store->sync_at_ms < at_ms)
        at_ms = store->sync_at_ms;
    return at_ms;
}

static void do_duties(struct kv_lmdb *store)
{
    uint64_t now_ms;

    if (next_duty_ms(store) == NEVER)
        return;
    now_ms = read_mono_ms();
    if (store->is_unsynced && store->sync_at_ms <= now_ms)
        sync_now(store);
    if (store->has_expiring && !store->is_broken &&
        store->sweep_at_ms <= now_ms)
        sweep(store);
}

/* --- The thread ----------------------------------------------------------- */

static int sleep_until(struct kv_lmdb *store, uint64_t until_ns)
{
    struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                             .tv_nsec = (long)(until_ns % NS_PER_S)};

    return pthread_cond_timedwait(&store->queue_changed, &store->queue_mutex,
                                  &until);
}

/* Waits until the clients that were answered last have written again, or the
 * time is up. */
static void gather(struct kv_lmdb *store)
{
    size_t wanted = store->gather.wanted;
    int rc = 0;

    store->gather.wanted = 0;
    /* A commit without a sync is so short that waiting for more writes does not
     * pay. */
    if (wanted < 2 || store->options.sync != KV_SYNC_FULL)
        return;
    store->signal_at = wanted < GROUP_WRITES_MAX ? wanted : GROUP_WRITES_MAX;
    while (!has_enough(store) && !store->is_stopping && rc != ETIMEDOUT)
        rc = sleep_until(store, store->gather.until_ns);
    kv_gather_note_wait(&store->gather, has_enough(store));
    store->signal_at = 1;
}

/* Waits until a write is queued, the store is stopping, or a sweep or sync is
 * due. */
static void wait_for_work(struct kv_lmdb *store)
{
    uint64_t until_ms = next_duty_ms(store);
    int rc = 0;

    while (!store->queue_first && !store->is_stopping && rc != ETIMEDOUT) {
        if (until_ms == NEVER)
            rc = pthread_cond_wait(&store->queue_changed, &store->queue_mutex);
        else
            rc = sleep_until(store, until_ms * NS_PER_MS);
    }
}

void *kv_lmdb_run_writer(void *context)
{
    struct kv_lmdb *store = context;
    bool is_over = false;

    while (!is_over) {
        struct kv_write *group;

        pthread_mutex_lock(&store->queue_mutex);
        gather(store);
        wait_for_work(store);
        group = take_group(store);
        is_over = !group && store->is_stopping;
        pthread_mutex_unlock(&store->queue_mutex);
        if (group) {
            uint64_t began_ns = now_read_ns();

            kv_lmdb_run_group(store, group, NULL);
            answer_group(store, group, began_ns);
        }
        if (!is_over)
            do_duties(store);
        kv_lmdb_trim(store);
    }
    if (store->is_unsynced && !store->is_broken)
        sync_now(store);
    return NULL;
}
