/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc -lbrotlidec -lz */
#include <brotli/decode.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

#include "unit/draw.h"
#include "unit/files/file_cache_fixture.h"

enum { ALL = 1 << CODING_GZIP | 1 << CODING_ZSTD | 1 << CODING_BR };

static struct compressor *compressor;
static struct counter told[STATS_COMPRESS_NUMBERS];
static struct compress_rules rules;
static char line[2000]; /* that gets shorter */

static int begin(void **state)
{
    if (set_up(state) != 0 || compressor_create(&compressor, 1, 1, told) != 0)
        return -1;
    rules = (struct compress_rules){.bytes_min = 50, .bytes_max = 100000};
    compress_rules_add_codings(&rules);
    compress_rules_add_types(&rules);
    space.compress = &rules;
    options.compressor = compressor;
    for (size_t i = 0; i < sizeof(line) - 1; i++)
        line[i] = "to be or not to be, "[i % 20];
    remake();
    return 0;
}

static int end(void **state)
{
    allocations_left = -1;
    compressor_destroy(compressor);
    return tear_down(state);
}

SUITE(.each_begin = begin, .each_end = end);

/* --- What there is ------------------------------------------------------- */

static void unpack_gzip(struct bytes body, char *out, size_t *len)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)body.data,
                       .avail_in = (uInt)body.len,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)*len};

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    *len = stream.total_out;
    inflateEnd(&stream);
}

/* The text of a variant. */
static struct bytes unpack(const struct file_entry *variant)
{
    static char out[200000];
    struct bytes body = file_entry_body(variant);
    size_t len = sizeof(out);

    switch (variant->coding) {
    case CODING_GZIP:
        unpack_gzip(body, out, &len);
        break;
    case CODING_ZSTD:
        len = ZSTD_decompress(out, len, body.data, body.len);
        assert_false(ZSTD_isError(len));
        break;
    case CODING_BR:
        assert_int_equal(BrotliDecoderDecompress(body.len,
                                                 (const uint8_t *)body.data,
                                                 &len, (uint8_t *)out),
                         BROTLI_DECODER_RESULT_SUCCESS);
        break;
    case CODING_IDENTITY:
    case CODING_COUNT:
        fail();
    }
    assert_int_equal(len, variant->plain_bytes);
    return (struct bytes){out, len};
}

/* What it is now; time goes by, but not so much that entries are checked. */
static struct file_entry *variant_of(struct file_entry *entry,
                                     enum coding coding)
{
    now.mono_ms += 5;
    return file_cache_variant(cache, entry, coding);
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The variant, when it has been made; the clock stands still meanwhile. */
static struct file_entry *await_variant(struct file_entry *entry,
                                        enum coding coding)
{
    uint64_t began_ms = now.mono_ms;

