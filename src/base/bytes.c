#include "base/bytes.h"

#include "base/byte_word.h"

/*
 * Every field name of every request is compared with known names, so eight
 * bytes are compared at a time. The additions below never carry from one byte
 * of a word into the next, since both summands of each byte have at most seven
 * bits.
 */
enum { CASE = 0x20 };

/* Returns a word in which a byte is CASE if that byte of `word` is a letter,
 * else 0. The bit CASE tells upper from lower case. */
static uint64_t case_of_letters(uint64_t word)
{
    uint64_t lower = word | BYTE_EIGHTFOLD(CASE);
    uint64_t low = lower & BYTE_EIGHTFOLD(0x7F);
    uint64_t from_a = low + BYTE_EIGHTFOLD(0x80 - 'a');
    uint64_t behind_z = low + BYTE_EIGHTFOLD(0x80 - 'z' - 1);

    return (from_a & ~behind_z & ~word & BYTE_EIGHTFOLD(0x80)) >> 2;
}

/* Returns true if two words are equal, ignoring the case of letters. Letters
 * are looked for only if the words differ, and all differences are in case
 * bits. */
static inline bool words_match(uint64_t a, uint64_t b)
{
    uint64_t differs = a ^ b;

    return differs == 0 || ((differs & ~BYTE_EIGHTFOLD(CASE)) == 0 &&
                            (differs & ~case_of_letters(a)) == 0);
}

bool bytes_are_ieq(const char *a, const char *b, size_t len)
{
    if (len >= BYTE_WORD) {
        for (size_t i = 0; i < len - BYTE_WORD; i += BYTE_WORD)
            if (!words_match(byte_word(a + i), byte_word(b + i)))
                return false;
        return words_match(byte_word(a + len - BYTE_WORD),
                           byte_word(b + len - BYTE_WORD));
    }
    if (len >= BYTE_WORD_HALF)
        return words_match(byte_word_of_ends(a, len),
                           byte_word_of_ends(b, len));
    for (size_t i = 0; i < len; i++)
        if (byte_lower(a[i]) != byte_lower(b[i]))
            return false;
    return true;
}

bool bytes_has_control(struct bytes text)
{
    if (text.len >= BYTE_WORD_HALF)
        return !byte_word_lacks(text, byte_word_controls);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F)
            return true;
    return false;
}

int bytes_order(struct bytes a, struct bytes b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* --- Taking a text apart ------------------------------------------------- */

static void skip(struct bytes *text, size_t len)
{
    text->data += len;
    text->len -= len;
}

bool bytes_take(struct bytes *text, struct bytes start)
{
    if (text->len < start.len || memcmp(text->data, start.data, start.len) != 0)
        return false;
    skip(text, start.len);
    return true;
}

bool bytes_take_ieq(struct bytes *text, struct bytes start)
{
    if (text->len < start.len ||
        !bytes_are_ieq(text->data, start.data, start.len))
        return false;
    skip(text, start.len);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void bytes_skip_blanks(struct bytes *text)
{
    while (text->len > 0 && is_blank(*text->data))
        skip(text, 1);
}

struct bytes bytes_take_word(struct bytes *text)
{
    const char *begin;

    bytes_skip_blanks(text);
    begin = text->data;
    while (text->len > 0 && !is_blank(*text->data))
        skip(text, 1);
    return bytes_between(begin, text->data);
}

struct bytes bytes_take_line(struct bytes *text)
{
    const char *begin = text->data;
    const char *feed = text->len > 0 ? memchr(begin, '\n', text->len) : NULL;
    struct bytes line = feed ? bytes_between(begin, feed) : *text;

    skip(text, line.len + (feed ? 1 : 0));
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}
