/*
 * commits - what a durable put costs that shares its commit with no other.
 *
 *     commits FOLDER MILLISECONDS KEYS BYTES
 *
 * Puts values of BYTES under random keys of 8 digits below KEYS into an LMDB
 * environment in FOLDER, each in a transaction of its own, synced as LMDB does
 * by default; all keys are there before time begins to count. No server, no
 * client: a store that commits every put by itself cannot be faster on this
 * disk. What is printed is JSON as of load.lua.
 */
#include "link/program.h"

#include <inttypes.h>
#include <sys/resource.h>

#include <lmdb.h>

#define US_PER_S 1000000
#define MAP_BYTES ((size_t)1 << 30)
#define TIMES_MAX ((size_t)1 << 20) /* puts, at most */
#define MILLISECONDS_MAX 3600000
#define KEYS_MAX 100000000
#define VALUE_BYTES_MAX (1 << 20)
#define FILE_MODE 0600

static uint32_t times_us[TIMES_MAX];

static int64_t now_us(void)
{
    return now_ns() / NS_PER_US;
}

static int64_t cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * US_PER_S +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "commits: %s: %s\n", what, mdb_strerror(rc));
    exit(EXIT_FAILURE);
}

static MDB_env *open_environment(const char *folder)
{
    MDB_env *env;

    check(mdb_env_create(&env), "environment");
    check(mdb_env_set_mapsize(env, MAP_BYTES), "map size");
    check(mdb_env_open(env, folder, 0, FILE_MODE), folder);
    return env;
}

/* Puts count keys from first on, in one transaction. */
static void put(MDB_env *env, unsigned first, unsigned count, MDB_val value)
{
    MDB_txn *txn;
    MDB_dbi values;

    check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, 0, &values), "database");
    for (unsigned i = 0; i < count; i++) {
        char text[16];
        MDB_val key = {8, text};

        snprintf(text, sizeof(text), "%08u", first + i);
        check(mdb_put(txn, values, &key, &value, 0), "put");
    }
    check(mdb_txn_commit(txn), "commit");
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* 0, when it is none from 1 to max. */
static unsigned long number_of(const char *text, unsigned long max)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    return *end || number > max ? 0 : number;
}

static void run(MDB_env *env, int64_t duration_us, unsigned keys, MDB_val value)
{
    int64_t cpu_begin = cpu_us();
    int64_t begin = now_us();
    int64_t at = begin;
    unsigned random = 1;
    size_t count = 0;

    while (at - begin < duration_us && count < TIMES_MAX) {
        int64_t before = at;

        random = random * 1664525 + 1013904223; /* Numerical Recipes' */
        put(env, (unsigned)((uint64_t)random * keys >> 32), 1, value);
        at = now_us();
        times_us[count++] = (uint32_t)(at - before);
    }
    qsort(times_us, count, sizeof(*times_us), compare);
    printf("{\"requests\": %zu, \"duration_us\": %" PRId64
           ", \"cpu_us\": %" PRId64 ", \"p50_us\": %" PRIu32
           ", \"p99_us\": %" PRIu32 "}\n",
           count, at - begin, cpu_us() - cpu_begin, times_us[count / 2],
           times_us[count * 99 / 100]);
}

int main(int argc, char **argv)
{
    unsigned long ms = argc == 5 ? number_of(argv[2], MILLISECONDS_MAX) : 0;
    unsigned long keys = argc == 5 ? number_of(argv[3], KEYS_MAX) : 0;
    unsigned long bytes = argc == 5 ? number_of(argv[4], VALUE_BYTES_MAX) : 0;
    MDB_val value = {bytes, NULL};
    MDB_env *env;

    if (ms == 0 || keys == 0 || bytes == 0) {
        fputs("usage: commits FOLDER MILLISECONDS KEYS BYTES\n", stderr);
        return EXIT_FAILURE;
    }
    value.mv_data = malloc(bytes);
    if (!value.mv_data)
        return EXIT_FAILURE;
    memset(value.mv_data, 'v', bytes);
    env = open_environment(argv[1]);
    put(env, 0, (unsigned)keys, value);
    run(env, (int64_t)ms * 1000, (unsigned)keys, value);
    mdb_env_close(env);
    free(value.mv_data);
    return EXIT_SUCCESS;
}
