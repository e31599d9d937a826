/*
 * response_fixture - one response to look at, with a source to give it.
 */
#ifndef UNIT_RESPONSE_FIXTURE_H
#define UNIT_RESPONSE_FIXTURE_H

#include "http/http1/http1_frame.h"
#include "unit/http/source_fixture.h"

extern const struct now now;
extern const struct server_defaults defaults;

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

extern struct response response;
extern int releases; /* of the origin */

void borrow(void);
int set_up(void **state);
int tear_down(void **state);
void restart_response(void);

/* As a protocol of that version does before the response is sent. */
void frame(void);

void frame_for_http10(void);

/* All bytes still to send; parts of files count as so many '#'. */
struct bytes left(void);

void assert_left(const char *expected);

/* A response is done with its source when all has been sent, but gives it back
 * only in the end. */
void assert_done(void);

#endif
