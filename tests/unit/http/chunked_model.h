/*
 * chunked_model - the grammar of RFC 9112 7.1 by descent over a whole buffer:
 * what chunked_next() must come to, however it is fed.
 */
#ifndef UNIT_CHUNKED_MODEL_H
#define UNIT_CHUNKED_MODEL_H

#include <stdlib.h>

#include "http/chunked.h"

enum { WIRE_MAX = 32768 };

struct outcome {
    enum chunked_event event; /* END, BAD, or AGAIN: all used up */
    size_t used;              /* for END */
    size_t body_len;
    char body[WIRE_MAX];
};

struct model {
    const char *at;
    const char *end;
    unsigned extension_left;
    unsigned trailer_left;
    unsigned *left; /* which of them the bytes count for, or NULL */
    enum chunked_event event;
};

static inline bool stop(struct model *model, enum chunked_event event)
{
    model->event = event;
    return false;
}

/* The next byte, 0 to 255; -1: none. */
static inline int peek(const struct model *model)
{
    return model->at < model->end ? (unsigned char)*model->at : -1;
}

static inline bool eat(struct model *model)
{
    if (model->at == model->end)
        return stop(model, CHUNKED_AGAIN);
    if (model->left && (*model->left)-- == 0)
        return stop(model, CHUNKED_BAD);
    model->at++;
    return true;
}

static inline bool expect(struct model *model, char c)
{
    if (model->at < model->end && *model->at != c)
        return stop(model, CHUNKED_BAD);
    return eat(model);
}

static inline bool is_tchar(int c)
{
    return c > 0 && strchr("!#$%&'*+-.^_`|~0123456789"
                           "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                           c);
}

static inline bool is_text(int c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

static inline bool eat_token(struct model *model)
{
    if (peek(model) >= 0 && !is_tchar(peek(model)))
        return stop(model, CHUNKED_BAD);
    do {
        if (!eat(model))
            return false;
    } while (is_tchar(peek(model)));
    return true;
}

static inline bool eat_blanks(struct model *model)
{
    while (peek(model) == ' ' || peek(model) == '\t')
        if (!eat(model))
            return false;
    return true;
}

static inline bool eat_quoted(struct model *model)
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
static inline bool eat_extensions(struct model *model)
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

static inline bool eat_line_end(struct model *model)
{
    return expect(model, '\r') && expect(model, '\n');
}

static inline bool eat_size_line(struct model *model, uint64_t *size_out)
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

static inline bool eat_trailers(struct model *model)
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

static inline void run_model(struct bytes wire, struct outcome *outcome)
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

#endif
