#include "kv/kv_gather_priv.h"

#include "suite.h"

#define MS UINT64_C(1000000)

static struct kv_gather gather;

static int set_up(void **state)
{
    (void)state;
    gather = (struct kv_gather){0};
    return 0;
}

/* Those who are waited for never come. Returns how many commits later the next
 * are waited for. */
static unsigned wait_in_vain(void)
{
    unsigned commits = 0;

    kv_gather_note_wait(&gather, false);
    do {
        commits++;
        kv_gather_note_commit(&gather, 10, 0, 0, 4 * MS);
    } while (gather.wanted < 2 && commits < 1000);
    return commits;
}

TEST(a_client_that_writes_alone_never_waits)
{
    assert_true(gather.wanted < 2);
    for (uint64_t i = 0; i < 100; i++) {
        kv_gather_note_commit(&gather, 1, 0, i * MS, (i + 1) * MS);
        assert_true(gather.wanted < 2);
    }
}

TEST(as_many_are_waited_for_as_were_answered_or_waited)
{
    kv_gather_note_commit(&gather, 32, 0, 0, MS);
    assert_int_equal(gather.wanted, 32);
    kv_gather_note_commit(&gather, 32, 31, 0, MS);
    assert_int_equal(gather.wanted, 63);
    kv_gather_note_commit(&gather, 1, 1, 0, MS);
    assert_int_equal(gather.wanted, 2);
}

TEST(it_lasts_three_quarters_of_a_commit)
{
    kv_gather_note_commit(&gather, 2, 0, 100 * MS, 104 * MS);
    assert_true(gather.until_ns == 107 * MS);
    kv_gather_note_commit(&gather, 2, 0, 100 * MS, 100 * MS);
    assert_true(gather.until_ns == 100 * MS);
}

TEST(a_disk_that_was_stuck_is_no_reason_to_wait_as_long)
{
    kv_gather_note_commit(&gather, 2, 0, 0, 26 * MS);
    assert_true(gather.until_ns == 26 * MS + 26 * MS / 4 * 3);
    kv_gather_note_commit(&gather, 2, 0, 0, 5000 * MS);
    assert_true(gather.until_ns == 5020 * MS);
}

TEST(where_nobody_comes_back_it_is_seldom_tried)
{
    static const unsigned later[] = {2, 3, 5, 9, 17, 17, 17};

    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
        assert_int_equal(wait_in_vain(), later[i]);
}

TEST(once_all_have_come_they_are_waited_for_again)
{
    for (int i = 0; i < 10; i++)
        (void)wait_in_vain();
    kv_gather_note_wait(&gather, true);
    kv_gather_note_commit(&gather, 10, 0, 0, 4 * MS);
    assert_int_equal(gather.wanted, 10);
    assert_int_equal(wait_in_vain(), 2);
}

SUITE(.each_begin = set_up);
