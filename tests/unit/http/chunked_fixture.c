#include "unit/http/chunked_fixture.h"

/* --- The model ------------------------------------------------------------ */

struct model {
    const char *at;
    const char *end;
    unsigned extension_left;
    unsigned trailer_left;
    unsigned *left; /* which of them the bytes count for, or NULL */
    enum chunked_event event;
};

static bool stop(struct model *model, enum chunked_event event)
{
    model->event = event;
    return false;
}

/* The next byte, 0 to 255; -1: none. */
static int peek(const struct model *model)
{
    return model->at < model->end ? (unsigned char)*model->at : -1;
}

static bool eat(struct model *model)
{
    if (model->at == model->end)
        return stop(model, CHUNKED_AGAIN);
    if (model->left && (*model->left)-- == 0)
        return stop(model, CHUNKED_BAD);
    model->at++;
    return true;
}

static bool expect(struct model *model, char c)
{
    if (model->at < model->end && *model->at != c)
        return stop(model, CHUNKED_BAD);
    return eat(model);
}

static bool is_tchar(int c)
{
    return c > 0 && strchr("!#$%&'*+-.^_`|~0123456789"
                           "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                           c);
}

static bool is_text(int c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

static bool eat_token(struct model *model)
{
    if (peek(model) >= 0 && !is_tchar(peek(model)))
        return stop(model, CHUNKED_BAD);
    do {
        if (!eat(model))
            return false;
    } while (is_tchar(peek(model)));
    return true;
}

static bool eat_blanks(struct model *model)
{
    while (peek(model) == ' ' || peek(model) == '\t')
        if (!eat(model))
            return false;
    return true;
}

static bool eat_quoted(struct model *model)
{
    if (!expect(model, '"'))
        return false;
    while (peek(model) != '"') {
        if (peek(model) == '\\' && !eat(model))
            return false;
        if (peek(model) >= 0 && !is_text(peek(model)))
            return stop(model, CHUNKED_BAD);
        if (!eat(model))
            return false;
    }
    return eat(model);
}

/* *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ) */
static bool eat_extensions(struct model *model)
{
    while (peek(model) >= 0 && strchr("; \t", peek(model)) && peek(model)) {
        if (!eat_blanks(model) || !expect(model, ';') || !eat_blanks(model) ||
            !eat_token(model))
            return false;
        if (peek(model) == ' ' || peek(model) == '\t') {
            if (!eat_blanks(model))
                return false;
            if (peek(model) < 0)
                return stop(model, CHUNKED_AGAIN);
            if (peek(model) != '=' && peek(model) != ';')
                return stop(model, CHUNKED_BAD);
        }
        if (peek(model) != '=')
            continue;
        if (!eat(model) || !eat_blanks(model))
            return false;
        if (!(peek(model) == '"' ? eat_quoted(model) : eat_token(model)))
            return false;
    }
    return true;
}

static bool eat_line_end(struct model *model)
{
    return expect(model, '\r') && expect(model, '\n');
}

static bool eat_size_line(struct model *model, uint64_t *size_out)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    char text[17] = "";
    size_t len = 0;

    while (model->at < model->end && *model->at != '\0' &&
           strchr(digits, *model->at)) {
        if (len == 16)
            return stop(model, CHUNKED_BAD);
        text[len++] = *model->at++;
    }
    *size_out = strtoull(text, NULL, 16);
    if (*size_out > INT64_MAX)
        return stop(model, CHUNKED_BAD);
    if (peek(model) < 0)
        return stop(model, CHUNKED_AGAIN);
    if (len == 0)
        return stop(model, CHUNKED_BAD);
    model->left = &model->extension_left;
    if (!eat_extensions(model))
        return false;
    model->left = NULL;
    return eat_line_end(model);
}

static bool eat_trailers(struct model *model)
{
    model->left = &model->trailer_left;
    while (peek(model) != '\r') {
        if (!eat_token(model) || !expect(model, ':'))
            return false;
        while (is_text(peek(model)))
            if (!eat(model))
                return false;
        if (!eat_line_end(model))
            return false;
    }
    return eat_line_end(model) && !stop(model, CHUNKED_END);
}

void run_model(struct bytes wire, struct outcome *outcome)
{
    struct model model = {.at = wire.data,
                          .end = wire.data + wire.len,
                          .extension_left = CHUNKED_EXTENSION_BYTES_MAX,
                          .trailer_left = CHUNKED_TRAILER_BYTES_MAX};
    uint64_t size;

    outcome->body_len = 0;
    for (;;) {
        if (!eat_size_line(&model, &size))
            break;
        if (size == 0) {
            eat_trailers(&model);
            break;
        }
        while (size > 0 && model.at < model.end) {
            outcome->body[outcome->body_len++] = *model.at++;
            size--;
        }
        if (size > 0) {
            model.event = CHUNKED_AGAIN;
            break;
        }
        if (!eat_line_end(&model))
            break;
    }
    outcome->event = model.event;
    outcome->used = (size_t)(model.at - wire.data);
}

/* --- Decoding ------------------------------------------------------------- */

/* Feeds one input that lies in memory of exactly its size. */
static enum chunked_event feed(struct chunked *chunked, struct bytes piece,
                               struct outcome *outcome)
{
    char *copy = malloc(piece.len + 1);
    struct bytes input = {copy + 1, piece.len};
    struct bytes data;
    enum chunked_event event;

    if (piece.len > 0)
        memcpy(copy + 1, piece.data, piece.len);
    while ((event = chunked_next(chunked, &input, &data)) == CHUNKED_DATA) {
        assert_true(data.len > 0);
        assert_true(data.data > copy && data.data + data.len == input.data);
        memcpy(outcome->body + outcome->body_len, data.data, data.len);
        outcome->body_len += data.len;
    }
    assert_true(event != CHUNKED_AGAIN || input.len == 0);
    if (event == CHUNKED_END)
        outcome->used += piece.len - input.len;
    else
        outcome->used += piece.len;
    free(copy);
    return event;
}

void decode(struct bytes wire, size_t first, size_t step,
            struct outcome *outcome)
{
    struct chunked chunked;
    size_t len = first < wire.len ? first : wire.len;

    chunked_init(&chunked);
    outcome->used = outcome->body_len = 0;
    for (;;) {
        outcome->event = feed(&chunked, (struct bytes){wire.data, len},
                              outcome);
        wire.data += len;
        wire.len -= len;
        if (outcome->event != CHUNKED_AGAIN || wire.len == 0)
            return;
        len = step > 0 ? step : draw(20);
        if (len > wire.len)
            len = wire.len;
    }
}

void assert_same(struct bytes wire, const struct outcome *outcome,
                 const struct outcome *expected)
{
    if (outcome->event != expected->event ||
        (outcome->event == CHUNKED_END && outcome->used != expected->used) ||
        outcome->body_len != expected->body_len ||
        memcmp(outcome->body, expected->body, expected->body_len) != 0) {
        print_error("%.*s\n", (int)wire.len, wire.data);
        fail_msg("event %d after %zu bytes, body of %zu; "
                 "expected %d after %zu, body of %zu",
                 outcome->event, outcome->used, outcome->body_len,
                 expected->event, expected->used, expected->body_len);
    }
}

void check(struct bytes wire, const struct outcome *expected)
{
    static struct outcome outcome;

    for (size_t split = 0; split <= wire.len; split++) {
        decode(wire, split, WIRE_MAX, &outcome);
        assert_same(wire, &outcome, expected);
    }
    decode(wire, 1, 1, &outcome);
    assert_same(wire, &outcome, expected);
}

/* --- Bodies --------------------------------------------------------------- */

char wire_text[WIRE_MAX];

void append(size_t *len, const char *text)
{
    *len += (size_t)snprintf(wire_text + *len, sizeof(wire_text) - *len, "%s",
                             text);
}
