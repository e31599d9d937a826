/*
 * config_text - splits the text of a configuration file into tokens:
 *
 *   word         anything up to a space or one of # " ' = { } ,
 *   "string"     with \" \\ \$, \n and the like, and ${VARIABLE}
 *   'string'     with \' and \\
 *   ${VARIABLE}  from the environment; ${VARIABLE:-default if it is missing}
 *
 * Each token lies on one line. Comments begin with # or //, or lie between
 * slash-star and star-slash. An invalid token is a fault; it is still returned,
 * marked as bad, so that the rest is read, too.
 *
 * Thread: the main thread's, since it reads the environment.
 * Owns:   nothing: values lie in the arena or in the text.
 */
#ifndef CONFIG_CONFIG_TEXT_H
#define CONFIG_CONFIG_TEXT_H

#include "config/faults.h"

enum { CONFIG_MADE_BYTES_MAX = 4 << 20 /* bytes of values with escapes */ };

enum config_token_kind {
    CONFIG_END,
    CONFIG_STRING, /* a string, word or variable */
    CONFIG_EQUALS = '=',
    CONFIG_OPEN = '{',
    CONFIG_CLOSE = '}',
    CONFIG_COMMA = ','
};

struct config_token {
    enum config_token_kind kind;
    bool is_bad; /* the token is invalid, reported, and has no value */
    int line;
    struct bytes written; /* the token as in the file, without quotes */
    struct bytes value;   /* a string with escapes and variables replaced */
};

struct config_text {
    struct config_token next[2]; /* the next two tokens */
    const char *at;              /* private, like all fields below */
    const char *end;
    const char *line_end; /* NULL: not searched yet */
    int line;
    struct arena *arena;
    size_t *room;
    struct faults *faults;
};

/* Begins to read `text`, whose first line has the number `line`. A string with
 * escapes or variables is rewritten in new memory; *room is the number of bytes
 * left for such strings, and is reduced by each of them. */
void config_text_open(struct config_text *reading, struct bytes text, int line,
                      struct arena *arena, size_t *room, struct faults *faults);

/* Returns the next token, and moves past it. At the end, each call returns
 * CONFIG_END. */
struct config_token config_text_take(struct config_text *reading);

#endif
