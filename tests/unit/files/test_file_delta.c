/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc,--wrap=ZSTD_createCCtx,--wrap=ZSTD_compressStream2,--wrap=EVP_Digest */
/*
 * Deltas of cached files, while this or that fails: each allocation of ours,
 * and each step of the libraries that allocate by themselves.
 */
#include <dirent.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <time.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/sha256.h"
#include "unit/files/file_cache_fixture.h"
#include "wrap.h"

enum { LENGTH = 300000, HEAD = 8 + DICTIONARY_HASH_BYTES };

static struct compressor *compressor;
static struct dictionary_store *store;
static struct dictionary_rules rules;
static struct counter told[STATS_COMPRESS_NUMBERS];
static char before[LENGTH + 1], after[LENGTH + 1];
static uint8_t hash[SHA256_BYTES];      /* of before */
static _Atomic long library_calls = -1; /* that succeed; negative: all */

/* --- Libraries that have no memory --------------------------------------- */

static bool has_library(void)
{
    return library_calls < 0 || library_calls-- > 0;
}

WRAP(ZSTD_CCtx *, ZSTD_createCCtx, void)
{
    return has_library() ? __real_ZSTD_createCCtx() : NULL;
}

WRAP(size_t, ZSTD_compressStream2, ZSTD_CCtx *context, ZSTD_outBuffer *out,
     ZSTD_inBuffer *in, ZSTD_EndDirective end)
{
    return has_library() ? __real_ZSTD_compressStream2(context, out, in, end)
                         : (size_t)-ZSTD_error_memory_allocation;
}

WRAP(int, EVP_Digest, const void *data, size_t count, unsigned char *md,
     unsigned int *size, const EVP_MD *type, ENGINE *impl)
{
    return has_library() ? __real_EVP_Digest(data, count, md, size, type, impl)
                         : 0;
}

/* --- A file with an earlier version -------------------------------------- */

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    now.mono_ms += 10; /* it may be asked again */
}

static uint64_t read_told(size_t offset)
{
    return counter_read(&told[offset / sizeof(uint64_t)]);
}

#define TOLD(member) read_told(offsetof(struct stats_compress, member))

/* A cache and a compressor that know of nothing. */
static void renew(void)
{
    compressor_destroy(compressor);
    memset(told, 0, sizeof(told));
    assert_int_equal(compressor_create(&compressor, 1, 1, told), 0);
    options.compressor = compressor;
    remake();
}

/* The store's thread has read it. */
static bool is_kept(void)
{
    DIR *folder = opendir(place_path(&place, ".kept"));
    struct dictionary kept;
    struct dirent *each;
    bool found = false;

    assert_non_null(folder);
    while ((each = readdir(folder)))
        found |= dictionary_read_name(&kept, each->d_name);
    closedir(folder);
    return found;
}

static void keep_earlier(void)
{
    struct file_entry *entry;

    write_file("app.js", before);
    entry = acquire("/app.js");
    assert_non_null(entry->dictionary_made);
    file_cache_note_dictionary(cache, entry);
    assert_true(entry->is_noted);
    file_entry_release(entry);
    for (int i = 0; i < 20000 && !is_kept(); i++)
        wait_a_little();
}

static int begin(void **state)
{
    char folder[200];

    if (set_up(state) != 0)
        return -1;
    for (size_t i = 0; i < LENGTH; i++)
        before[i] = "let us see what this is = "[(i * i / 871 + i) % 26];
    memcpy(after, before, LENGTH);
    memset(after + LENGTH / 2, '?', 40);
    if (!sha256((struct bytes){before, LENGTH}, hash))
        return -1;
    snprintf(folder, sizeof(folder), "%s", place_path(&place, ".kept"));
    rules.count = 0;
    if (mkdir(folder, 0700) != 0 ||
        dictionary_store_open(&store, folder, 3) != 0 ||
        dictionary_store_start(store) != 0 ||
        dictionary_rules_add(&rules, BYTES("/app.js")))
        return -1;
    space.dictionaries = &rules;
    options.dictionaries = store;
    renew();
    keep_earlier();
    write_file("app.js", after);
    renew();
    return 0;
}

