/*
 * screen - puts lines of text that never exceed a window.
 *
 * Lines are cut at the window's width, and lines below its height are dropped.
 * Foreign text is shown as visible ASCII: none of its bytes can move the
 * cursor, change a colour or be taken for an answer of the terminal. The lines
 * can also go to a file or a pipe, to which ncurses cannot write.
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
    unsigned width;  /* columns, at most SCREEN_WIDTH_MAX */
    unsigned height; /* lines; 0 for no limit */
    bool has_styles; /* escape sequences are written */
    bool is_utf8;    /* callers may put characters beyond ASCII */
    /* private */
    unsigned row;
    unsigned column;
};

/* Puts a text of the program: UTF-8, each character one column wide. */
void screen_put(struct screen *screen, const char *text);

/* Puts foreign text. Control bytes and bytes beyond ASCII become \xHH. */
void screen_put_foreign(struct screen *screen, struct bytes text);

/* Puts a text of the program, only ASCII, right-aligned in `columns` columns.
 * Puts nothing if the line has fewer columns left. */
void screen_put_right(struct screen *screen, const char *text,
                      unsigned columns);

/* Puts spaces up to the given column, but at least one space. */
void screen_put_gap(struct screen *screen, unsigned column);

/* Puts the label of a line, dimmed. */
void screen_put_label(struct screen *screen, const char *label);

/* Puts " name VALUE", or nothing if the whole text does not fit, since half a
 * number is a wrong number. `name` gets the style `style`, and may be foreign
 * text. */
void screen_put_fact(struct screen *screen, enum screen_style style,
                     struct bytes name, const char *value);

/* Sets the style of the text that follows, until the line ends. */
void screen_set_style(struct screen *screen, enum screen_style style);

void screen_end_line(struct screen *screen);

/* Returns how many columns the line has left; 0 if the window is full. */
unsigned screen_left(const struct screen *screen);

#endif
