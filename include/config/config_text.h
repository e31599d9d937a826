/*
 * config_text - the text of a configuration file, token by token.
 *
 *   word         anything up to a space or one of # " ' = { } ,
 *   "string"     with \" \\ \$, \n and the like, and ${VARIABLE}
 *   'string'     with \' and \\
 *   ${VARIABLE}  of the environment; ${VARIABLE:-what stands for a missing one}
 *
 * each on one line; comments begin with # or //, or lie between slash-star
 * and star-slash. What cannot be read is a fault; its token stands in its
 * place, so that the rest is read too.
 *
 * Thread: the main thread's, which has the environment.
 * Owns:   nothing: values lie in the arena or in the text.
 */
#ifndef CONFIG_CONFIG_TEXT_H
#define CONFIG_CONFIG_TEXT_H

#include "config/faults.h"

enum { CONFIG_MADE_BYTES_MAX = 4 << 20 /* of strings, in all files */ };

enum config_token_kind {
    CONFIG_END,
    CONFIG_STRING, /* or a word, or a variable */
    CONFIG_EQUALS = '=',
    CONFIG_OPEN = '{',
    CONFIG_CLOSE = '}',
    CONFIG_COMMA = ','
};

struct config_token {
    enum config_token_kind kind;
    bool is_bad; /* a string with a fault, which has been told; no value */
    int line;
    struct bytes written; /* as it stands there, without its quotes */
    struct bytes value;   /* of a string: with its escapes and variables read */
};

struct config_text {
    struct config_token next[2]; /* that are taken next */
    const char *at;              /* the rest is private */
    const char *end;
    const char *line_end; /* NULL: not known yet */
    int line;
    struct arena *arena;
    size_t *room;
    struct faults *faults;
};

/* Begins to read text, whose first line is that one. room: how many bytes
 * escapes and variables may still make, of CONFIG_MADE_BYTES_MAX; it
 * shrinks. */
void config_text_open(struct config_text *reading, struct bytes text, int line,
                      struct arena *arena, size_t *room, struct faults *faults);

/* The last is CONFIG_END, again and again. */
struct config_token config_text_take(struct config_text *reading);

#endif
