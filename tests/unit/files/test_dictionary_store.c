/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=fsync */
#include "files/dictionary_store.h"

#include <dirent.h>
#include <errno.h>
#include <time.h>

#include "io/sha256.h"
#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "wrap.h"

static struct place place;
static struct dictionary_store *store;
static unsigned fds_before;
static atomic_bool is_full;

WRAP(int, fsync, int fd)
{
    if (!atomic_load(&is_full))
        return __real_fsync(fd);
    errno = ENOSPC;
    return -1;
}

static void open_store(void)
{
    assert_int_equal(dictionary_store_open(&store, place.name, 3), 0);
    assert_int_equal(dictionary_store_start(store), 0);
}

static int begin(void **state)
{
    (void)state;
    fds_before = place_count_fds();
    atomic_store(&is_full, false);
    return place_open(&place);
}

static int end(void **state)
{
    (void)state;
    allocations_left = -1;
    dictionary_store_close(store);
    store = NULL;
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

SUITE(.each_begin = begin, .each_end = end);

static struct dictionary_note note_of(const char *text, uint64_t number)
{
    return (struct dictionary_note){.rule = 1,
                                    .stamp = {.inode = number,
                                              .bytes = strlen(text),
                                              .modified_ns = (int64_t)number},
                                    .text = bytes_of(text)};
}

static struct dictionary *find(uint64_t rule, const char *text)
{
    uint8_t hash[DICTIONARY_HASH_BYTES];

    assert_true(sha256(bytes_of(text), hash));
    return dictionary_store_find(store, rule, hash);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static struct dictionary *await(uint64_t rule, const char *text)
{
    struct dictionary *found = NULL;

    for (int i = 0; i < 10000 && !(found = find(rule, text)); i++)
        pause_ms(1);
    assert_non_null(found);
    return found;
}

static unsigned count_files(void)
{
    DIR *directory = opendir(place.name);
    struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(directory)))
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
}

/* --- Keeping ------------------------------------------------------------- */

TEST(what_is_noted_is_found_and_outlives_the_store)
{
    struct dictionary_note note = note_of("version 1", 1);
    struct dictionary *found;

    open_store();
    assert_true(dictionary_store_note(store, &note));
    assert_true(dictionary_store_note(store, &note));
    found = await(1, "version 1");
    assert_int_equal(found->bytes, 9);
    assert_int_equal(found->modified_ns, 1);
    dictionary_release(found);
    assert_null(find(2, "version 1"));
    assert_null(find(1, "version 2"));
    assert_int_equal(count_files(), 1);
    dictionary_store_close(store);
    open_store();
    found = await(1, "version 1");
    dictionary_release(found);
}

TEST(it_is_read_from_a_descriptor_as_long_as_it_is_that_version)
{
    struct dictionary_note note = {.rule = 1};
    struct stat st;

    assert_int_equal(place_write(&place, "a", "from a file"), 0);
    note.fd = open(place_path(&place, "a"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(note.fd, &st), 0);
    note.stamp = file_stamp_of(&st);
    open_store();
    note.stamp.modified_ns--;
    assert_true(dictionary_store_note(store, &note));
    note.stamp.modified_ns++;
    assert_true(dictionary_store_note(store, &note));
    close(note.fd);
    dictionary_release(await(1, "from a file"));
    assert_int_equal(count_files(), 2);
}

TEST(what_is_read_of_it_is_what_its_hash_says_or_nothing)
{
    struct dictionary_note note = note_of("version 1", 1);
    struct codec_meter meter = {0};
    struct dictionary *found;
    atomic_bool stops;
    char *text;
    int fd;

    atomic_init(&stops, false);
    open_store();
    assert_true(dictionary_store_note(store, &note));
    found = await(1, "version 1");
    fd = dictionary_open(found);
    assert_true(fd >= 0);
    text = dictionary_read(found, fd, &stops, &meter);
    assert_memory_equal(text, "version 1", 9);
    codec_meter_free(&meter, text);
    assert_int_equal(place_write(&place, found->name, "version 2"), 0);
    assert_null(dictionary_read(found, fd, &stops, &meter));
    assert_true(dictionary_is_damaged(found));
    close(fd);
    dictionary_release(found);
    assert_null(find(1, "version 1"));
    for (int i = 0; i < 10000 && count_files() > 0; i++)
        pause_ms(1);
    assert_int_equal(count_files(), 0);
    assert_int_equal(codec_meter_read(&meter), 0);
}

TEST(what_the_folder_has_is_looked_at)
{
    struct dictionary one = {.rule = 1, .modified_ns = 5};
    struct dictionary two = {.rule = 1, .modified_ns = 6};

    assert_true(sha256(BYTES("one"), one.hash));
    assert_true(sha256(BYTES("two"), two.hash));
    dictionary_write_name(&one);
    dictionary_write_name(&two);
    assert_int_equal(place_write(&place, one.name, "one"), 0);
    assert_int_equal(place_write(&place, two.name, "no."), 0);
    assert_int_equal(place_write(&place, "stranger", "stays"), 0);
    open_store();
    dictionary_release(await(1, "one"));
    for (int i = 0; i < 10000 && count_files() > 2; i++)
        pause_ms(1);
    assert_int_equal(count_files(), 2);
    assert_null(find(1, "two"));
}

/* --- What fails ---------------------------------------------------------- */

TEST(a_full_disk_is_harmless_and_tried_again)
{
    struct dictionary_note note = note_of("version 1", 1);

    open_store();
    atomic_store(&is_full, true);
    assert_true(dictionary_store_note(store, &note));
    pause_ms(50);
    assert_null(find(1, "version 1"));
    assert_int_equal(count_files(), 0);
    atomic_store(&is_full, false);
    for (int i = 0; i < 1000 && count_files() == 0; i++) {
        assert_true(dictionary_store_note(store, &note));
        pause_ms(5);
    }
    dictionary_release(await(1, "version 1"));
}

TEST(so_many_wait_and_no_more)
{
    unsigned taken = 0;

    assert_int_equal(dictionary_store_open(&store, place.name, 3), 0);
    for (uint64_t i = 1; i <= DICTIONARY_NOTES_MAX + 5; i++) {
        struct dictionary_note note = note_of("text", i);

        taken += dictionary_store_note(store, &note);
    }
    assert_int_equal(taken, DICTIONARY_NOTES_MAX);
}

TEST(without_memory_nothing_is_kept_and_nothing_lost)
{
    for (long left = 0; left < 8; left++) {
        struct dictionary_note note = note_of("version 1", 1);

        store = NULL;
        allocations_left = left;
        if (dictionary_store_open(&store, place.name, 3) == 0) {
            if (dictionary_store_start(store) == 0)
                (void)dictionary_store_note(store, &note);
            pause_ms(5);
        }
        allocations_left = -1;
        dictionary_store_close(store);
        store = NULL;
    }
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    assert_int_equal(dictionary_store_open(&store,
                                           place_path(&place, "missing"), 3),
                     -ENOENT);
    assert_null(store);
}