    for (int i = 0; i < 20000; i++) {
        struct file_entry *variant = variant_of(entry, coding);

        if (variant)
            return variant;
        now.mono_ms = began_ms;
        entry->variants ? wait_a_little() : fail();
        now.mono_ms = began_ms + (uint64_t)i % 2 * 10;
    }
    fail_msg("no variant");
    return NULL;
}

static bool has(const struct file_entry *entry, const char *text)
{
    struct bytes head = {entry->block, entry->head_len};

    return memmem(head.data, head.len, text, strlen(text));
}

/* --- Variants ------------------------------------------------------------ */

TEST(a_variant_is_a_representation_of_its_own)
{
    static const char *const tokens[CODING_COUNT] = {
        [CODING_GZIP] = "gzip", [CODING_ZSTD] = "zstd", [CODING_BR] = "br"};
    struct file_entry *entry;

    write_file("a.txt", line);
    entry = acquire("/a.txt");
    assert_int_equal(entry->codable, ALL);
    assert_true(has(entry, "Vary: Accept-Encoding\r\n"));
    for (int i = CODING_GZIP; i < CODING_COUNT; i++) {
        enum coding coding = (enum coding)i;
        struct file_entry *variant;

        assert_null(variant_of(entry, coding)); /* ordered */
        variant = await_variant(entry, coding);
        assert_true(bytes_eq(unpack(variant), bytes_of(line)));
        assert_true(has(variant, "Vary: Accept-Encoding\r\n"));
        assert_true(has(variant,
                        "Content-Type: text/plain; charset=utf-8\r\n"));
        assert_true(has(variant, tokens[i]));
        assert_false(bytes_eq(variant->etag, entry->etag));
        assert_int_equal(variant->etag.data[0], '"');
        assert_int_equal(variant->modified_s, entry->modified_s);
        assert_true(file_entry_is_intact(variant));
        file_entry_release(variant);
    }
    assert_int_equal(file_entry_variants(entry), ALL);
    assert_int_equal(file_cache_count(cache).entries, 4);
    file_entry_release(entry);
}

TEST(a_short_one_lies_behind_its_head_and_a_long_one_is_shared)
{
    char *noise = test_malloc(3001);
    struct file_entry *entry;
    struct file_entry *variant;

    write_file("short.txt", line);
    entry = acquire("/short.txt");
    assert_null(variant_of(entry, CODING_ZSTD));
    variant = await_variant(entry, CODING_ZSTD);
    assert_true(variant->is_snapshot);
    assert_null(variant->coded);
    file_entry_release(variant);
    file_entry_release(entry);
    for (int i = 0; i < 3000; i++)
        noise[i] = (char)('a' + draw(16));
    noise[3000] = '\0';
    write_file("long.txt", noise);
    entry = acquire("/long.txt");
    assert_null(variant_of(entry, CODING_ZSTD));
    variant = await_variant(entry, CODING_ZSTD);
    assert_true(variant->stamp.bytes > SNAPSHOT_BYTES && variant->coded);
    assert_true(bytes_eq(unpack(variant), bytes_of(noise)));
    file_entry_release(variant);
    file_entry_release(entry);
    test_free(noise);
}

static unsigned codable(const char *name)
{
    struct file_entry *entry = acquire(name);
    unsigned bits = entry->codable;

    file_entry_release(entry);
    return bits;
}

static void edit(struct head_edits *edits, const char *field)
{
    *edits = (struct head_edits){0};
    assert_null(head_edits_add(edits, HEAD_SET, bytes_of(field)));
    space.edits = edits;
    remake();
}

TEST(only_what_may_and_should_be_is_compressed)
{
    struct head_edits edits;

    write_file("a.txt", line);
    write_file("a.png", line);
    write_zeros("least.txt", 50);
    write_zeros("less.txt", 49);
    write_zeros("most.txt", 100000);
    write_zeros("more.txt", 100001);
    assert_int_equal(codable("/a.txt"), ALL);
    assert_int_equal(codable("/a.png"), 0);
    assert_int_equal(codable("/least.txt"), ALL);
    assert_int_equal(codable("/less.txt"), 0);
    assert_int_equal(codable("/most.txt"), ALL);
    assert_int_equal(codable("/more.txt"), 0);
    edit(&edits, "X-Other: value");
    assert_int_equal(codable("/a.txt"), ALL);
    edit(&edits, "Cache-Control: public, no-transform");
    assert_int_equal(codable("/a.txt"), 0);
    edit(&edits, "Content-Encoding: zz");
    assert_int_equal(codable("/a.txt"), 0);
    space.edits = NULL;
    space.cache_control = BYTES("no-transform");
    remake();
    assert_int_equal(codable("/a.txt"), 0);
    space.cache_control = BYTES("");
    space.compress = NULL;
    remake();
    assert_int_equal(codable("/a.txt"), 0);
    space.compress = &rules;
    options.bytes_max = 0;
    remake();
    assert_int_equal(codable("/a.txt"), 0);
}

TEST(what_may_still_change_unseen_has_no_variants)
{
    struct file_entry *entry;
    struct timespec time;

    write_file("a.txt", line);
    clock_gettime(CLOCK_REALTIME, &time);
    now.wall_ns = time.tv_sec * NS_PER_S + time.tv_nsec;
    entry = acquire("/a.txt");
    assert_int_equal(entry->codable, ALL);
    for (int i = 0; i < 10; i++)
        assert_null(variant_of(entry, CODING_GZIP));
    assert_null(entry->variants);
    file_entry_release(entry);
    pass_check();
    now.wall_ns += NS_PER_S;
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_GZIP));
    file_entry_release(await_variant(entry, CODING_GZIP));
    file_entry_release(entry);
}

/* --- Coming and going ---------------------------------------------------- */

TEST(a_variant_goes_when_its_file_changes)
{
    struct file_entry *entry, *variant, *later;

    write_file("a.txt", line);
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_GZIP));
    variant = await_variant(entry, CODING_GZIP);
    file_entry_release(entry);
    line[3] = '#';
    write_file("a.txt", line);
    pass_check();
    entry = acquire("/a.txt");
    assert_int_equal(file_entry_variants(entry), 0);
    assert_null(variant_of(entry, CODING_GZIP));
    later = await_variant(entry, CODING_GZIP);
    assert_true(bytes_eq(unpack(later), bytes_of(line)));
    assert_false(bytes_eq(later->etag, variant->etag));
    file_entry_release(later);
    line[3] = "to be"[3];
    assert_true(bytes_eq(unpack(variant), bytes_of(line)));
    file_entry_release(variant);
    file_entry_release(entry);
}

