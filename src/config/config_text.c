#include "config/config_text.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"

enum {
    VARIABLE_BYTES_MAX = 128, /* bytes of a variable's name */
    USUAL_BYTES = 256         /* most values fit; larger ones are allocated */
};

static bool ends_word(char c)
{
    return c != '\0' && strchr(" #\"'\t\n\r={},", c);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* Finds the end of the line, and remembers it, so that a long line with many
 * strings is searched only once. */
static const char *find_line_end(struct config_text *reading)
{
    size_t left = (size_t)(reading->end - reading->at);

    if (!reading->line_end || reading->at > reading->line_end) {
        reading->line_end = left > 0 ? memchr(reading->at, '\n', left) : NULL;
        if (!reading->line_end)
            reading->line_end = reading->end;
    }
    return reading->line_end;
}

/* --- Blanks and comments -------------------------------------------------- */

static void skip_block_comment(struct config_text *reading)
{
    const char *begin = reading->at + 2;
    const char *end = memmem(begin, (size_t)(reading->end - begin), "*/", 2);

    if (!end)
        faults_add(reading->faults, reading->line,
                   "the comment that begins here is not closed");
    end = end ? end + 2 : reading->end;
    for (; reading->at < end; reading->at++)
        reading->line += *reading->at == '\n';
}

static void skip_blanks(struct config_text *reading)
{
    while (reading->at < reading->end) {
        const char *at = reading->at;
        char next = reading->end - at >= 2 ? at[1] : '\0';

        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
            reading->line += *at == '\n';
            reading->at++;
        } else if (*at == '#' || (*at == '/' && next == '/')) {
            reading->at = find_line_end(reading);
        } else if (*at == '/' && next == '*') {
            skip_block_comment(reading);
        } else {
            return;
        }
    }
}

/* --- Strings -------------------------------------------------------------- */

/* Returns the value of "NAME" or "NAME:-PRESET". The result's `data` is NULL if
 * the variable is missing and there is no preset. */
static struct bytes find_variable(struct bytes text)
{
    const char *preset = memmem(text.data, text.len, ":-", 2);
    const char *end = text.data + text.len;
    struct bytes name = bytes_between(text.data, preset ? preset : end);
    char copy[VARIABLE_BYTES_MAX + 1] = "";
    const char *value;

    if (name.len <= VARIABLE_BYTES_MAX)
        memcpy(copy, name.data, name.len);
    value = getenv(copy);
    if (value)
        return bytes_of(value);
    return preset ? bytes_between(preset + 2, end) : (struct bytes){0};
}

/* Each function below reads a piece of text that begins at `at` and ends before
 * `end`, and appends its value to `out`. It returns the position behind the
 * piece, or NULL after adding a fault. */

static const char *read_variable(const struct config_text *reading,
                                 const char *at, const char *end,
                                 struct buf *out)
{
    const char *close = memchr(at, '}', (size_t)(end - at));
    struct bytes value;
    int shown;

    if (!close || memchr(at, '"', (size_t)(close - at))) {
        faults_add(reading->faults, reading->line, "'${' without its '}'");
        return NULL;
    }
    for (const char *c = at; c < close; c++)
        if (is_control(*c)) {
            faults_add(reading->faults, reading->line,
                       "byte 0x%02X in a variable", (unsigned)*c);
            return NULL;
        }
    value = find_variable(bytes_between(at + 2, close));
    if (!value.data) {
        shown = close - at < VARIABLE_BYTES_MAX ? (int)(close + 1 - at)
                                                : VARIABLE_BYTES_MAX;
        faults_add(reading->faults, reading->line,
                   "'%.*s' is not set in the environment", shown, at);
        return NULL;
    }
    buf_put(out, value);
    return close + 1;
}

static bool begins_variable(const char *at, const char *end)
{
    return end - at >= 2 && at[0] == '$' && at[1] == '{';
}

/* Returns the character that \c stands for in double quotes. */
static char unescape(char c)
{
    static const char letters[] = "abefnrtv";
    static const char meanings[] = "\a\b\033\f\n\r\t\v";
    const char *letter = strchr(letters, c);

    return letter ? meanings[letter - letters] : c;
}

/* Reads one character, escape or variable in quotes. */
static const char *read_piece(const struct config_text *reading, char quote,
                              const char *at, const char *end, struct buf *out)
{
    char next = end - at >= 2 ? at[1] : ' ';
    bool is_escape = *at == '\\' && end - at >= 2 &&
                     (quote == '"' || next == '\'' || next == '\\');

    if (is_escape && quote == '"' &&
        (is_control(next) || next == 'x' || byte_is_digit(next))) {
        faults_add(reading->faults, reading->line,
                   "'\\%c' is not understood in a string", next);
        return NULL;
    }
    if (is_control(*at) && (*at != '\r' || at + 1 != end)) {
        faults_add(reading->faults, reading->line, "byte 0x%02X in a string",
                   (unsigned)*at);
        return NULL;
    }
    if (quote == '"' && begins_variable(at, end))
        return read_variable(reading, at, end, out);
    next = is_escape ? unescape(next) : *at;
    buf_put(out, (struct bytes){&next, 1});
    return at + 1 + is_escape;
}

