/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc,--wrap=pages_open */
#include "unit/files/file_cache_fixture.h"

#include "unit/draw.h"

static unsigned siblings_of(const char *path)
{
    struct file_entry *entry = acquire(path);
    unsigned siblings;

    if (file_cache_siblings_changed(cache, entry)) {
        file_entry_release(entry);
        entry = acquire(path);
    }
    siblings = entry->siblings;
    assert_false(file_cache_siblings_changed(cache, entry));
    file_entry_release(entry);
    return siblings;
}

/* Whatever the kernel's clock is, a folder that a test has changed has another
 * time. */
static void stamp_folder(const char *name)
{
    static int64_t seconds = 1000000;
    struct timespec times[2] = {{.tv_sec = ++seconds}, {.tv_sec = seconds}};

    assert_int_equal(utimensat(place.fd, name, times, 0), 0);
}

static void put_sibling(const char *name)
{
    write_file(name, "x");
    stamp_folder(".");
}

static void drop_sibling(const char *name)
{
    assert_int_equal(unlinkat(place.fd, name, 0), 0);
    stamp_folder(".");
}

TEST(siblings_that_come_and_go_are_seen)
{
    write_file("file", "text");
    assert_int_equal(siblings_of("/file"), 0);
    put_sibling("file.gz");
    put_sibling("file.zst");
    mkdirat(place.fd, "file.br", 0755); /* is none */
    pass_check();
    assert_int_equal(siblings_of("/file"),
                     1u << CODING_GZIP | 1u << CODING_ZSTD);
    drop_sibling("file.gz");
    pass_check();
    assert_int_equal(siblings_of("/file"), 1u << CODING_ZSTD);
    for (int i = 0; i < 5; i++) {
        pass_check();
        assert_int_equal(siblings_of("/file"), 1u << CODING_ZSTD);
    }
    put_sibling("file.gz");
    pass_check();
    assert_int_equal(siblings_of("/file"),
                     1u << CODING_GZIP | 1u << CODING_ZSTD);
}

/* What it costs to look for siblings of files a, b and c in a folder. */
static unsigned cost_of_siblings(const char *folder)
{
    unsigned cost = 0;
    char path[64];

    for (char name = 'a'; name <= 'c'; name++) {
        snprintf(path, sizeof(path), "%s/%c", folder, name);
        file_entry_release(acquire(path));
        stats = 0;
        siblings_of(path);
        cost += stats;
    }
    return cost;
}

static void write_three(const char *folder)
{
    char path[64];

    mkdirat(place.fd, folder, 0755);
    for (char name = 'a'; name <= 'c'; name++) {
        snprintf(path, sizeof(path), "%s/%c", folder, name);
        write_file(path, "text");
    }
}

TEST(one_stat_tells_that_no_sibling_in_a_folder_has_changed)
{
    write_three("deep");
    write_three(".");
    cost_of_siblings("/deep");
    cost_of_siblings("");
    pass_check();
    assert_int_equal(cost_of_siblings("/deep"), 1 + 3 * 3);
    assert_int_equal(cost_of_siblings(""), 1 + 3 * 3);
    for (int i = 0; i < 3; i++) {
        pass_check();
        assert_int_equal(cost_of_siblings("/deep"), 1);
        assert_int_equal(cost_of_siblings(""), 1);
    }
    write_file("deep/b.gz", "x");
    stamp_folder("deep");
    pass_check();
    assert_true(cost_of_siblings("/deep") > 3 * 3);
    assert_int_equal(cost_of_siblings(""), 1);
    assert_int_equal(siblings_of("/deep/b"), 1u << CODING_GZIP);
}