TEST(variants_count_and_give_way_like_all_entries)
{
    struct file_entry *entry;
    uint64_t before;

    options.bytes_max = 20000;
    options.snapshot_bytes = 20000;
    remake();
    write_file("a.txt", line);
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_GZIP));
    before = file_cache_count(cache).bytes;
    file_entry_release(await_variant(entry, CODING_GZIP));
    assert_true(file_cache_count(cache).bytes > before);
    for (int i = 0; i < 100; i++) {
        char name[16];

        snprintf(name, sizeof(name), "/%d", i);
        assert_int_equal(kind_of(name), FILE_MISSING);
    }
    assert_true(file_cache_count(cache).bytes <= options.bytes_max);
    assert_int_equal(file_entry_variants(entry), 0); /* it has been forgotten */
    assert_null(variant_of(entry, CODING_GZIP));     /* and is made again */
    if (entry->is_cached)
        file_entry_release(await_variant(entry, CODING_GZIP));
    file_entry_release(entry);
}

TEST(what_is_forgotten_takes_its_variants_along)
{
    struct file_entry *entry;

    write_file("a.txt", line);
    entry = acquire("/a.txt");
    for (int i = CODING_GZIP; i < CODING_COUNT; i++) {
        assert_null(variant_of(entry, (enum coding)i));
        file_entry_release(await_variant(entry, (enum coding)i));
    }
    file_cache_forget(cache, entry);
    assert_int_equal(file_cache_count(cache).entries, 0);
    assert_null(variant_of(entry, CODING_GZIP)); /* nor are there new ones */
    file_entry_release(entry);
}

TEST(what_does_not_shrink_is_not_asked_for_again)
{
    struct file_entry *entry;
    char noise[401];

    for (int i = 0; i < 400; i++)
        noise[i] = (char)(draw(255) + 1);
    noise[400] = '\0';
    write_file("a.txt", noise);
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_BR));
    for (int i = 0; i < 20000 && entry->codable == ALL; i++) {
        wait_a_little();
        assert_null(variant_of(entry, CODING_BR));
    }
    assert_int_equal(entry->codable, ALL & ~(1 << CODING_BR));
    file_entry_release(entry);
}

/* A file of that many letters, as often as they are in texts. */
static void write_letters(const char *name, char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text[i] = "eeeetaoin shrdlu\n"[draw(17)];
    text[len] = '\0';
    write_file(name, text);
}

TEST(what_is_used_much_is_made_smaller_once_more)
{
    struct file_entry *entry, *variant = NULL;
    uint64_t quick_bytes;
    char quick_etag[FILE_CACHE_ETAG_MAX];
    char text[20001];

    write_letters("a.txt", text, 20000);
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_BR));
    variant = await_variant(entry, CODING_BR);
    quick_bytes = variant->stamp.bytes;
    memcpy(quick_etag, variant->etag.data, variant->etag.len);
    for (int i = 0; i < 100000 && variant->stamp.bytes == quick_bytes; i++) {
        file_entry_release(variant);
        variant = file_cache_variant(cache, entry, CODING_BR);
        if (i > 3000)
            wait_a_little();
    }
    assert_true(variant->stamp.bytes < quick_bytes);
    assert_memory_not_equal(quick_etag, variant->etag.data, variant->etag.len);
    assert_true(bytes_eq(unpack(variant), bytes_of(text)));
    file_entry_release(variant);
    file_entry_release(entry);
}

static uint64_t count_made(void)
{
    return counter_read(
        &told[offsetof(struct stats_compress, made) / sizeof(uint64_t)]);
}

/* So often a variant of the text is used before it is made once more, when that
 * is looked at each eight uses. Nobody has to ask again for that. */
static void expect_uses(enum coding coding)
{
    enum { TIMES_THE_TEXT = 700 };
    char name[] = "/0.txt", text[40001];
    struct file_entry *entry, *variant;
    uint32_t enough;
    uint64_t made;

    name[1] = (char)('0' + coding);
    write_letters(name + 1, text, sizeof(text) - 1);
    entry = acquire(name);
    variant = await_variant(entry, coding);
    made = count_made();
    enough = (uint32_t)(TIMES_THE_TEXT * strlen(text) / variant->stamp.bytes +
                        8) /
             8 * 8;
    while (variant->uses < enough - 1)
        file_entry_release(file_cache_variant(cache, entry, coding));
    wait_a_little();
    assert_int_equal(count_made(), made);
    file_entry_release(file_cache_variant(cache, entry, coding));
    for (int i = 0; i < 20000 && count_made() == made; i++)
        wait_a_little();
    assert_int_equal(count_made(), made + 1);
    file_entry_release(variant);
    file_entry_release(entry);
}

