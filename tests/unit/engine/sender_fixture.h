/*
 * sender_fixture - a row of responses in front of a sender, a socket that takes
 * as much as a test wants it to, and what arrives at its other end.
 *
 * Who includes it links with --wrap=sendmsg,sendfile,send,malloc.
 */
#ifndef UNIT_SENDER_FIXTURE_H
#define UNIT_SENDER_FIXTURE_H

#include "engine/sender.h"

#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"

enum {
    QUANTUM = 4096,
    ROW_MAX = 80,
    GATHERED_MAX = 64,
    RECEIVED_MAX = 65536,
    ENDLESS = 1 << 30
};

/* --- System calls that do less, or fail ---------------------------------- */

extern size_t room; /* what the socket still takes */
extern int failure; /* what sending fails with, 0: it does not */
extern int last_flags;
extern size_t last_bytes; /* that it was to take */
extern unsigned calls;

size_t admit(size_t bytes);

/* --- A row of responses, and who receives them --------------------------- */

extern struct place place;
extern struct sender sender;
extern int file;
extern struct list row;
extern struct exchange exchanges[ROW_MAX];
extern char got[RECEIVED_MAX];
extern size_t got_len;
extern bool is_intact;
extern unsigned intact_calls;
extern const struct origin origin;

int set_up(void **state);
int tear_down(void **state);

/* The response of an exchange that is put at the end of the row. */
struct response *add(int number);

void add_text(int number, const char *text);

extern uint64_t sent;

/* A step, after which what is done leaves the row. */
enum sender_result step(uint64_t budget);

void receive(void);

#endif