/* It may change again within the same tick of its file system's clock. */
TEST(a_folder_that_has_just_changed_is_not_relied_on)
{
    struct stat st;

    write_three("deep");
    assert_int_equal(stat(place_path(&place, "deep"), &st), 0);
    now.wall_ns = (st.st_ctim.tv_sec + 2) * INT64_C(1000000000);
    cost_of_siblings("/deep");
    for (int i = 0; i < 3; i++) {
        pass_check();
        assert_int_equal(cost_of_siblings("/deep"), 1 + 3 * 3);
    }
    now.wall_ns += INT64_C(5000000000);
    pass_check();
    assert_int_equal(cost_of_siblings("/deep"), 1 + 3 * 3);
    pass_check();
    assert_int_equal(cost_of_siblings("/deep"), 1);
}

/* That changes another folder. */
TEST(a_symlink_that_comes_to_lead_somewhere_is_seen_within_a_minute)
{
    mkdirat(place.fd, "there", 0755);
    write_file("file", "text");
    assert_int_equal(symlinkat("there/x", place.fd, "file.gz"), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(siblings_of("/file"), 0);
        pass_check();
    }
    write_file("there/x", "x");
    now.mono_ms += 60000;
    assert_int_equal(siblings_of("/file"), 1u << CODING_GZIP);
}

/* A folder is what its path leads to. */
TEST(another_folder_in_the_place_of_one_is_another_folder)
{
    write_three("old");
    mkdirat(place.fd, "new", 0755);
    assert_int_equal(linkat(place.fd, "old/a", place.fd, "new/a", 0), 0);
    write_file("new/a.br", "x");
    assert_int_equal(symlinkat("old", place.fd, "current"), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(siblings_of("/current/a"), 0);
        pass_check();
    }
    assert_int_equal(symlinkat("new", place.fd, "next"), 0);
    assert_int_equal(renameat(place.fd, "next", place.fd, "current"), 0);
    pass_check();
    assert_int_equal(siblings_of("/current/a"), 1u << CODING_BR);
}

/* Each folder costs a stat at most, however many there are. */
TEST(more_folders_than_are_remembered_are_looked_at_as_ever)
{
    enum { FOLDERS = 600 };
    char path[64];

    options.entries_max = 2 * FOLDERS;
    options.bytes_max = 1 << 24;
    remake();
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(path, sizeof(path), "%d", i);
        mkdirat(place.fd, path, 0755);
        snprintf(path, sizeof(path), "%d/f", i);
        write_file(path, "text");
    }
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < FOLDERS; i++) {
            unsigned found;

            snprintf(path, sizeof(path), "/%d/f", i);
            file_entry_release(acquire(path));
            stats = 0;
            found = siblings_of(path);
            assert_true(found ==
                        (turn == 3 && i % 2 == 0 ? 1u << CODING_GZIP : 0u));
            assert_true(turn == 3 || stats <= 4);
        }
        pass_check();
        for (int i = 0; i < FOLDERS && turn == 2; i += 2) {
            snprintf(path, sizeof(path), "%d/f.gz", i);
            write_file(path, "x");
            *strrchr(path, '/') = '\0';
            stamp_folder(path);
        }
    }
}

TEST(siblings_agree_with_a_naive_model)
{
    static const char *const names[] = {"a", "b", "c"};
    unsigned there[3] = {0}, before[3] = {0};
    uint64_t changed_ms[3] = {0};
    char path[8];

    draw_seed = 9842;
    for (int i = 0; i < 3; i++)
        write_file(names[i], "text");
    for (int step = 0; step < 5000; step++) {
        unsigned i = draw(3);
        unsigned siblings;

        if (draw(20) == 0) {
            snprintf(path, sizeof(path), "%s.gz", names[i]);
            before[i] = there[i];
            changed_ms[i] = now.mono_ms;
            there[i] ^= 1u << CODING_GZIP;
            if (there[i])
                put_sibling(path);
            else
                drop_sibling(path);
        }
        if (draw(3) == 0)
            now.mono_ms += draw(700);
        i = draw(3);
        snprintf(path, sizeof(path), "/%s", names[i]);
        siblings = siblings_of(path);
        assert_true(siblings == there[i] ||
                    (siblings == before[i] &&
                     now.mono_ms - changed_ms[i] < FILE_CACHE_CHECK_MS));
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
