/*
 * session_log - what is logged and counted of an exchange that has come to its
 * end, whatever protocol it came by.
 *
 * Thread: the worker's of the session.
 */
#ifndef ENGINE_SESSION_LOG_H
#define ENGINE_SESSION_LOG_H

#include "engine/protocol.h"

/* Logs and counts an exchange, sent whole or not. */
void session_log_exchange(const struct session *session,
                          const struct exchange *exchange);
void session_count_exchange(const struct session *session,
                            const struct exchange *exchange);

/* Tells the operator why a request was refused, if that is wanted. */
void session_tell_refusal(const struct session *session,
                          const struct exchange *exchange);

/* Writes Server-Timing of an answer that has not begun. */
void session_time_exchange(const struct session *session,
                           struct exchange *exchange, uint64_t now_ns);

#endif
