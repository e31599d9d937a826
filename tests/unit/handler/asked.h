/*
 * asked - one exchange: a request given as text, and its answer as text.
 */
#ifndef UNIT_ASKED_H
#define UNIT_ASKED_H

#include "http/http1/http1.h"
#include "unit/handler/sent.h"

extern const struct now now;
extern const struct server_defaults defaults;
extern struct exchange exchange;

/* What every head begins with, behind the status line. */
#define BEGIN                                 \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" \
    "X-Content-Type-Options: nosniff\r\n"

/* The exchange is over, as a connection ends it. */
void leave(void);

/* Reads the request, which has to be one; its answer begins. */
void ask(const char *line, const char *fields);

/* All of the answer, which has no files in it, and is ready; until the next
 * call. */
const char *answer_text(void);

bool has(const char *part);
void assert_has(const char *part);
void assert_has_not(const char *part);

/* Before and after each test. */
int begin_asking(void **state);

int end_asking(void **state);

#endif