static int end(void **state)
{
    allocations_left = library_calls = -1;
    fails_once = false;
    compressor_destroy(compressor);
    compressor = NULL;
    dictionary_store_close(store);
    store = NULL;
    return tear_down(state);
}

SUITE(.each_begin = begin, .each_end = end);

/* It unpacks to the file, with the earlier version. */
static void expect_delta(const struct file_entry *delta)
{
    static char out[LENGTH];
    struct bytes body = file_entry_body(delta);
    ZSTD_DCtx *context = ZSTD_createDCtx();

    assert_true(body.len > HEAD && body.len < 1000);
    assert_memory_equal(body.data + HEAD - sizeof(hash), hash, sizeof(hash));
    assert_false(ZSTD_isError(ZSTD_DCtx_refPrefix(context, before, LENGTH)));
    assert_int_equal(ZSTD_decompressDCtx(context, out, LENGTH, body.data + HEAD,
                                         body.len - HEAD),
                     LENGTH);
    ZSTD_freeDCtx(context);
    assert_memory_equal(out, after, LENGTH);
}

static bool has_failed(void)
{
    return allocation_failures > 0 || TOLD(failed) + TOLD(refused) > 0;
}

/* Asked for until it is there or something has failed. */
static struct file_entry *ask(struct file_entry *entry)
{
    struct file_entry *delta = NULL;

    for (int i = 0; i < 20000 && !delta && !has_failed(); i++) {
        delta = file_cache_delta(cache, entry, hash);
        wait_a_little();
    }
    return delta;
}

/* With memory again it comes, though what has failed is let rest for a
 * while. */
static struct file_entry *await(struct file_entry *entry)
{
    struct file_entry *delta = NULL;

    for (int i = 0; i < 20000 && !delta; i++) {
        delta = file_cache_delta(cache, entry, hash);
        wait_a_little();
        if (i % 20 == 0)
            now.mono_ms += COMPRESSOR_RETRY_MS;
    }
    if (!delta)
        fail_msg("it never comes");
    return delta;
}

/* Whether anything has failed. */
static bool try_with(long allocations_that_succeed, long calls_that_succeed)
{
    struct file_entry *entry, *delta;
    bool failed;

    renew();
    entry = acquire("/app.js");
    allocation_failures = 0;
    library_calls = calls_that_succeed;
    allocations_left = allocations_that_succeed;
    delta = ask(entry);
    allocations_left = library_calls = -1;
    failed = has_failed();
    if (!delta)
        delta = await(entry);
    expect_delta(delta);
    file_entry_release(delta);
    file_entry_release(entry);
    assert_int_equal(TOLD(memory_bytes), 0);
    return failed;
}

/* --- What is to be seen -------------------------------------------------- */

TEST(who_has_an_earlier_version_gets_the_difference)
{
    struct file_entry *entry = acquire("/app.js");
    struct file_entry *delta = await(entry);
    struct file_entry *again;

    expect_delta(delta);
    again = file_cache_delta(cache, entry, hash);
    assert_ptr_equal(again, delta);
    file_entry_release(again);
    file_entry_release(delta);
    hash[0] ^= 1;
    for (int i = 0; i < 20; i++) {
        assert_null(file_cache_delta(cache, entry, hash));
        wait_a_little();
    }
    file_entry_release(entry);
}

TEST(any_allocation_may_fail_and_afterwards_the_delta_is_made)
{
    for (int once = 0; once <= 1; once++) {
        long left = 0;

        fails_once = once == 1;
        while (try_with(left, -1))
            assert_true(++left < 100);
        assert_true(left > 5); /* entry, job, both texts, result, variant */
    }
}

TEST(libraries_may_fail_at_any_step)
{
    long left = 0;

    while (try_with(-1, left))
        assert_true(++left < 100);
    assert_true(left >= 4); /* hash, context, three steps */
}
