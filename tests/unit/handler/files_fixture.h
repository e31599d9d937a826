/*
 * files_fixture - the handler of files over a temporary root; requests are
 * given as text, answers come back as text.
 */
#ifndef UNIT_FILES_FIXTURE_H
#define UNIT_FILES_FIXTURE_H

#include "handler/static_files.h"

#include "unit/handler/sent.h"
#include "unit/place.h"

enum { LARGE_BYTES = 50000, MODIFIED_S = 784111777 };

#define MODIFIED_TEXT "Sun, 06 Nov 1994 08:49:37 GMT"

extern struct place place;
extern struct file_cache_options cache_options;
extern struct static_files_options options;
extern const struct head_edits *edits; /* of every answer */
extern char large_bytes[LARGE_BYTES];

void remake(void);

/* A file of a known time. */
void write_file(const char *name, const char *text);

int set_up(void **state);

/* No descriptor may be left open. */
int tear_down(void **state);

/* --- Asking -------------------------------------------------------------- */

/* An answer: text is all of it, body where the head has ended. */
struct whole_answer {
    unsigned status; /* when text is empty: refused as no request */
    bool persists;
    uint64_t body_bytes;
    size_t body_len;
    const char *body;
    char text[2 * LARGE_BYTES];
};

extern struct whole_answer answer;

void ask_as(const char *request, bool persists);
void ask(const char *request);

/* A GET with those fields, whole lines. */
void get(const char *target, const char *fields);

unsigned status_of(const char *target);

/* Of the answer's head, which ends where the body begins. */
bool has(const char *part);

void assert_has(const char *part);
void assert_has_not(const char *part);
void assert_body(const char *expected);

/* The value of the ETag field of a path. */
const char *etag_of(const char *target);

#endif
