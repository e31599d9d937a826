/*
 * sent - what is sent of an answer: a protocol's part, played for the places of
 * this folder. As HTTP/1.1 does, it looks at what is pending, frames the answer
 * when that is there, and pulls its body; nobody is at the other end.
 */
#ifndef UNIT_SENT_H
#define UNIT_SENT_H

#include "http/exchange.h"
#include "http/http1/http1_frame.h"
#include "suite.h"

enum sent_step {
    SENT_FAILED = -1, /* the body cannot go on */
    SENT_ON,          /* more lies in the parts, or comes with another step */
    SENT_LATER        /* nothing before the exchange is woken */
};

/* Whether the answer is there. It is framed then. */
bool sent_look(struct exchange *exchange, const struct now *when);

/* What follows when all parts have been sent, while there is anything. */
enum sent_step sent_step(struct exchange *exchange, const struct now *when);

/* Whether no part comes from a file, or a pipe. */
bool sent_is_memory(const struct response *response);

/* Copies what the parts stand for, and a null behind it. Its length. */
size_t sent_copy(const struct response *response, char *to, size_t room);

/* The same, and it has been sent. */
size_t sent_take(struct response *response, char *to, size_t room);

/* What lies in whole chunks, and a null behind it. Its length. */
size_t sent_unchunk(const char *chunks, char *to);

#endif