static const char *read_quoted(const struct config_text *reading,
                               const char *end, struct buf *out)
{
    char quote = *reading->at;
    const char *at = reading->at + 1;

    while (at && at < end && *at != quote)
        at = read_piece(reading, quote, at, end, out);
    if (at == end)
        faults_add(reading->faults, reading->line,
                   "the string that begins here is not closed on its line");
    return at && at < end ? at + 1 : NULL;
}

/* Sets the token's value. Returns false, after adding a fault, if the value is
 * too long or there is no memory. */
static bool keep_value(const struct config_text *reading,
                       struct config_token *token, const struct buf *out)
{
    struct bytes value = buf_bytes(out);
    const char *kept;

    assert(value.data); /* never NULL, since `out` began with `storage` */
    if (!out->failed && bytes_eq(value, token->written)) {
        token->value = token->written;
        return true;
    }
    if (out->failed || value.len > *reading->room) {
        faults_add(reading->faults, reading->line,
                   "variables and escapes make more than %d bytes",
                   CONFIG_MADE_BYTES_MAX);
        return false;
    }
    kept = arena_text(reading->arena, value);
    if (!kept) {
        faults_add(reading->faults, reading->line, "out of memory");
        return false;
    }
    token->value = (struct bytes){kept, value.len};
    *reading->room -= value.len;
    return true;
}

/* Reads a string or variable. After a fault, the rest of the line is
 * skipped. */
static void read_string(struct config_text *reading, struct config_token *token)
{
    const char *begin = reading->at;
    const char *end = find_line_end(reading);
    bool is_quoted = *begin != '$';
    char storage[USUAL_BYTES];
    struct buf out;
    const char *behind;

    /* A value that equals its written form does not count against the room. */
    buf_init(&out, storage, sizeof(storage),
             *reading->room + (size_t)(end - begin));
    behind = is_quoted ? read_quoted(reading, end, &out)
                       : read_variable(reading, begin, end, &out);
    reading->at = behind ? behind : end;
    token->written = behind
                         ? bytes_between(begin + is_quoted, behind - is_quoted)
                         : bytes_between(begin, end);
    token->is_bad = !behind || !keep_value(reading, token, &out);
    buf_fini(&out);
}

/* --- Words ---------------------------------------------------------------- */

static void read_word(struct config_text *reading, struct config_token *token)
{
    const char *begin = reading->at;
    struct faults *faults = reading->faults;
    const char *odd = NULL;
    const char *at = begin;

    for (; at < reading->end && !ends_word(*at); at++)
        if (!odd && (is_control(*at) || strchr("()+*", *at)))
            odd = at;
    token->is_bad = true;
    if (odd && is_control(*odd)) {
        faults_add(faults, reading->line, "byte 0x%02X is no text",
                   (unsigned)*odd);
    } else if (odd) {
        faults_add(faults, reading->line, "'%c' must be in quotes", *odd);
    } else if (at[-1] == ';') {
        faults_add(faults, reading->line,
                   "';' ends nothing here: leave it out, or quote it");
    } else if (begins_variable(at - 1, reading->end)) {
        faults_add(faults, reading->line,
                   "'${' within a word: put the whole in quotes");
        at = find_line_end(reading);
    } else {
        token->is_bad = false;
    }
    reading->at = at;
    token->written = token->value = bytes_between(begin, at);
}

/* --- Tokens --------------------------------------------------------------- */

static struct config_token read_token(struct config_text *reading)
{
    struct config_token token = {.kind = CONFIG_END};
    const char *at;

    skip_blanks(reading);
    token.line = reading->line;
    at = reading->at;
    if (at == reading->end)
        return token;
    if (*at == '+' && reading->end - at >= 2 && at[1] == '=') {
        faults_add(reading->faults, reading->line,
                   "'+=' adds to nothing: say the whole list");
        at = ++reading->at;
    }
    token.kind = CONFIG_STRING;
    if (*at == '"' || *at == '\'' || begins_variable(at, reading->end)) {
        read_string(reading, &token);
    } else if (*at == '=' || *at == '{' || *at == '}' || *at == ',') {
        token.kind = (enum config_token_kind)at[0];
        token.written = (struct bytes){at, 1};
        reading->at++;
    } else {
        read_word(reading, &token);
    }
    return token;
}

struct config_token config_text_take(struct config_text *reading)
{
    struct config_token token = reading->next[0];

    reading->next[0] = reading->next[1];
    reading->next[1] = read_token(reading);
    return token;
}

void config_text_open(struct config_text *reading, struct bytes text, int line,
                      struct arena *arena, size_t *room, struct faults *faults)
{
    *reading = (struct config_text){.at = text.data,
                                    .end = text.data + text.len,
                                    .line = line,
                                    .arena = arena,
                                    .room = room,
                                    .faults = faults};
    if (text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
        reading->at += 3; /* skips the byte order mark of UTF-8 */
    reading->next[0] = read_token(reading);
    reading->next[1] = read_token(reading);
}
