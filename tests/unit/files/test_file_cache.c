/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc,--wrap=pages_open */
#include "unit/files/file_cache_fixture.h"

/* What an acquire of path costs. */
static unsigned cost_of(const char *path)
{
    lookups = stats = 0;
    file_entry_release(acquire(path));
    return lookups + stats;
}

/* --- Hits ---------------------------------------------------------------- */

TEST(a_hit_costs_no_system_call)
{
    write_file("file", "text");
    write_zeros("large", 1000);
    mkdirat(place.fd, "folder", 0755);
    assert_true(cost_of("/file") > 0);
    assert_true(cost_of("/large") > 0);
    assert_true(cost_of("/folder") > 0);
    assert_true(cost_of("/none") > 0);
    now.mono_ms += FILE_CACHE_CHECK_MS - 1;
    assert_int_equal(cost_of("/file"), 0);
    assert_int_equal(cost_of("/large"), 0);
    assert_int_equal(cost_of("/folder"), 0);
    assert_int_equal(cost_of("/none"), 0);
}

TEST(a_check_costs_one_stat)
{
    write_file("file", "text");
    cost_of("/file");
    for (int i = 0; i < 3; i++) {
        pass_check();
        assert_int_equal(cost_of("/file"), 1);
        assert_int_equal(lookups, 0);
        assert_int_equal(cost_of("/file"), 0);
    }
}

TEST(paths_and_codings_have_entries_of_their_own)
{
    struct file_entry *entries[4];

    write_file("a", "a");
    write_file("b", "b");
    write_file("a.gz", "g");
    write_file("a.br", "r");
    entries[0] = acquire("/a");
    entries[1] = acquire("/b");
    entries[2] = acquire_coded("/a", CODING_GZIP);
    entries[3] = acquire_coded("/a", CODING_BR);
    assert_body(entries[0], "a");
    assert_body(entries[1], "b");
    assert_body(entries[2], "g");
    assert_body(entries[3], "r");
    assert_ptr_equal(acquire("/a"), entries[0]);
    assert_ptr_equal(acquire_coded("/a", CODING_GZIP), entries[2]);
    file_entry_release(entries[0]);
    file_entry_release(entries[2]);
    for (int i = 0; i < 4; i++)
        file_entry_release(entries[i]);
}

/* --- Counting ------------------------------------------------------------ */

TEST(hits_misses_and_evictions_are_counted)
{
    struct file_cache_counts counts;

    options.entries_max = 3;
    remake();
    write_file("a", "1");
    write_zeros("large", SNAPSHOT_BYTES + 1); /* among those kept open */
    for (int i = 0; i < 5; i++)
        assert_serves("/a", "1");
    assert_int_equal(kind_of("/large"), FILE_REGULAR);
    assert_int_equal(kind_of("/none"), FILE_MISSING);
    counts = file_cache_count(cache);
    assert_int_equal(counts.hits, 4);
    assert_int_equal(counts.misses, 3);
    assert_int_equal(counts.evictions, 0);
    assert_int_equal(counts.entries, 3);
    assert_in_range(counts.bytes, 3 * sizeof(struct file_entry), 4096);
    for (int i = 0; i < 10; i++)
        kind_of((const char[]){'/', (char)('q' + i), '\0'});
    counts = file_cache_count(cache);
    assert_int_equal(counts.misses, 13);
    assert_int_equal(counts.evictions, 2 + 10 - 3);
    assert_int_equal(counts.entries, 1 + 3);
}

TEST(a_cache_of_nothing_counts_too)
{
    options.entries_max = 0;
    remake();
    write_file("a", "1");
    assert_serves("/a", "1");
    assert_serves("/a", "1");
    assert_int_equal(file_cache_count(cache).misses, 2);
    assert_int_equal(file_cache_count(cache).hits, 0);
    assert_int_equal(file_cache_count(cache).entries, 0);
}

/* --- Change -------------------------------------------------------------- */

TEST(a_change_shows_after_the_check_and_not_before)
{
    write_file("file", "old");
    assert_serves("/file", "old");
    write_file("file", "newer");
    now.mono_ms += FILE_CACHE_CHECK_MS - 1;
    assert_serves("/file", "old");
    now.mono_ms += 1;
    assert_serves("/file", "newer");
}

TEST(a_change_of_the_time_alone_is_seen)
{
    write_file("file", "old");
    assert_int_equal(place_set_time(&place, "file", 1000), 0);
    assert_serves("/file", "old");
    write_file("file", "new");
    assert_int_equal(place_set_time(&place, "file", 2000), 0);
    pass_check();
    assert_serves("/file", "new");
}

TEST(a_change_whose_time_was_set_back_is_seen)
{
    write_file("file", "old");
    assert_int_equal(place_set_time(&place, "file", 1000), 0);
    assert_serves("/file", "old");
    do { /* until the clock of the file system has ticked */
        struct stat before;
        struct stat after;

        fstatat(place.fd, "file", &before, 0);
        write_file("file", "new");
        assert_int_equal(place_set_time(&place, "file", 1000), 0);
        fstatat(place.fd, "file", &after, 0);
        if (memcmp(&before.st_ctim, &after.st_ctim, sizeof(after.st_ctim)) != 0)
            break;
    } while (true);
    pass_check();
    assert_serves("/file", "new");
}

TEST(a_file_that_was_replaced_is_seen)
{
    write_file("file", "old");
    write_file("next", "new");
    assert_int_equal(place_set_time(&place, "file", 1000), 0);
    assert_int_equal(place_set_time(&place, "next", 1000), 0);
    assert_serves("/file", "old");
    assert_int_equal(renameat(place.fd, "next", place.fd, "file"), 0);
    pass_check();
    assert_serves("/file", "new");
}

