#include "http/http1/http1.h"

#include "http1_cases.h"
#include "suite.h"
#include "unit/http/http1/http1_grammar.h"
#include "unit/http/http1/http1_pieces.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

TEST(a_second_grammar_agrees_on_every_case)
{
    for (size_t i = 0; i < COUNT(good_cases); i++) {
        struct bytes text = bytes_of(good_cases[i].head);

        if (grammar_head_bytes(text) != text.len)
            fail_msg("not by the grammar: %s", text.data);
    }
    for (size_t i = 0; i < COUNT(bad_cases); i++)
        if (grammar_head_bytes(bad_cases[i].head) != 0)
            fail_msg("good by the grammar: %s", bad_cases[i].head.data);
}

/* --- At random ----------------------------------------------------------- */

static uint32_t random_state;

/* xorshift32: the same numbers everywhere. */
static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

static struct bytes random_case(void)
{
    uint32_t pick = random_below(COUNT(good_cases) + COUNT(bad_cases) / 4);

    return pick < COUNT(good_cases)
               ? bytes_of(good_cases[pick].head)
               : bad_cases[random_below(COUNT(bad_cases))].head;
}

/* Puts piece in the place of what lies between from and to. */
static void put_between(struct buf *text, size_t from, size_t to,
                        struct bytes piece)
{
    struct buf spliced;

    buf_init(&spliced, NULL, 0, 100000);
    buf_put(&spliced, (struct bytes){text->data, from});
    buf_put(&spliced, piece);
    buf_put(&spliced, (struct bytes){text->data + to, text->len - to});
    buf_fini(text);
    *text = spliced;
}

static void mutate(struct buf *text)
{
    static const struct bytes pieces[] = {
        {"\r", 1},
        {"\n", 1},
        {"\r\n", 2},
        {"\r\n\r\n", 4},
        {" ", 1},
        {"\t", 1},
        {":", 1},
        {",", 1},
        {"\0", 1},
        {"\x7F", 1},
        {"\x80", 1},
        {"%", 1},
        {"%41", 3},
        {"/", 1},
        {"#", 1},
        {"*", 1},
        {"http://", 7},
        {"https://", 8},
        {"[::1]", 5},
        {"0", 1},
        {"1", 1},
        {"9", 1},
        {"a", 1},
        {"Z", 1},
        {"-", 1},
        {"close", 5},
        {"chunked", 7},
        {"\"", 1},
        {"?", 1},
        {"Host: b\r\n", 9},
        {"Content-Length: 7\r\n", 19},
        {"Transfer-Encoding: chunked\r\n", 28},
    };
    size_t from = random_below((uint32_t)text->len + 1);
    size_t to = from;
    struct bytes other;

    switch (random_below(6)) {
    case 0: /* one byte goes, or many */
        to += random_below(random_below(4) > 0 ? 2 : 40);
        put_between(text, from, to < text->len ? to : text->len, BYTES(""));
        break;
    case 1: /* any byte comes */
        other = (struct bytes){(const char[]){(char)random_below(256)}, 1};
        put_between(text, from, from, other);
        break;
    case 2: /* one comes in the place of one */
    case 3:
        to += from < text->len && random_below(2) == 0;
        put_between(text, from, to, pieces[random_below(COUNT(pieces))]);
        break;
    case 4: /* a piece of another head comes */
        other = random_case();
        to = random_below((uint32_t)other.len);
        other = (struct bytes){other.data + to, other.len - to};
        if (random_below(2) == 0)
            other.len = random_below((uint32_t)other.len + 1);
        put_between(text, from, from, other);
        break;
    default: /* some of it comes twice */
        to += random_below(30);
        if (to <= text->len)
            put_between(text, from, from,
                        (struct bytes){text->data + from, to - from});
        break;
    }
}

TEST(any_head_is_judged_as_the_second_grammar_does)
{
    enum { RUNS = 20000 };
    unsigned done = 0, bad = 0;

    random_state = 20260721;
    for (int run = 0; run < RUNS; run++) {
        struct outcome whole;
        struct buf text;

        buf_init(&text, NULL, 0, 100000);
        buf_put(&text, random_case());
        for (uint32_t i = random_below(4); i > 0 && text.len > 0; i--)
            mutate(&text);
        if (text.len == 0)
            continue;
        read_whole(&whole, buf_bytes(&text));
        done += whole.verdict == HTTP1_DONE;
        bad += whole.verdict == HTTP1_BAD;
        if ((whole.verdict == HTTP1_DONE ? whole.used : 0) !=
            grammar_head_bytes(buf_bytes(&text)))
            fail_msg("run %d, verdict %d, status %u: %.*s", run, whole.verdict,
                     whole.status, (int)text.len, text.data);
        if (run % 10 == 0)
            assert_same_in_any_split(&whole, buf_bytes(&text), false);
        else
            assert_same_in_steps(&whole, buf_bytes(&text),
                                 random_below((uint32_t)text.len + 1),
                                 1 + random_below(40), false);
        outcome_fini(&whole);
        buf_fini(&text);
    }
    /* It is no test when all comes to the same. */
    assert_true(done > RUNS / 10 && bad > RUNS / 10);
}
