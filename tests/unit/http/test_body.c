/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/body.h"

#include "unit/http/source_fixture.h"

static int set_up(void **state)
{
    (void)state;
    give_memory();
    return 0;
}

/* All that leaves together; bytes of a pipe are so many '#'. What is framing
 * stands alone in framing_len. */
struct pulled {
    enum piece_state state;
    char text[256];
    size_t len;
    size_t framing_len;
};

static struct pulled pull(struct source *source, uint64_t at_most)
{
    struct pulled pulled = {.len = 0};
    struct piece piece;

    do {
        piece = source->next(source, at_most);
        assert_true(pulled.len + piece.part.len < sizeof(pulled.text));
        if (piece.part.kind == PART_PIPE)
            memset(pulled.text + pulled.len, '#', piece.part.len);
        else if (piece.part.len > 0)
            memcpy(pulled.text + pulled.len, piece.part.at.memory,
                   piece.part.len);
        assert_true(piece.part.kind != PART_PIPE || piece.part.fd == 42);
        pulled.len += piece.part.len;
        if (piece.is_framing)
            pulled.framing_len += piece.part.len;
        else
            assert_true(piece.part.len <= at_most);
    } while (piece.joins && piece.state != PIECE_FAILED);
    pulled.text[pulled.len] = '\0';
    pulled.state = piece.state;
    return pulled;
}

static void assert_pulls(struct source *source, uint64_t at_most,
                         enum piece_state state, const char *text)
{
    struct pulled pulled = pull(source, at_most);

    assert_string_equal(pulled.text, text);
    assert_int_equal(pulled.state, state);
}

/* --- Chunks --------------------------------------------------------------- */

static const struct {
    const char *what;
    struct line lines[SCRIPT_MAX];
    uint64_t at_most; /* 0: any */
    struct {
        enum piece_state state;
        const char *text; /* NULL: no more is pulled */
    } expected[4];
} cases[] = {
    {"a piece is a chunk, and the last has the end behind it",
     {SAY(MORE, "abc"), SAY(END, "de")},
     0,
     {SAY(MORE, "00000003\r\nabc\r\n"),
      SAY(END, "00000002\r\nde\r\n0\r\n\r\n")}},
    {"a size is hexadecimal",
     {SAY(END, "abcdefghijklmnopqrstuvwxyz")},
     0,
     {SAY(END, "0000001a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n")}},
    {"an empty chunk would be the end",
     {SAY(MORE, ""), SAY(MORE, "a"), SAY(MORE, ""), SAY(END, "b")},
     0,
     {SAY(MORE, ""), SAY(MORE, "00000001\r\na\r\n"), SAY(MORE, ""),
      SAY(END, "00000001\r\nb\r\n0\r\n\r\n")}},
    {"a body may be empty", {SAY(END, "")}, 0, {SAY(END, "0\r\n\r\n")}},
    {"the end may come alone",
     {SAY(MORE, "a"), SAY(END, "")},
     0,
     {SAY(MORE, "00000001\r\na\r\n"), SAY(END, "0\r\n\r\n")}},
    {"there may be nothing until later",
     {SAY(LATER, ""), SAY(LATER, "a"), SAY(END, "")},
     0,
     {SAY(LATER, ""), SAY(LATER, "00000001\r\na\r\n"), SAY(END, "0\r\n\r\n")}},
    {"no chunk is longer than what was asked for",
     {SAY(MORE, "abcd"), SAY(END, "efg")},
     2,
     {SAY(MORE, "00000002\r\nab\r\n"), SAY(MORE, "00000002\r\ncd\r\n"),
      SAY(MORE, "00000002\r\nef\r\n"), SAY(END, "00000001\r\ng\r\n0\r\n\r\n")}},
    {"one byte at a time",
     {SAY(END, "abc")},
     1,
     {SAY(MORE, "00000001\r\na\r\n"), SAY(MORE, "00000001\r\nb\r\n"),
      SAY(END, "00000001\r\nc\r\n0\r\n\r\n")}},
    {"a trailer stands behind the last chunk",
     {SAY(MORE, "ab"),
      {.state = PIECE_END, .text = "c", .trailer = "A: b\r\nC: d\r\n"}},
     0,
     {SAY(MORE, "00000002\r\nab\r\n"),
      SAY(MORE, "00000001\r\nc\r\n0\r\nA: b\r\nC: d\r\n"), SAY(END, "\r\n")}},
    {"or behind no chunk at all",
     {{.state = PIECE_END, .text = "", .trailer = "A: b\r\n"}},
     0,
     {SAY(MORE, "0\r\nA: b\r\n"), SAY(END, "\r\n")}},
    {"a trailer is whole however little is asked for",
     {{.state = PIECE_END, .text = "a", .trailer = "A: b\r\n"}},
     1,
     {SAY(MORE, "00000001\r\na\r\n0\r\nA: b\r\n"), SAY(END, "\r\n")}},
    {"what is in a pipe is a chunk, too",
     {{.state = PIECE_MORE, .pipe = 7}, {.state = PIECE_END, .pipe = 11}},
     0,
     {SAY(MORE, "00000007\r\n#######\r\n"),
      SAY(END, "0000000b\r\n###########\r\n0\r\n\r\n")}},
    {"pieces that join leave together, as chunks of their own",
     {{.state = PIECE_MORE, .text = "a", .joins = true}, SAY(END, "b")},
     0,
     {SAY(END, "00000001\r\na\r\n00000001\r\nb\r\n0\r\n\r\n")}},
    {"a failure is passed on",
     {SAY(MORE, "a"), SAY(FAILED, "")},
     0,
     {SAY(MORE, "00000001\r\na\r\n"), SAY(FAILED, "")}},
};

