#include "tools/screen.h"

#include "suite.h"

static char storage[8192];
static struct buf out;
static struct screen screen;

static void open_screen(unsigned width, unsigned height)
{
    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    screen = (struct screen){.out = &out, .width = width, .height = height};
}

static void assert_shown(const char *expected)
{
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    assert_string_equal(out.data, expected);
}

TEST(lines_are_cut_at_the_width)
{
    open_screen(5, 0);
    screen_put(&screen, "1234");
    assert_int_equal(screen_left(&screen), 1);
    screen_put(&screen, "567");
    screen_put(&screen, "8");
    assert_int_equal(screen_left(&screen), 0);
    screen_end_line(&screen);
    screen_put(&screen, "ab");
    screen_end_line(&screen);
    assert_shown("12345\nab\n");
}

TEST(lines_end_at_the_height)
{
    open_screen(10, 2);
    for (const char *const *line = (const char *const[]){"a", "b", "c", NULL};
         *line; line++) {
        screen_put(&screen, *line);
        screen_put_right(&screen, *line, 3);
        screen_put_gap(&screen, 8);
        screen_put_foreign(&screen, bytes_of(*line));
        screen_put_fact(&screen, SCREEN_DIM, bytes_of(*line), *line);
        screen_end_line(&screen);
    }
    assert_shown("a  a    a\nb  b    b\n");
}

TEST(characters_of_utf8_take_one_column_and_stay_whole)
{
    open_screen(3, 0);
    screen_put(&screen, "▁▂▃▄");
    screen_end_line(&screen);
    assert_shown("▁▂▃\n");
}

TEST(text_of_others_is_visible_ascii)
{
    open_screen(200, 0);
    screen_put_foreign(&screen, BYTES("a\033[2J\033]0;x\007\r\n\t\b\0\177"));
    screen_put_foreign(&screen, BYTES("\302\233m\303\251\377 ~\"\\"));
    screen_end_line(&screen);
    assert_shown("a\\x1b[2J\\x1b]0;x\\x07\\x0d\\x0a\\x09\\x08\\x00\\x7f"
                 "\\xc2\\x9bm\\xc3\\xa9\\xff ~\\x22\\x5c\n");
}

TEST(no_byte_of_others_gets_through_unseen)
{
    for (int byte = 0; byte < 256; byte++) {
        char c = (char)byte;

        open_screen(20, 1);
        screen_put_foreign(&screen, (struct bytes){&c, 1});
        for (size_t i = 0; i < out.len; i++)
            assert_in_range(out.data[i], ' ', '~');
    }
}

TEST(text_of_others_is_cut_at_the_width_however_long)
{
    static char text[1 << 16];

    memset(text, '\001', sizeof(text));
    open_screen(SCREEN_WIDTH_MAX, 1);
    screen_put_foreign(&screen, (struct bytes){text, sizeof(text)});
    assert_int_equal(out.len, SCREEN_WIDTH_MAX);
    open_screen(6, 1);
    screen_put_foreign(&screen, (struct bytes){text, sizeof(text)});
    screen_end_line(&screen);
    assert_shown("\\x01\\x\n");
}

TEST(cells_stand_at_the_right_or_not_at_all)
{
    open_screen(12, 0);
    screen_put_right(&screen, "1", 5);
    screen_put_right(&screen, "12345", 5);
    screen_put_right(&screen, "123", 5); /* two columns are left */
    screen_put(&screen, "x");
    screen_end_line(&screen);
    assert_shown("    112345\n");
}

TEST(facts_stand_there_whole_or_not_at_all)
{
    open_screen(14, 0);
    screen_put_fact(&screen, SCREEN_DIM, BYTES("a"), "123");
    screen_put_fact(&screen, SCREEN_DIM, BYTES("b"), "123");
    screen_end_line(&screen);
    screen_put_fact(&screen, SCREEN_DIM, BYTES("a"), "1234");
    screen_put_fact(&screen, SCREEN_DIM, BYTES("b"), "123");
    screen_put_fact(&screen, SCREEN_DIM, BYTES("c"), "1");
    screen_end_line(&screen);
    assert_shown("  a 123  b 123\n  a 1234\n");
}

TEST(a_gap_reaches_its_column_or_is_one_space)
{
    open_screen(20, 0);
    screen_put(&screen, "ab");
    screen_put_gap(&screen, 5);
    screen_put(&screen, "c");
    screen_put_gap(&screen, 3);
    screen_put(&screen, "d");
    screen_put_gap(&screen, 100);
    screen_end_line(&screen);
    screen_put_label(&screen, "label");
    screen_put(&screen, "x");
    screen_end_line(&screen);
    assert_shown("ab   c d            \nlabel       x\n");
}

TEST(styles_take_no_columns_and_end_with_the_line)
{
    open_screen(3, 1);
    screen.has_styles = true;
    screen_set_style(&screen, SCREEN_BAD);
    screen_put(&screen, "abc");
    screen_set_style(&screen, SCREEN_GOOD); /* for nothing any more */
    screen_end_line(&screen);
    screen_set_style(&screen, SCREEN_BAD);
    screen_end_line(&screen);
    assert_shown("\033[0;1;31mabc\033[0m\n");
}

TEST(without_styles_there_is_no_escape)
{
    open_screen(3, 1);
    screen_set_style(&screen, SCREEN_BAD);
    screen_put(&screen, "abc");
    screen_end_line(&screen);
    assert_shown("abc\n");
}
