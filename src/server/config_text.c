#include "server/config_text.h"

#include <stdlib.h>

enum { VARIABLE_BYTES_MAX = 128 }; /* of the name of one that is known */

/* Ends of a word, as libconfuse has them, but for "()+*": there it ends a
 * word without a word, and here it is a fault. */
static bool ends_word(char c)
{
    return c == '\0' || strchr(" #\"'\t\n\r={},", c) != NULL;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

void config_text_blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

/* --- Cleaning ------------------------------------------------------------- */

struct cleaning {
    char *at;
    char *end;
    int line;
    struct faults *faults;
};

static char *line_end(const struct cleaning *cleaning)
{
    size_t left = (size_t)(cleaning->end - cleaning->at);
    char *end = memchr(cleaning->at, '\n', left);

    return end ? end : cleaning->end;
}

static void clean_line_comment(struct cleaning *cleaning)
{
    char *end = line_end(cleaning);

    config_text_blank(cleaning->at, end);
    cleaning->at = end;
}

static void clean_block_comment(struct cleaning *cleaning)
{
    size_t left = (size_t)(cleaning->end - cleaning->at);
    char *end = memmem(cleaning->at + 2, left - 2, "*/", 2);

    if (!end)
        faults_add(cleaning->faults, cleaning->line,
                   "the comment that begins here is not closed");
    end = end ? end + 2 : cleaning->end;
    for (const char *c = cleaning->at; c < end; c++)
        if (*c == '\n')
            cleaning->line++;
    config_text_blank(cleaning->at, end);
    cleaning->at = end;
}

/* What is known to be wrong, for what lies before end. */
static void replace(struct cleaning *cleaning, char *end)
{
    memset(cleaning->at, CONFIG_REPLACED, (size_t)(end - cleaning->at));
    cleaning->at = end;
}

/* Whether there is a value for what lies behind "${": NAME, or NAME:-VALUE
 * for where there is none. */
static bool has_value(const char *at, const char *close)
{
    size_t len = (size_t)(close - at);
    char name[VARIABLE_BYTES_MAX + 1];

    if (memmem(at, len, ":-", 2))
        return true;
    if (len > VARIABLE_BYTES_MAX)
        return false;
    memcpy(name, at, len);
    name[len] = '\0';
    return getenv(name) != NULL;
}

/* From "${": the place behind its '}'; NULL and a fault: there is none before
 * end, or it stands for nothing. */
static char *pass_variable(const struct cleaning *cleaning, char *at,
                           const char *end)
{
    char *close = memchr(at, '}', (size_t)(end - at));

    if (!close || memchr(at, '"', (size_t)(close - at))) {
        faults_add(cleaning->faults, cleaning->line, "'${' without its '}'");
        return NULL;
    }
    if (has_value(at + 2, close))
        return close + 1;
    faults_add(cleaning->faults, cleaning->line,
               "'%.*s' is not set in the environment",
               (int)(close + 1 - at < VARIABLE_BYTES_MAX ? close + 1 - at
                                                         : VARIABLE_BYTES_MAX),
               at);
    return NULL;
}

static bool begins_variable(const char *at, const char *end)
{
    return end - at >= 2 && at[0] == '$' && at[1] == '{';
}

/* The closing quote of the string that begins here; NULL and a fault when
 * there is none, or it cannot be read. */
static char *find_quote(struct cleaning *cleaning, char *end)
{
    char quote = *cleaning->at;
    char *at = cleaning->at + 1;

    while (at < end && *at != quote) {
        if (*at == '\\' && quote == '"' && end - at >= 2 &&
            (is_control(at[1]) || at[1] == 'x' || byte_is_digit(at[1]))) {
            faults_add(cleaning->faults, cleaning->line,
                       "'\\%c' is not understood in a string", at[1]);
            return NULL;
        }
        if (is_control(*at) && (*at != '\r' || at + 1 != end)) {
            faults_add(cleaning->faults, cleaning->line,
                       "byte 0x%02X in a string", (unsigned)*at);
            return NULL;
        }
        if (quote == '"' && begins_variable(at, end)) {
            at = pass_variable(cleaning, at, end);
            if (!at)
                return NULL;
        } else if (*at == '\\' && end - at >= 2 &&
                   (quote == '"' || at[1] == '\'' || at[1] == '\\')) {
            at += 2;
        } else {
            at++;
        }
    }
    if (at < end)
        return at;
    faults_add(cleaning->faults, cleaning->line,
               "the string that begins here is not closed on its line");
    return NULL;
}

static void clean_string(struct cleaning *cleaning)
{
    char *end = line_end(cleaning);
    char *quote = find_quote(cleaning, end);

    if (quote)
        cleaning->at = quote + 1;
    else
        replace(cleaning, end);
}

static void clean_variable(struct cleaning *cleaning)
{
    char *end = line_end(cleaning);
    char *behind = pass_variable(cleaning, cleaning->at, end);

    if (behind)
        cleaning->at = behind;
    else
        replace(cleaning, end);
}

static void clean_addition(struct cleaning *cleaning)
{
    faults_add(cleaning->faults, cleaning->line,
               "'+=' adds to nothing: say the whole list");
    *cleaning->at++ = ' ';
}

static void clean_word(struct cleaning *cleaning)
{
    struct faults *faults = cleaning->faults;
    char *end = cleaning->at;
    bool is_bad = false;

    while (end < cleaning->end && (*end == '\0' || !ends_word(*end))) {
        if (is_control(*end) && !is_bad)
            faults_add(faults, cleaning->line, "byte 0x%02X is no text",
                       (unsigned)*end);
        else if (strchr("()+*", *end) && !is_bad)
            faults_add(faults, cleaning->line, "'%c' must be in quotes", *end);
        is_bad = is_bad || is_control(*end) || strchr("()+*", *end);
        end++;
    }
    if (!is_bad && end[-1] == ';') {
        faults_add(faults, cleaning->line,
                   "';' ends nothing here: leave it out, or quote it");
        is_bad = true;
    } else if (!is_bad && end[-1] == '$' && end < cleaning->end &&
               *end == '{') {
        faults_add(faults, cleaning->line,
                   "'${' within a word: put the whole in quotes");
        end = line_end(cleaning);
        is_bad = true;
    }
    if (is_bad)
        replace(cleaning, end);
    else
        cleaning->at = end;
}

void config_text_clean(char *text, size_t len, int line, struct faults *faults)
{
    struct cleaning cleaning = {
        .at = text, .end = text + len, .line = line, .faults = faults};

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        config_text_blank(text, text + 3); /* an editor's mark of UTF-8 */
    while (cleaning.at < cleaning.end) {
        char *at = cleaning.at;
        char next = cleaning.end - at >= 2 ? at[1] : '\0';

        if (*at == '\n')
            cleaning.line++;
        if (*at == '\r')
            *at = ' ';
        if (*at == '#' || (*at == '/' && next == '/'))
            clean_line_comment(&cleaning);
        else if (*at == '/' && next == '*')
            clean_block_comment(&cleaning);
        else if (*at == '"' || *at == '\'')
            clean_string(&cleaning);
        else if (begins_variable(at, cleaning.end))
            clean_variable(&cleaning);
        else if (*at == '+' && next == '=')
            clean_addition(&cleaning);
        else if (*at != '\0' && ends_word(*at))
            cleaning.at++;
        else
            clean_word(&cleaning);
    }
}

/* --- Tokens --------------------------------------------------------------- */

/* Behind the string, variable or word that begins at the cursor. */
static const char *pass_string(const struct config_cursor *cursor)
{
    const char *at = cursor->at;
    char quote = *at;

    if (begins_variable(at, cursor->end)) {
        while (at < cursor->end && *at != '}')
            at++;
        return at < cursor->end ? at + 1 : at;
    }
    if (quote != '"' && quote != '\'') {
        while (at < cursor->end && !ends_word(*at))
            at++;
        return at;
    }
    at++;
    while (at < cursor->end && *at != quote)
        at += *at == '\\' && cursor->end - at >= 2 &&
                      (quote == '"' || at[1] == '\'' || at[1] == '\\')
                  ? 2
                  : 1;
    return at < cursor->end ? at + 1 : at;
}

static void enter_piece(struct config_cursor *cursor)
{
    while (cursor->next && cursor->next->line != 0 &&
           cursor->at >= cursor->begin + cursor->next->offset)
        cursor->line = (cursor->next++)->line;
}

struct config_token config_token_next(struct config_cursor *cursor)
{
    struct config_token token = {.kind = CONFIG_END};
    const char *begin;

    enter_piece(cursor);
    while (cursor->at < cursor->end && strchr(" \t\n", *cursor->at)) {
        if (*cursor->at++ == '\n')
            cursor->line++;
        enter_piece(cursor);
    }
    token.line = cursor->line;
    begin = cursor->at;
    if (begin < cursor->end) {
        token.kind = *begin == '='   ? CONFIG_EQUALS
                     : *begin == '{' ? CONFIG_OPEN
                     : *begin == '}' ? CONFIG_CLOSE
                     : *begin == ',' ? CONFIG_COMMA
                                     : CONFIG_STRING;
        cursor->at = token.kind == CONFIG_STRING ? pass_string(cursor)
                                                 : begin + 1;
    }
    token.text = bytes_between(begin, cursor->at);
    return token;
}

struct bytes config_token_inside(const struct config_token *token)
{
    struct bytes text = token->text;

    if (text.len >= 2 && (*text.data == '"' || *text.data == '\''))
        text = (struct bytes){text.data + 1, text.len - 2};
    return text;
}
