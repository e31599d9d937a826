/*
 * What a cache of files would have hit, told by miniature and as it is: an
 * access log, in common or combined format, is replayed through both.
 *
 *   hit_ratios LOG [MIB]
 *
 * The cache has so many MiB, by default a tenth of all that is asked for. Each
 * target that was answered by 200 or 304 is a file of the most bytes that it
 * was answered with by 200, and of what an entry has besides.
 */
#include "base/miniature.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MAX_BYTES = 65536,
    ENTRY_BYTES = 600,
    KEYS_MAX = 1 << 20,
    ASKED_MAX = 1 << 23,
    POINTS = 2 /* what is told is to be as close as that */
};

struct key {
    uint64_t hash; /* 0: there is none */
    uint64_t bytes;
    struct evict_node node;
    bool is_inside;
};

static struct key keys[KEYS_MAX];
static size_t key_count;
static struct key *asked[ASKED_MAX];
static size_t asked_count;
static uint64_t bytes_in_all; /* of all keys */

/* --- The log -------------------------------------------------------------- */

static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    hash ^= hash >> 32; /* its low bits are those of the last byte */
    hash *= 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    return hash != 0 ? hash : 1;
}

static struct key *find_key(uint64_t hash)
{
    size_t at = hash % KEYS_MAX;

    while (keys[at].hash != 0 && keys[at].hash != hash)
        at = (at + 1) % KEYS_MAX;
    if (keys[at].hash == 0) {
        if (++key_count > KEYS_MAX / 2) {
            fprintf(stderr, "more than %d targets\n", KEYS_MAX / 2);
            exit(1);
        }
        keys[at] = (struct key){.hash = hash, .bytes = ENTRY_BYTES};
    }
    return &keys[at];
}

/* ... "GET /target HTTP/1.1" 200 1234 ... */
static void take_line(const char *line)
{
    const char *request = strstr(line, "\"GET ");
    const char *target = request ? request + 5 : NULL;
    const char *end = target ? strchr(target, '"') : NULL;
    unsigned status;
    unsigned long bytes = 0;
    struct key *key;

    if (!end || sscanf(end + 1, "%u %lu", &status, &bytes) < 1 ||
        (status != 200 && status != 304) || asked_count == ASKED_MAX)
        return;
    key = find_key(hash_of(target, strcspn(target, " \"")));
    if (status == 200 && key->bytes < bytes + ENTRY_BYTES)
        key->bytes = bytes + ENTRY_BYTES;
    asked[asked_count++] = key;
}

static void read_log(const char *path)
{
    static char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "re");

    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    while (fgets(line, sizeof(line), file))
        take_line(line);
    fclose(file);
    for (size_t i = 0; i < KEYS_MAX; i++)
        bytes_in_all += keys[i].bytes;
}

/* --- What is told, and what is so ---------------------------------------- */

struct misses {
    uint64_t count;
    uint64_t bytes;
};

static void tell(uint64_t bytes_max, struct miniature_told *told_out)
{
    struct miniature_asked counts = {0};
    struct miniature *miniature = miniature_create(&(struct miniature_options){
        .bytes_max = bytes_max,
        .entries_max = SIZE_MAX / 64,
        .memory_max = MINIATURE_MEMORY,
        .asked = &counts});

    if (!miniature)
        exit(1);
    for (size_t i = 0; i < asked_count; i++) {
        counts.requests++;
        counts.bytes += asked[i]->bytes;
        if (miniature_samples(miniature, asked[i]->hash, asked[i]->bytes))
            miniature_ask(miniature, asked[i]->hash, asked[i]->bytes);
    }
    miniature_tell(miniature, told_out);
    miniature_destroy(miniature);
}

static struct misses run_cache(enum evict_policy policy, uint64_t bytes_max)
{
    struct evict *evict = evict_create(policy, bytes_max, KEYS_MAX);
    struct misses misses = {0};
    struct evict_node *victim;

    if (!evict)
        exit(1);
    for (size_t i = 0; i < asked_count; i++) {
        struct key *key = asked[i];

        if (key->is_inside) {
            evict_hit(evict, &key->node);
            continue;
        }
        misses.count++;
        misses.bytes += key->bytes;
        key->node.bytes = key->bytes;
        if (!evict_insert(evict, &key->node))
            exit(1);
        key->is_inside = true;
        while ((victim = evict_take_victim(evict)))
            OWNER_OF(victim, struct key, node)->is_inside = false;
    }
    while ((victim = evict_take_next(evict)))
        OWNER_OF(victim, struct key, node)->is_inside = false;
    evict_destroy(evict);
    return misses;
}

static double percent(uint64_t misses, uint64_t of)
{
    return of > 0 ? 100 - 100 * (double)misses / (double)of : 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"lru", "gdsf", "sieve"};
    struct miniature_told told;
    uint64_t bytes_max;
    double most = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: hit_ratios LOG [MIB]\n");
        return 2;
    }
    read_log(argv[1]);
    bytes_max = argc > 2 ? strtoull(argv[2], NULL, 10) << 20
                         : bytes_in_all / 10;
    if (asked_count == 0 || bytes_max == 0) {
        fprintf(stderr, "%s: nothing to replay\n", argv[1]);
        return 1;
    }
    printf("%zu requests for %zu files of %.1f MiB, a cache of %.1f MiB\n\n"
           "| policy | size | hits: told | true | bytes: told | true |\n"
           "|---|---:|---:|---:|---:|---:|\n",
           asked_count, key_count, (double)bytes_in_all / 0x1p20,
           (double)bytes_max / 0x1p20);
    tell(bytes_max, &told);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        unsigned quarters = miniature_quarters[i % MINIATURE_SIZES];
        struct misses misses = run_cache((enum evict_policy)(i /
                                                             MINIATURE_SIZES),
                                         bytes_max * quarters / 4);
        double is[] = {percent(told.misses[i], told.requests),
                       percent(misses.count, told.requests),
                       percent(told.missed_bytes[i], told.bytes),
                       percent(misses.bytes, told.bytes)};

        printf("| %s | %.2g | %.1f | %.1f | %.1f | %.1f |\n",
               names[i / MINIATURE_SIZES], quarters / 4.0, is[0], is[1], is[2],
               is[3]);
        most = fmax(most, fmax(fabs(is[0] - is[1]), fabs(is[2] - is[3])));
    }
    printf("\nfurthest off: %.2f points\n", most);
    return most > POINTS;
}
