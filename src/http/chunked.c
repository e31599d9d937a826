#include "http/chunked.h"

/*
 * `moves` has one row for each state and one column for each class of byte. A
 * byte without an entry is refused. Only DATA takes more than a byte at a time.
 *
 *   5     ;name  =value  CR LF    hello  CR LF               a chunk
 *   SIZE  NAME   TOKEN   SIZE_LF  DATA   DATA_CR, DATA_LF
 *
 *   0     CR LF                                              the last one
 *   SIZE  SIZE_LF
 *
 *   Name   :value  CR LF                                     a trailer field
 *   FIELD  VALUE   FIELD_LF
 *
 *   CR LF                                                    the end
 *   END_LF
 */
enum state {
    BAD,
    SIZE_START, /* the first digit of a size must follow */
    SIZE,
    /* From here to QUOTED_END: extensions. A GAP is optional white space. */
    SEMICOLON_GAP, /* only ';' may follow */
    NAME_GAP,      /* after ';': a name must follow */
    NAME,
    EQUALS_GAP, /* after a name: '=' or ';' may follow */
    VALUE_GAP,  /* after '=': a value must follow */
    TOKEN,
    QUOTED,
    QUOTED_PAIR, /* after a backslash */
    QUOTED_END,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    /* From here on: the trailer section. */
    LINE, /* a field or the empty line may begin */
    FIELD,
    VALUE,
    FIELD_LF,
    END_LF,
    DONE,
    STATE_COUNT
};

enum byte_class {
    CONTROL, /* never allowed */
    CR,
    LF,
    BLANK, /* SP, HTAB */
    HEX,   /* hexadecimal digits, which a token may have, too */
    TCHAR, /* other bytes that a token may have */
    SEMICOLON,
    EQUALS,
    QUOTE,
    BACKSLASH,
    COLON,
    OTHER, /* the rest of VCHAR, and obs-text */
    CLASS_COUNT
};

/* TOKEN_BYTES() gives the columns of all bytes that a token may have.
 * TEXT_BYTES() gives those of a quoted-pair or a field-value, except '"' and
 * '\\'. */
#define TOKEN_BYTES(next) [HEX] = (next), [TCHAR] = (next)
#define TEXT_BYTES(next)                                       \
    TOKEN_BYTES(next), [BLANK] = (next), [SEMICOLON] = (next), \
                       [EQUALS] = (next), [COLON] = (next), [OTHER] = (next)

/* clang-format off */
static const uint8_t moves[STATE_COUNT][CLASS_COUNT] = {
    [SIZE_START] = {[HEX] = SIZE},
    [SIZE] = {[HEX] = SIZE, [BLANK] = SEMICOLON_GAP, [SEMICOLON] = NAME_GAP,
              [CR] = SIZE_LF},

    [SEMICOLON_GAP] = {[BLANK] = SEMICOLON_GAP, [SEMICOLON] = NAME_GAP},
    [NAME_GAP] = {[BLANK] = NAME_GAP, TOKEN_BYTES(NAME)},
    [NAME] = {TOKEN_BYTES(NAME), [BLANK] = EQUALS_GAP, [EQUALS] = VALUE_GAP,
              [SEMICOLON] = NAME_GAP, [CR] = SIZE_LF},
    [EQUALS_GAP] = {[BLANK] = EQUALS_GAP, [EQUALS] = VALUE_GAP,
                    [SEMICOLON] = NAME_GAP},
    [VALUE_GAP] = {[BLANK] = VALUE_GAP, TOKEN_BYTES(TOKEN), [QUOTE] = QUOTED},
    [TOKEN] = {TOKEN_BYTES(TOKEN), [BLANK] = SEMICOLON_GAP,
               [SEMICOLON] = NAME_GAP, [CR] = SIZE_LF},
    [QUOTED] = {TEXT_BYTES(QUOTED), [BACKSLASH] = QUOTED_PAIR,
                [QUOTE] = QUOTED_END},
    [QUOTED_PAIR] = {TEXT_BYTES(QUOTED), [BACKSLASH] = QUOTED,
                     [QUOTE] = QUOTED},
    [QUOTED_END] = {[BLANK] = SEMICOLON_GAP, [SEMICOLON] = NAME_GAP,
                    [CR] = SIZE_LF},

    [SIZE_LF] = {[LF] = DATA}, /* becomes LINE after the last chunk */
    [DATA_CR] = {[CR] = DATA_LF},
    [DATA_LF] = {[LF] = SIZE_START},

    [LINE] = {TOKEN_BYTES(FIELD), [CR] = END_LF},
    [FIELD] = {TOKEN_BYTES(FIELD), [COLON] = VALUE},
    [VALUE] = {TEXT_BYTES(VALUE), [BACKSLASH] = VALUE, [QUOTE] = VALUE,
               [CR] = FIELD_LF},
    [FIELD_LF] = {[LF] = LINE},
    [END_LF] = {[LF] = DONE},
};
/* clang-format on */

