#include "io/address_merge.h"

#include "suite.h"
#include "unit/draw.h"

static struct address_merge merge;
static struct address row[ADDRESS_MERGE_MAX];
static size_t count;
static bool is_other;

/* Numbers from 1 to 99 are IPv4, from 100 IPv6. */
static struct address make(unsigned number)
{
    uint8_t octets[16] = {0};
    struct address address;

    octets[0] = number < 100 ? 10 : 0xFD;
    octets[number < 100 ? 3 : 15] = (uint8_t)number;
    if (number < 100)
        address_from_ipv4(&address, octets, 80);
    else
        address_from_ipv6(&address, octets, 80);
    return address;
}

static unsigned number_of(const struct address *address)
{
    return address->octets[address->family == ADDRESS_IPV6 ? 15 : 3];
}

/* Merges what 0 ends into row. */
static void find(const unsigned *numbers)
{
    struct address old[ADDRESS_MERGE_MAX];

    memcpy(old, row, sizeof(old));
    address_merge_init(&merge, old, count);
    for (; *numbers != 0; numbers++) {
        struct address address = make(*numbers);

        address_merge_put(&merge, &address);
    }
    count = address_merge_finish(&merge, row, &is_other);
}

#define FIND(...) find((const unsigned[]){__VA_ARGS__, 0})

static void expect_row(const unsigned *numbers)
{
    size_t i = 0;

    for (; numbers[i] != 0; i++) {
        assert_true(i < count);
        assert_int_equal(number_of(&row[i]), numbers[i]);
        assert_int_equal(row[i].port, 80);
    }
    assert_int_equal(count, i);
}

#define EXPECT(...) expect_row((const unsigned[]){__VA_ARGS__, 0})

static int set_up(void **state)
{
    (void)state;
    count = 0;
    return 0;
}

TEST(families_take_turns_ipv6_first)
{
    FIND(1, 2, 3, 101, 102);
    assert_true(is_other);
    EXPECT(101, 1, 102, 2, 3);
}

TEST(one_family_stands_alone)
{
    FIND(3, 1, 2);
    EXPECT(3, 1, 2);
    FIND(102, 101);
    EXPECT(102, 101);
}

TEST(the_same_set_comes_out_the_same)
{
    FIND(1, 2, 101, 102);
    FIND(102, 101, 2, 1);
    assert_false(is_other);
    EXPECT(101, 1, 102, 2);
}

TEST(new_ones_come_after_those_known)
{
    FIND(2, 102);
    FIND(1, 101, 2, 102);
    assert_true(is_other);
    EXPECT(102, 2, 101, 1);
}

TEST(what_is_not_found_any_more_goes)
{
    FIND(1, 2, 3);
    FIND(3, 1);
    assert_true(is_other);
    EXPECT(1, 3);
    address_merge_init(&merge, row, count);
    assert_int_equal(address_merge_finish(&merge, row, &is_other), 0);
    assert_true(is_other);
}

TEST(one_for_another_is_other)
{
    FIND(1, 2);
    FIND(1, 3);
    assert_true(is_other);
    EXPECT(1, 3);
}

TEST(each_stands_once)
{
    FIND(1, 1, 101, 1, 101);
    EXPECT(101, 1);
    FIND(1, 1, 101, 101);
    assert_false(is_other);
}

TEST(the_unspecified_address_is_left_out)
{
    static const uint8_t zeros[16];
    struct address address;

    address_merge_init(&merge, NULL, 0);
    address_from_ipv4(&address, zeros, 80);
    address_merge_put(&merge, &address);
    address_from_ipv6(&address, zeros, 80);
    address_merge_put(&merge, &address);
    assert_int_equal(address_merge_finish(&merge, row, &is_other), 0);
    assert_false(is_other);
}

TEST(of_too_many_both_families_keep_some)
{
    unsigned numbers[41] = {0};

    for (unsigned i = 0; i < 20; i++) {
        numbers[i] = 1 + i;
        numbers[20 + i] = 101 + i;
    }
    find(numbers);
    EXPECT(101, 1, 102, 2, 103, 3, 104, 4, 105, 5, 106, 6, 107, 7, 108, 8);
}

/* However the answers are turned, and whatever of more than fit they name
 * first. */
TEST(a_random_list_is_stable_when_shuffled)
{
    for (draw_seed = 1; draw_seed < 300; draw_seed++) {
        unsigned numbers[61] = {0};
        unsigned n = 1 + draw(60);

        count = 0;
        for (unsigned i = 0; i < n; i++)
            numbers[i] = 1 + draw(50) + (draw(2) == 0 ? 0 : 100);
        find(numbers);
        for (int round = 0; round < 3; round++) {
            for (unsigned i = n - 1; i > 0; i--) {
                unsigned other = draw(i + 1);
                unsigned number = numbers[i];

                numbers[i] = numbers[other];
                numbers[other] = number;
            }
            find(numbers);
            assert_false(is_other);
        }
    }
}

SUITE(.each_begin = set_up);