TEST(pieces_become_chunks)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct source *chunks =
            chunk_source_create(begin_script(cases[i].lines));

        print_message("%s\n", cases[i].what);
        assert_non_null(chunks);
        for (int j = 0; j < 4 && cases[i].expected[j].text; j++)
            assert_pulls(chunks,
                         cases[i].at_most > 0 ? cases[i].at_most : UINT64_MAX,
                         cases[i].expected[j].state, cases[i].expected[j].text);
        assert_int_equal(script.destroyed, 0);
        chunks->destroy(chunks);
        assert_int_equal(script.destroyed, 1);
    }
}

/* The wire tells them apart, but statistics count the body. */
TEST(framing_is_no_part_of_the_body)
{
    static const struct line lines[SCRIPT_MAX] = {
        SAY(MORE, "abc"),
        {.state = PIECE_END, .text = "de", .trailer = "A: b\r\n"}};
    struct source *chunks = chunk_source_create(begin_script(lines));
    struct pulled pulled;

    pulled = pull(chunks, UINT64_MAX);
    assert_int_equal(pulled.len - pulled.framing_len, 3);
    pulled = pull(chunks, UINT64_MAX);
    assert_int_equal(pulled.len - pulled.framing_len, 2);
    chunks->destroy(chunks);
}

TEST(a_failure_behind_bytes_is_one_as_well)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(FAILED, "abc")};
    struct source *chunks = chunk_source_create(begin_script(lines));

    assert_int_equal(pull(chunks, UINT64_MAX).state, PIECE_FAILED);
    chunks->destroy(chunks);
}

TEST(a_chunk_may_be_longer_than_32_bits_can_say)
{
    static const struct line lines[SCRIPT_MAX] = {
        {.state = PIECE_END, .pipe = UINT64_C(0x123456789ab)}};
    struct source *chunks = chunk_source_create(begin_script(lines));
    struct piece piece = chunks->next(chunks, UINT64_MAX);

    assert_int_equal(piece.part.len, 13);
    assert_memory_equal(piece.part.at.memory, "123456789ab\r\n", 13);
    piece = chunks->next(chunks, UINT64_MAX);
    assert_true(piece.part.len == UINT64_C(0x123456789ab));
    chunks->destroy(chunks);
}

TEST(without_memory_for_chunks_their_source_is_given_back)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(END, "a")};

    allocations_left = 0;
    assert_null(chunk_source_create(begin_script(lines)));
    assert_int_equal(script.destroyed, 1);
    assert_int_equal(script.pulls, 0);
}

/* --- Text ----------------------------------------------------------------- */

/* So many pieces of text; each is its number, in so many digits. */
static struct counter {
    struct text_source text;
    int pieces, digits;
    bool ends_alone; /* behind the last piece, without text */
    int fills;
    unsigned destroyed;
} counter;

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    assert_ptr_equal(text, &counter.text);
    assert_int_equal(out->len, 0);
    assert_int_equal(text_source_room(out), BODY_PIECE_BYTES);
    if (counter.fills < counter.pieces)
        buf_printf(out, "%0*d", counter.digits, ++counter.fills);
    else
        counter.fills++;
    return counter.fills < counter.pieces + counter.ends_alone ? PIECE_MORE
                                                               : PIECE_END;
}

static void destroy(struct text_source *text)
{
    assert_ptr_equal(text, &counter.text);
    counter.destroyed++;
}

static struct source *begin_text(int pieces, int digits)
{
    counter = (struct counter){.pieces = pieces, .digits = digits};
    text_source_init(&counter.text, fill, destroy);
    return &counter.text.source;
}

TEST(text_is_written_when_it_is_pulled)
{
    struct source *source = begin_text(2, 3);

    assert_int_equal(counter.fills, 0);
    assert_pulls(source, UINT64_MAX, PIECE_MORE, "001");
    assert_int_equal(counter.fills, 1);
    assert_pulls(source, UINT64_MAX, PIECE_END, "002");
    assert_int_equal(counter.destroyed, 0);
    source->destroy(source);
    assert_int_equal(counter.destroyed, 1);
}