/* Returns the value of a hexadecimal digit; 16 for any other byte. */
static unsigned hex_value(char c)
{
    if (byte_is_digit(c))
        return (unsigned)(c - '0');
    c = byte_lower(c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

static enum byte_class class_of(char c)
{
    unsigned char byte = (unsigned char)c;
    char lower = byte_lower(c);

    switch (c) {
    case '\r':
        return CR;
    case '\n':
        return LF;
    case ' ':
    case '\t':
        return BLANK;
    case ';':
        return SEMICOLON;
    case '=':
        return EQUALS;
    case '"':
        return QUOTE;
    case '\\':
        return BACKSLASH;
    case ':':
        return COLON;
    default:
        if (hex_value(c) < 16)
            return HEX;
        if (byte < ' ' || byte == 0x7f)
            return CONTROL;
        if ((lower >= 'g' && lower <= 'z') || strchr("!#$%&'*+-.^_`|~", c))
            return TCHAR;
        return OTHER;
    }
}

/* Adds a digit to the size. 16 digits are 64 bits, and the highest bit must be
 * 0. */
static bool add_digit(struct chunked *chunked, char digit)
{
    chunked->chunk_left = chunked->chunk_left << 4 | hex_value(digit);
    return ++chunked->size_digits <= 16 && chunked->chunk_left >> 63 == 0;
}

/* Takes one byte of the framing, and returns the state behind it. No byte leads
 * out of the states DONE and BAD. */
static enum state take_byte(struct chunked *chunked, char byte)
{
    enum state state = (enum state)chunked->state;
    enum state next = (enum state)moves[state][class_of(byte)];

    if (next == SIZE && !add_digit(chunked, byte))
        return BAD;
    if (next >= SEMICOLON_GAP && next <= QUOTED_END &&
        ++chunked->extension_bytes > CHUNKED_EXTENSION_BYTES_MAX)
        return BAD;
    if (state >= LINE && ++chunked->trailer_bytes > CHUNKED_TRAILER_BYTES_MAX)
        return BAD;
    if (chunked->trailer &&
        (state == FIELD_LF || (next >= FIELD && next <= FIELD_LF)))
        buf_put(chunked->trailer, (struct bytes){&byte, 1});
    if (next == SIZE_START)
        chunked->size_digits = 0;
    return next == DATA && chunked->chunk_left == 0 ? LINE : next;
}

static struct bytes take_data(struct chunked *chunked, struct bytes *input)
{
    struct bytes data = *input;

    if (data.len > chunked->chunk_left)
        data.len = (size_t)chunked->chunk_left;
    input->data += data.len;
    input->len -= data.len;
    chunked->chunk_left -= data.len;
    if (chunked->chunk_left == 0)
        chunked->state = DATA_CR;
    return data;
}

void chunked_init(struct chunked *chunked)
{
    *chunked = (struct chunked){.state = SIZE_START};
}

enum chunked_event chunked_next(struct chunked *chunked, struct bytes *input,
                                struct bytes *data_out)
{
    while (input->len > 0) {
        if (chunked->state == DATA) {
            *data_out = take_data(chunked, input);
            return CHUNKED_DATA;
        }
        chunked->state = (uint8_t)take_byte(chunked, *input->data);
        if (chunked->state == BAD)
            return CHUNKED_BAD;
        input->data++;
        input->len--;
        if (chunked->state == DONE)
            return CHUNKED_END;
    }
    return CHUNKED_AGAIN;
}
