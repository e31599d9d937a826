#include "config/certificates/managed_told.h"

#include "suite.h"
#include "unit/place.h"

static struct managed_told read_back(const char *text)
{
    struct managed_told told;

    managed_told_parse(&told, bytes_of(text));
    return told;
}

TEST(what_is_put_is_read)
{
    struct managed_told told = {.next_at = 1763750061, .failures = 3};
    struct managed_told other;
    struct buf text;

    memset(told.error, 'x', MANAGED_TOLD_ERROR_MAX);
    buf_init(&text, NULL, 0, MANAGED_TOLD_BYTES_MAX);
    managed_told_put(&told, &text);
    assert_false(text.failed);
    managed_told_parse(&other, buf_bytes(&text));
    assert_int_equal(other.next_at, told.next_at);
    assert_int_equal(other.failures, told.failures);
    assert_string_equal(other.error, told.error);
    buf_fini(&text);
}

TEST(what_is_damaged_reads_as_nothing)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "next",
        "next \nfailures 1\nerror x\n",
        "next 1\nfailures -1\nerror x\n",
        "next 99999999999999999999\nfailures 1\nerror x\n",
        "next 253402300800\nfailures 1\nerror x\n",
        "next 1x\nfailures 1\nerror x\n",
        "nextt 1\nfailures 1\nerror x\n",
        "failures 1\nerror x\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct managed_told told = read_back(texts[i]);

        assert_int_equal(told.next_at, 0);
        assert_int_equal(told.failures, 0);
        assert_string_equal(told.error, "");
    }
}

TEST(errors_are_text_and_no_longer_than_their_room)
{
    char text[1024] = "next 5\nfailures 0\nerror a\033[2J\xffz";

    assert_string_equal(read_back(text).error, "a?[2J?z");
    assert_int_equal(read_back("next 5\nfailures 0").next_at, 5);
    memset(text + 24, 'y', 900);
    assert_int_equal(strlen(read_back(text).error), MANAGED_TOLD_ERROR_MAX);
}

TEST(it_stands_beside_the_certificate)
{
    struct place place;
    struct managed_certificate certificate = {.name = "a.example"};
    struct managed_told told;

    assert_int_equal(place_open(&place), 0);
    certificate.path = place_path(&place, "a.example.pem");
    managed_told_read(&told, &certificate);
    assert_int_equal(told.next_at, 0);
    assert_int_equal(place_write(&place, "a.example.told",
                                 "next 7\nfailures 2\nerror no\n"),
                     0);
    managed_told_read(&told, &certificate);
    assert_int_equal(told.next_at, 7);
    assert_string_equal(told.error, "no");
    place_close(&place);
}

SUITE(.each_begin = NULL);
