/* link: -Wl,--wrap=syscall,--wrap=fstatat,--wrap=pread,--wrap=malloc,--wrap=calloc */
#include "unit/files/file_cache_fixture.h"

#include "unit/draw.h"

enum { NAMES = 12, VERSIONS = 4000 };

static struct {
    unsigned version;               /* 0: not there; else its length too */
    uint64_t replaced_ms[VERSIONS]; /* when each ended */
} model[NAMES];

static char name_of[NAMES][8];

static void change_file(unsigned number, unsigned version)
{
    static char text[VERSIONS];

    model[number].replaced_ms[model[number].version] = now.mono_ms;
    model[number].version = version;
    if (version == 0) {
        unlinkat(place.fd, name_of[number] + 1, 0);
    } else if (draw(2) == 0) {
        assert_int_equal(place_write_bytes(&place, "new", text, version), 0);
        renameat(place.fd, "new", place.fd, name_of[number] + 1);
    } else {
        assert_int_equal(place_write_bytes(&place, name_of[number] + 1, text,
                                           version),
                         0);
    }
}

/* What is served is what is there, or was less than a check ago. */
static void compare(unsigned number)
{
    struct file_entry *entry = acquire(name_of[number]);
    unsigned version = entry->kind == FILE_REGULAR
                           ? (unsigned)entry->stamp.bytes
                           : 0;

    assert_true(version < VERSIONS);
    assert_int_equal(entry->is_snapshot,
                     version > 0 && version <= SNAPSHOT_BYTES);
    if (version != model[number].version)
        assert_true(now.mono_ms - model[number].replaced_ms[version] <
                    FILE_CACHE_CHECK_MS);
    file_entry_release(entry);
}

TEST(a_random_run_agrees_with_a_naive_model)
{
    unsigned versions = 0;

    draw_seed = 2024;
    options.bytes_max = 6000;
    options.descriptors_max = 3;
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name_of[i], sizeof(name_of[i]), "/%u", i);
        model[i].version = 0;
    }
    for (int step = 0; step < 12000; step++) {
        unsigned number = draw(NAMES);

        if (step % 4000 == 0) {
            options.policy = (enum evict_policy)(step / 4000);
            remake();
        }
        if (draw(10) == 0)
            change_file(number,
                        draw(4) == 0 ? 0 : ++versions % (VERSIONS - 1) + 1);
        if (draw(5) == 0)
            now.mono_ms += draw(700);
        compare(number);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
