/*
 * bad_request - answers that say why a request is refused: a line of text for
 * people, or application/problem+json (RFC 9457) for clients that accept it.
 *
 *   There is no Host field. (host-missing)
 *   {"type":"about:blank","title":"Bad Request","status":400,
 *    "detail":"There is no Host field.","reason":"host-missing"}
 *
 * Thread: the worker's; no state.
 */
#ifndef HANDLER_BAD_REQUEST_H
#define HANDLER_BAD_REQUEST_H

#include "http/exchange.h"

/* Returns true if the request's Accept names application/problem+json or
 * application/json, and gives neither text/html nor text/plain a higher
 * weight. */
bool bad_request_wants_problem(const struct request *request);

/* Does what bad_request_wants_problem() does, for the bytes of a head that may
 * be invalid or incomplete. */
bool bad_request_wants_problem_in(struct bytes head);

/* Makes `response` the answer that tells the reason; an earlier response is
 * dropped. With as_problem, the answer is application/problem+json. Without, it
 * is text, which an error page of the operator may replace. */
void bad_request_write(struct response *response, enum reason reason,
                       bool as_problem, const struct server_defaults *defaults);

static inline void bad_request_answer(struct exchange *exchange,
                                      enum reason reason,
                                      const struct server_defaults *defaults)
{
    bad_request_write(&exchange->response, reason,
                      bad_request_wants_problem(&exchange->request), defaults);
}

#endif
