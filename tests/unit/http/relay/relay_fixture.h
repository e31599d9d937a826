/*
 * relay_fixture - requests of a client at 192.0.2.1, which are parsed and then
 * passed on.
 */
#ifndef UNIT_HTTP_RELAY_RELAY_FIXTURE_H
#define UNIT_HTTP_RELAY_RELAY_FIXTURE_H

#include "http/relay/relay.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define GET_WITH(fields) "GET / HTTP/1.1\r\nHost: a\r\n" fields "\r\n"
#define POST_WITH(fields) "POST / HTTP/1.1\r\nHost: a\r\n" fields "\r\n"

/* What every test may change. */
extern struct relay relay;
extern struct relay_from from;
extern struct address peer;
extern struct cidr block; /* of proxies that are believed */

/* A suite's each_begin: all of these as they usually are. */
int set_up(void **state);

/* Proxies of the block are believed what they say so. */
void believe_in(enum forwarded_field field);

extern struct request request; /* what was parsed last */
extern struct buf out;         /* and what has come of it, in storage */
extern char storage[RELAY_HEAD_BYTES_MAX];

/* Fails unless the text is a request. */
void parse(struct bytes text);

/* Parses the text, and passes it on. */
enum relay_verdict relay_text(struct bytes text);

/* What goes on, as text; what always stands at its end is left out. */
const char *relayed(const char *text);

void assert_goes_on(const char *text, const char *expected);

#endif
