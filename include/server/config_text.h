/*
 * config_text - the text of a configuration file and its tokens.
 *
 * libconfuse's scanner counts the lines of comments twice, drops characters
 * it does not know without a word, and takes what follows an open quote for
 * part of it. So the text is cleaned before: comments become spaces, and what
 * that scanner would misunderstand is a fault.
 *
 *   word      anything up to a space or one of # " ' = { } ,
 *   "string"  with \" \\ \$, \n and the like, and ${VARIABLE}
 *   'string'  with \' and \\
 *
 * both on one line; comments begin with # or //, or lie between slash-star
 * and star-slash.
 *
 * Thread: any; values only.
 * Owns:   nothing.
 */
#ifndef SERVER_CONFIG_TEXT_H
#define SERVER_CONFIG_TEXT_H

#include "server/faults.h"

enum config_token_kind {
    CONFIG_END,
    CONFIG_STRING, /* or a word */
    CONFIG_EQUALS,
    CONFIG_OPEN,
    CONFIG_CLOSE,
    CONFIG_COMMA
};

struct config_token {
    enum config_token_kind kind;
    int line;
    struct bytes text; /* with its quotes */
};

/* From its offset on, text is of another file, or another place of one. */
struct config_piece {
    size_t offset;
    int line; /* 0: it is none, but what ends a row of them */
};

/* Where one reads on in a cleaned text. */
struct config_cursor {
    const char *at;
    const char *end;
    int line;                        /* from 1 */
    const char *begin;               /* of what pieces count from */
    const struct config_piece *next; /* NULL: there are no pieces */
};

/* Spaces for what lies between, line ends excepted. */
void config_text_blank(char *from, const char *to);

/* What stands for a word or string with a fault: no other begins so. */
#define CONFIG_REPLACED '\x01'

/* Cleans text in place, which begins at that line; it keeps its length and its
 * lines. */
void config_text_clean(char *text, size_t len, int line, struct faults *faults);

struct config_token config_token_next(struct config_cursor *cursor);

/* A string without its quotes, or a word; escapes stay as they are. */
struct bytes config_token_inside(const struct config_token *token);

#endif
