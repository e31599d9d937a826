/*
 * store_locks - what locks around a key-value store's operations cost, by how
 *               many groups of keys have one of their own.
 *
 *     store_locks FOLDER THREADS GROUPS PUT_PERCENT KEYS BYTES MILLISECONDS
 *
 * THREADS get and put values of BYTES under KEYS random keys of an LMDB
 * environment in FOLDER, which is filled first when it is empty. Each operation
 * holds the lock of its key's group; with 0 groups there is none but LMDB's
 * own, which is one for all writers and none for readers. Nothing is synced: a
 * disk would hide the locks. Prints JSON: operations, the time, and the CPU
 * time of all threads.
 */
#include "link/program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

#include <lmdb.h>

#define US_PER_S 1000000
#define MAP_BYTES ((size_t)1 << 30)
#define GROUPS_MAX 64
#define THREADS_MAX 64
#define LINE_BYTES 128 /* two: the CPU fetches the neighbour as well */
#define FILE_MODE 0600

struct group {
    _Alignas(LINE_BYTES) pthread_mutex_t lock;
};

struct store {
    MDB_env *env;
    MDB_dbi values;
    struct group groups[GROUPS_MAX];
    unsigned group_count;
    unsigned put_percent;
    unsigned keys;
    size_t value_bytes;
};

struct worker {
    _Alignas(LINE_BYTES) struct store *store;
    pthread_t thread;
    unsigned random;
    uint64_t operations;
    uint64_t sum; /* of bytes that were read: the values are looked at */
};

static atomic_bool is_over;

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "store_locks: %s: %s\n", what, mdb_strerror(rc));
    exit(EXIT_FAILURE);
}

static int64_t cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * US_PER_S +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void put(struct store *store, MDB_txn *txn, MDB_val *key)
{
    MDB_val value = {store->value_bytes, NULL};

    check(mdb_put(txn, store->values, key, &value, MDB_RESERVE), "put");
    memset(value.mv_data, 'v', value.mv_size);
}

static void open_store(struct store *store, const char *folder)
{
    MDB_txn *txn;
    MDB_stat stat;

    check(mdb_env_create(&store->env), "environment");
    check(mdb_env_set_mapsize(store->env, MAP_BYTES), "map size");
    check(mdb_env_open(store->env, folder, MDB_NOSYNC, FILE_MODE), folder);
    check(mdb_txn_begin(store->env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, 0, &store->values), "database");
    check(mdb_stat(txn, store->values, &stat), "stat");
    for (unsigned i = 0; stat.ms_entries == 0 && i < store->keys; i++) {
        MDB_val key = {sizeof(i), &i};

        put(store, txn, &key);
    }
    check(mdb_txn_commit(txn), "commit");
}

/* One operation. The read transaction is renewed and not begun anew, as a
 * server does it that knows LMDB. */
static void operate(struct worker *worker, MDB_txn *reader)
{
    struct store *store = worker->store;
    unsigned random = worker->random = worker->random * 1664525 +
                                       1013904223; /* Numerical Recipes' */
    unsigned number = (unsigned)((uint64_t)random * store->keys >> 32);
    bool is_put = (random >> 8) % 100 < store->put_percent;
    MDB_val key = {sizeof(number), &number};
    MDB_val value;
    pthread_mutex_t *lock =
        store->group_count > 0
            ? &store->groups[number % store->group_count].lock
            : NULL;

    if (lock)
        pthread_mutex_lock(lock);
    if (is_put) {
        MDB_txn *txn;

        check(mdb_txn_begin(store->env, NULL, 0, &txn), "begin");
        put(store, txn, &key);
        check(mdb_txn_commit(txn), "commit");
    } else {
        check(mdb_txn_renew(reader), "renew");
        check(mdb_get(reader, store->values, &key, &value), "get");
        for (size_t i = 0; i < value.mv_size; i += 64)
            worker->sum += ((unsigned char *)value.mv_data)[i];
        mdb_txn_reset(reader);
    }
    if (lock)
        pthread_mutex_unlock(lock);
    worker->operations++;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    MDB_txn *reader;

    check(mdb_txn_begin(worker->store->env, NULL, MDB_RDONLY, &reader),
          "begin");
    mdb_txn_reset(reader);
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        operate(worker, reader);
    mdb_txn_abort(reader);
    return NULL;
}

/* Returns all operations that the threads have done. */
static uint64_t run(struct store *store, unsigned threads, int64_t ms)
{
    static struct worker workers[THREADS_MAX];
    struct timespec time = timespec_of_ns(ms * NS_PER_MS);
    uint64_t operations = 0;

    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.store = store, .random = i + 1};
        check(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
              "thread");
    }
    nanosleep(&time, NULL);
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        operations += workers[i].operations;
    }
    return operations;
}

int main(int argc, char **argv)
{
    static struct store store;
    unsigned threads = argc == 8 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    int64_t begin_ns;
    int64_t cpu_begin_us;
    uint64_t operations;

    if (threads == 0 || threads > THREADS_MAX ||
        strtoul(argv[3], NULL, 10) > GROUPS_MAX) {
        fputs("usage: store_locks FOLDER THREADS GROUPS PUT_PERCENT KEYS BYTES "
              "MILLISECONDS\n",
              stderr);
        return EXIT_FAILURE;
    }
    store.group_count = (unsigned)strtoul(argv[3], NULL, 10);
    store.put_percent = (unsigned)strtoul(argv[4], NULL, 10);
    store.keys = (unsigned)strtoul(argv[5], NULL, 10);
    store.value_bytes = strtoul(argv[6], NULL, 10);
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        pthread_mutex_init(&store.groups[i].lock, NULL);
    open_store(&store, argv[1]);
    begin_ns = now_ns();
    cpu_begin_us = cpu_us();
    operations = run(&store, threads, strtoll(argv[7], NULL, 10));
    printf("{\"operations\": %llu, \"duration_us\": %lld, \"cpu_us\": %lld}\n",
           (unsigned long long)operations,
           (long long)((now_ns() - begin_ns) / NS_PER_US),
           (long long)(cpu_us() - cpu_begin_us));
    mdb_env_close(store.env);
    return EXIT_SUCCESS;
}