/* And its state is that of the last of it. */
TEST(what_is_written_leaves_in_as_many_pieces_as_are_asked_for)
{
    struct source *source = begin_text(2, 5);

    assert_pulls(source, 2, PIECE_MORE, "00");
    assert_pulls(source, 2, PIECE_MORE, "00");
    assert_pulls(source, 2, PIECE_MORE, "1");
    assert_int_equal(counter.fills, 1);
    assert_pulls(source, 4, PIECE_MORE, "0000");
    assert_int_equal(counter.fills, 2);
    assert_pulls(source, 1, PIECE_END, "2");
    source->destroy(source);
}

TEST(text_may_end_without_a_byte)
{
    struct source *source = begin_text(0, 1);

    assert_pulls(source, 1, PIECE_END, "");
    source->destroy(source);
    source = begin_text(1, 1);
    counter.ends_alone = true;
    assert_pulls(source, 1, PIECE_MORE, "1");
    assert_pulls(source, 1, PIECE_END, "");
    source->destroy(source);
}

static enum piece_state fill_later(struct text_source *text, struct buf *out)
{
    (void)text;
    if (counter.fills++ % 2 == 1)
        buf_put_literal(out, "abc");
    return PIECE_LATER;
}

TEST(there_may_be_no_text_until_later)
{
    struct source *source = begin_text(0, 0);

    counter.text.fill = fill_later;
    assert_pulls(source, 2, PIECE_LATER, "");
    assert_pulls(source, 2, PIECE_MORE, "ab");
    assert_pulls(source, 2, PIECE_LATER, "c");
    assert_pulls(source, 2, PIECE_LATER, "");
    source->destroy(source);
}

static enum piece_state fill_badly(struct text_source *text, struct buf *out)
{
    (void)text;
    buf_put_literal(out, "half of it");
    return PIECE_FAILED;
}

TEST(text_that_fails_is_not_sent)
{
    struct source *source = begin_text(0, 0);

    counter.text.fill = fill_badly;
    assert_pulls(source, UINT64_MAX, PIECE_FAILED, "");
    source->destroy(source);
    assert_int_equal(counter.destroyed, 1);
}

TEST(room_is_made_once_for_all_pieces)
{
    struct source *source = begin_text(3, BODY_PIECE_BYTES - 1);

    for (int i = 0; i < 3; i++) {
        struct piece piece = source->next(source, UINT64_MAX);

        assert_int_equal(piece.part.len, BODY_PIECE_BYTES - 1);
        assert_int_equal(piece.state, i < 2 ? PIECE_MORE : PIECE_END);
    }
    assert_int_equal(allocations, 1);
    source->destroy(source);
}

TEST(a_piece_may_be_longer_up_to_a_ceiling)
{
    struct source *source = begin_text(1, BODY_TEXT_BYTES_MAX - 1);
    struct piece piece = source->next(source, UINT64_MAX);

    assert_int_equal(piece.part.len, BODY_TEXT_BYTES_MAX - 1);
    assert_int_equal(piece.state, PIECE_END);
    source->destroy(source);
    source = begin_text(1, BODY_TEXT_BYTES_MAX);
    assert_pulls(source, UINT64_MAX, PIECE_FAILED, "");
    source->destroy(source);
}

TEST(without_memory_nothing_is_written)
{
    struct source *source = begin_text(1, 1);

    allocations_left = 0;
    assert_pulls(source, UINT64_MAX, PIECE_FAILED, "");
    assert_int_equal(counter.fills, 0);
    source->destroy(source);
    assert_int_equal(counter.destroyed, 1);
}

TEST(room_is_what_a_piece_still_takes)
{
    struct buf out = {.len = 0};

    assert_int_equal(text_source_room(&out), BODY_PIECE_BYTES);
    out.len = BODY_PIECE_BYTES - 1;
    assert_int_equal(text_source_room(&out), 1);
    out.len = BODY_PIECE_BYTES;
    assert_int_equal(text_source_room(&out), 0);
    out.len = BODY_PIECE_BYTES + 1;
    assert_int_equal(text_source_room(&out), 0);
}

/* --- Both ----------------------------------------------------------------- */

TEST(text_may_be_chunked)
{
    struct source *source = chunk_source_create(begin_text(2, 3));

    assert_pulls(source, 2, PIECE_MORE, "00000002\r\n00\r\n");
    assert_pulls(source, 2, PIECE_MORE, "00000001\r\n1\r\n");
    assert_pulls(source, 9, PIECE_END, "00000003\r\n002\r\n0\r\n\r\n");
    source->destroy(source);
    assert_int_equal(counter.destroyed, 1);
}

SUITE(.each_begin = set_up);
