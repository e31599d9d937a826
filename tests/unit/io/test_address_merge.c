#include "io/address_merge.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../draw.h"

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

static void families_take_turns_ipv6_first(void **state)
{
    (void)state;
    FIND(1, 2, 3, 101, 102);
    assert_true(is_other);
    EXPECT(101, 1, 102, 2, 3);
}

static void one_family_stands_alone(void **state)
{
    (void)state;
    FIND(3, 1, 2);
    EXPECT(3, 1, 2);
    FIND(102, 101);
    EXPECT(102, 101);
}

static void the_same_set_comes_out_the_same(void **state)
{
    (void)state;
    FIND(1, 2, 101, 102);
    FIND(102, 101, 2, 1);
    assert_false(is_other);
    EXPECT(101, 1, 102, 2);
}

static void new_ones_come_after_those_known(void **state)
{
    (void)state;
    FIND(2, 102);
    FIND(1, 101, 2, 102);
    assert_true(is_other);
    EXPECT(102, 2, 101, 1);
}

static void what_is_not_found_any_more_goes(void **state)
{
    (void)state;
    FIND(1, 2, 3);
    FIND(3, 1);
    assert_true(is_other);
    EXPECT(1, 3);
    address_merge_init(&merge, row, count);
    assert_int_equal(address_merge_finish(&merge, row, &is_other), 0);
    assert_true(is_other);
}

static void one_for_another_is_other(void **state)
{
    (void)state;
    FIND(1, 2);
    FIND(1, 3);
    assert_true(is_other);
    EXPECT(1, 3);
}

static void each_stands_once(void **state)
{
    (void)state;
    FIND(1, 1, 101, 1, 101);
    EXPECT(101, 1);
    FIND(1, 1, 101, 101);
    assert_false(is_other);
}

static void the_unspecified_address_is_left_out(void **state)
{
    static const uint8_t zeros[16];
    struct address address;

    (void)state;
    address_merge_init(&merge, NULL, 0);
    address_from_ipv4(&address, zeros, 80);
    address_merge_put(&merge, &address);
    address_from_ipv6(&address, zeros, 80);
    address_merge_put(&merge, &address);
    assert_int_equal(address_merge_finish(&merge, row, &is_other), 0);
    assert_false(is_other);
}

static void of_too_many_both_families_keep_some(void **state)
{
    unsigned numbers[41] = {0};

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        numbers[i] = 1 + i;
        numbers[20 + i] = 101 + i;
    }
    find(numbers);
    EXPECT(101, 1, 102, 2, 103, 3, 104, 4, 105, 5, 106, 6, 107, 7, 108, 8);
}

/* However the answers are turned, and whatever of more than fit they name
 * first. */
static void a_random_list_is_stable_when_shuffled(void **state)
{
    (void)state;
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

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(families_take_turns_ipv6_first),
        TEST(one_family_stands_alone),
        TEST(the_same_set_comes_out_the_same),
        TEST(new_ones_come_after_those_known),
        TEST(what_is_not_found_any_more_goes),
        TEST(one_for_another_is_other),
        TEST(each_stands_once),
        TEST(the_unspecified_address_is_left_out),
        TEST(of_too_many_both_families_keep_some),
        TEST(a_random_list_is_stable_when_shuffled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
