#include "files/docroots.h"

#include "suite.h"
#include "unit/place.h"

static struct place place;
static struct arena arena;
static struct docroots roots;
static const char *one;
static const char *other;

static int set_up(void **state)
{
    (void)state;
    if (place_open(&place) != 0 || mkdirat(place.fd, "one", 0755) != 0 ||
        mkdirat(place.fd, "other", 0755) != 0)
        return -1;
    one = arena_text(&arena, bytes_of(place_path(&place, "one")));
    other = arena_text(&arena, bytes_of(place_path(&place, "other")));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    docroots_close(&roots);
    roots = (struct docroots){0};
    arena_fini(&arena);
    return place_close_tidy(&place);
}

TEST(a_root_is_opened_once)
{
    const struct docroot *root;

    assert_int_equal(docroots_open(&roots, &arena, one, false), 0);
    assert_int_equal(docroots_open(&roots, &arena, other, false), 0);
    root = docroots_find(&roots, one, false);
    assert_non_null(root);
    assert_int_equal(docroots_open(&roots, &arena, place_path(&place, "one"),
                                   false),
                     0);
    assert_int_equal(roots.count, 2);
    assert_ptr_equal(docroots_find(&roots, one, false), root);
    assert_ptr_not_equal(docroots_find(&roots, other, false), root);
    assert_int_equal(place_count_fds(), place.fds + 2);
}

/* What symlinks may do belongs to the root. */
TEST(following_symlinks_makes_another_root)
{
    assert_int_equal(docroots_open(&roots, &arena, one, false), 0);
    assert_null(docroots_find(&roots, one, true));
    assert_int_equal(docroots_open(&roots, &arena, one, true), 0);
    assert_ptr_not_equal(docroots_find(&roots, one, true),
                         docroots_find(&roots, one, false));
}

TEST(roots_stay_where_they_are)
{
    const struct docroot *first;
    char name[20];

    assert_int_equal(docroots_open(&roots, &arena, one, false), 0);
    first = docroots_find(&roots, one, false);
    for (int i = 0; i < 100; i++) {
        const char *path;

        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(mkdirat(place.fd, name, 0755), 0);
        path = arena_text(&arena, bytes_of(place_path(&place, name)));
        assert_int_equal(docroots_open(&roots, &arena, path, false), 0);
    }
    assert_int_equal(roots.count, 101);
    assert_ptr_equal(docroots_find(&roots, one, false), first);
}

TEST(what_is_no_folder_is_refused)
{
    assert_int_equal(place_write(&place, "file", "x"), 0);
    assert_int_equal(docroots_open(&roots, &arena, place_path(&place, "no"),
                                   false),
                     -ENOENT);
    assert_int_equal(docroots_open(&roots, &arena, place_path(&place, "file"),
                                   false),
                     -ENOTDIR);
    assert_int_equal(roots.count, 0);
    assert_int_equal(place_count_fds(), place.fds);
}

TEST(a_folder_that_may_not_be_entered_is_refused)
{
    if (geteuid() == 0)
        skip(); /* who may enter any */
    assert_int_equal(fchmodat(place.fd, "one", 0400, 0), 0);
    assert_int_equal(docroots_open(&roots, &arena, one, false), -EACCES);
    assert_int_equal(roots.count, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