TEST(what_comes_and_goes_is_seen)
{
    assert_int_equal(kind_of("/file"), FILE_MISSING);
    write_file("file", "text");
    assert_int_equal(kind_of("/file"), FILE_MISSING);
    pass_check();
    assert_serves("/file", "text");
    unlinkat(place.fd, "file", 0);
    assert_serves("/file", "text");
    pass_check();
    assert_int_equal(kind_of("/file"), FILE_MISSING);
    mkdirat(place.fd, "file", 0755);
    pass_check();
    assert_int_equal(kind_of("/file"), FILE_DIRECTORY);
    unlinkat(place.fd, "file", AT_REMOVEDIR);
    pass_check();
    assert_int_equal(kind_of("/file"), FILE_MISSING);
}

TEST(an_index_that_comes_and_goes_is_seen)
{
    mkdirat(place.fd, "folder", 0755);
    assert_int_equal(kind_of("/folder/"), FILE_DIRECTORY);
    write_file("folder/index.html", "hello");
    pass_check();
    assert_serves("/folder/", "hello");
    unlinkat(place.fd, "folder/index.html", 0);
    pass_check();
    assert_int_equal(kind_of("/folder/"), FILE_DIRECTORY);
}

TEST(a_young_file_is_read_anew_until_it_is_old)
{
    struct stat st;

    write_file("file", "text");
    assert_int_equal(stat(place_path(&place, "file"), &st), 0);
    now.wall_s = st.st_ctim.tv_sec;
    now.wall_ns = now.wall_s * 1000000000 + st.st_ctim.tv_nsec;
    cost_of("/file");
    assert_int_equal(cost_of("/file"), 0);
    for (int i = 0; i < 2; i++) {
        pass_check();
        cost_of("/file");
        assert_true(lookups > 0);
    }
    now.wall_ns += 200000000;
    pass_check();
    cost_of("/file");
    assert_true(lookups > 0); /* what was read while it was young */
    pass_check();
    cost_of("/file");
    assert_int_equal(lookups, 0);
}

TEST(what_was_forgotten_is_read_anew)
{
    struct file_entry *entry;

    write_file("file", "old");
    entry = acquire("/file");
    write_file("file", "new");
    file_cache_forget(cache, entry);
    file_cache_forget(cache, entry);
    assert_body(entry, "old");
    file_entry_release(entry);
    assert_serves("/file", "new");
}

/* --- Room ---------------------------------------------------------------- */

TEST(what_is_in_use_outlives_its_eviction)
{
    struct file_entry *entries[20];

    options.entries_max = 3;
    for (int policy = EVICT_LRU; policy <= EVICT_SIEVE; policy++) {
        options.policy = (enum evict_policy)policy;
        remake();
        for (int i = 0; i < 20; i++) {
            char name[20];

            snprintf(name, sizeof(name), "/file%d", i);
            write_file(name + 1, name);
            entries[i] = acquire(name);
        }
        file_cache_destroy(cache);
        cache = NULL;
        for (int i = 0; i < 20; i++) {
            assert_body(entries[i], entries[i]->path);
            file_entry_release(entries[i]);
        }
    }
}

TEST(no_more_descriptors_are_kept_than_allowed)
{
    options.descriptors_max = 3;
    for (int policy = EVICT_LRU; policy <= EVICT_SIEVE; policy++) {
        unsigned before;

        options.policy = (enum evict_policy)policy;
        remake();
        before = place_count_fds();
        for (int i = 0; i < 20; i++) {
            char name[20];

            snprintf(name, sizeof(name), "/large%d", i);
            write_zeros(name + 1, 1000);
            file_entry_release(acquire(name));
            assert_in_range(place_count_fds(), before, before + 3);
        }
    }
}

TEST(a_cache_of_nothing_reads_every_time)
{
    write_file("file", "text");
    write_zeros("large", 1000);
    for (int i = 0; i < 3; i++) {
        options.bytes_max = i == 0 ? 0 : 1 << 20;
        options.entries_max = i == 1 ? 0 : 100;
        options.descriptors_max = i == 2 ? 0 : 10;
        remake();
        for (int times = 0; times < 2; times++) {
            assert_serves("/file", "text");
            cost_of("/large");
            assert_true(lookups > 0);
        }
    }
}

/* --- Want ---------------------------------------------------------------- */

TEST(without_descriptors_the_cache_gives_up_its_own)
{
    unsigned before = place_count_fds();

    write_zeros("a", 1000);
    write_zeros("b", 1000);
    write_file("file", "text");
    assert_int_equal(kind_of("/a"), FILE_REGULAR);
    assert_int_equal(kind_of("/b"), FILE_REGULAR);
    assert_int_equal(place_count_fds(), before + 2);
    lookup_errno = EMFILE;
    lookup_failures_left = 1;
    assert_serves("/file", "text");
    assert_int_equal(place_count_fds(), before);
}

TEST(when_that_does_not_help_the_failure_is_not_cached)
{
    static const int errors[] = {EMFILE, ENFILE, EIO};

    write_file("file", "text");
    for (int i = 0; i < 3; i++) {
        remake();
        lookup_errno = errors[i];
        lookup_failures_left = 2;
        assert_int_equal(kind_of("/file"), FILE_BROKEN);
        lookup_failures_left = 0;
        assert_serves("/file", "text");
    }
}

TEST(without_memory_there_is_no_entry_and_no_cache)
{
    write_file("file", "text");
    allocations_left = 0;
    assert_null(file_cache_acquire(cache, &space, BYTES("/file"),
                                   CODING_IDENTITY));
    assert_null(file_cache_create(&options));
    allocations_left = -1;
    assert_serves("/file", "text");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
