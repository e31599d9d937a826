/*
 * http1_grammar - what a request head may be, said a second time.
 *
 * The grammar of RFC 9112 and the limits of http1.h as regular expressions,
 * written without a look at the code that reads heads a byte at a time. Slow,
 * simple, and of the same opinion: that is what test_http1 checks.
 */
#ifndef UNIT_HTTP1_GRAMMAR_H
#define UNIT_HTTP1_GRAMMAR_H

#include "http/http1/http1.h"

/* How long the head at the beginning of text is; 0: there is none that a
 * server may take. */
size_t grammar_head_bytes(struct bytes text);

#endif