TEST(what_has_been_sent_often_enough_is_made_once_more)
{
    expect_uses(CODING_BR);
    expect_uses(CODING_ZSTD);
    expect_uses(CODING_GZIP);
}

TEST(what_more_effort_makes_no_smaller_is_not_made_again)
{
    static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};

    write_file("a.txt", line);
    for (uint64_t i = 0; i < 2; i++) {
        struct file_entry *entry = acquire("/a.txt");
        struct file_entry *variant = await_variant(entry, codings[i]);

        for (int k = 0; k < 100000; k++)
            file_entry_release(file_cache_variant(cache, entry, codings[i]));
        wait_a_little();
        assert_int_equal(count_made(), i + 1);
        assert_true(variant->is_final);
        file_entry_release(variant);
        file_entry_release(entry);
    }
}

TEST(what_is_saved_is_counted)
{
    struct file_entry *entry, *variant;

    write_file("a.txt", line);
    entry = acquire("/a.txt");
    assert_null(variant_of(entry, CODING_ZSTD));
    variant = await_variant(entry, CODING_ZSTD);
    file_cache_note_saved(cache, variant);
    file_cache_note_saved(cache, variant);
    assert_int_equal(file_cache_count(cache).coded, 2);
    assert_int_equal(file_cache_count(cache).saved_bytes,
                     2 * (strlen(line) - variant->stamp.bytes));
    file_entry_release(variant);
    file_entry_release(entry);
}

TEST(without_memory_the_file_is_what_there_is)
{
    write_file("a.txt", line);
    for (long left = 0; left < 20; left++) {
        struct file_entry *entry, *variant;

        remake();
        entry = acquire("/a.txt");
        allocations_left = left;
        variant = variant_of(entry, CODING_GZIP);
        for (int i = 0; i < 50 && !variant; i++) {
            wait_a_little();
            variant = variant_of(entry, CODING_GZIP);
        }
        allocations_left = -1;
        if (variant)
            assert_true(bytes_eq(unpack(variant), bytes_of(line)));
        file_entry_release(variant);
        file_entry_release(entry);
    }
}

/* --- By lot -------------------------------------------------------------- */

enum { NAMES = 5, TEXT_MAX = 3000 };

static char texts[NAMES][TEXT_MAX + 1]; /* what each file has now */

static void rewrite(unsigned number, const char *name)
{
    size_t len = draw(TEXT_MAX);

    for (size_t i = 0; i < len; i++)
        texts[number][i] = (char)('a' + draw(number == 0 ? 200 : 8));
    texts[number][len] = '\0';
    if (draw(2))
        unlink(place_path(&place, name));
    write_file(name, texts[number]);
    now.wall_ns = now.wall_s * NS_PER_S; /* long ago, as all that is written */
}

/* The naive model: what a file has is what was written last, since entries are
 * checked after each change. It goes on until there were variants enough: the
 * compressor has to wait for all others of the machine. */
TEST(whatever_happens_a_variant_unpacks_to_its_file)
{
    unsigned variants = 0;

    options.bytes_max = 12000;
    remake();
    for (unsigned i = 0; i < NAMES; i++) {
        char name[8];

        snprintf(name, sizeof(name), "%u.txt", i);
        rewrite(i, name);
    }
    for (int step = 0; step < 6000 || (variants <= 500 && step < 600000);
         step++) {
        enum coding coding = (enum coding)(CODING_GZIP + draw(3));
        unsigned number = draw(NAMES);
        struct file_entry *entry, *variant;
        char path[8];

        snprintf(path, sizeof(path), "/%u.txt", number);
        if (draw(40) == 0) {
            rewrite(number, path + 1);
            pass_check();
        }
        entry = acquire(path);
        if (entry->codable & 1u << coding) {
            variant = variant_of(entry, coding);
            if (variant) {
                assert_true(bytes_eq(unpack(variant), bytes_of(texts[number])));
                variants++;
            } else if (draw(4) == 0) {
                wait_a_little();
            }
            file_entry_release(variant);
        }
        /* Open files have a limit of their own. */
        assert_true(file_cache_count(cache).bytes <= 2 * options.bytes_max);
        file_entry_release(entry);
    }
    assert_true(variants > 500);
}
