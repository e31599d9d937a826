/*
 * screen - lines of text that never leave a window.
 *
 * What is put is cut at the width, line by line, and at the height. Text of
 * others comes out as visible ASCII, whatever it holds: no byte of it can
 * move the cursor, change a colour or be taken for an answer of the terminal.
 * The same lines go to a file or a pipe, which ncurses cannot write to.
 *
 * Thread: the owner's.
 * Owns:   nothing; the buffer is borrowed.
 */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include "base/buf.h"

enum { SCREEN_WIDTH_MAX = 1000, SCREEN_LABEL_COLUMNS = 12 };

enum screen_style {
    SCREEN_PLAIN,
    SCREEN_BOLD,
    SCREEN_DIM,
    SCREEN_GOOD,
    SCREEN_WARN,
    SCREEN_BAD
};

struct screen {
    struct buf *out;
    unsigned width;  /* at most SCREEN_WIDTH_MAX */
    unsigned height; /* 0: any */
    bool has_styles; /* escape sequences are written */
    bool is_utf8;    /* for who puts other than ASCII */
    /* private */
    unsigned row;
    unsigned column;
};

/* Our own text: UTF-8 of which each character takes one column. */
void screen_put(struct screen *screen, const char *text);

/* Anybody's text; control bytes and what is beyond ASCII as \xHH. */
void screen_put_foreign(struct screen *screen, struct bytes text);

/* Puts text, our own ASCII, at the right end of so many columns; nothing when
 * so many are not left. */
void screen_put_right(struct screen *screen, const char *text,
                      unsigned columns);

/* Goes on at the given column, if it has not been passed; a space at least. */
void screen_put_gap(struct screen *screen, unsigned column);

/* What a line begins with, in soft letters. */
void screen_put_label(struct screen *screen, const char *label);

/* "  name VALUE", the name in that style and anybody's; all of it or nothing,
 * since half a number is a wrong one. */
void screen_put_fact(struct screen *screen, enum screen_style style,
                     struct bytes name, const char *value);

/* Sets the style of what follows, up to the end of the line. */
void screen_set_style(struct screen *screen, enum screen_style style);

void screen_end_line(struct screen *screen);

/* How many more columns the line has; 0 when the window is full. */
unsigned screen_left(const struct screen *screen);

#endif
