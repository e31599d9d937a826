/*
 * session_log - logs and counts exchanges that have ended, of all protocols
 * alike.
 *
 * Thread: the worker's of the session.
 */
#ifndef ENGINE_SESSION_LOG_H
#define ENGINE_SESSION_LOG_H

#include "engine/protocol.h"

/* session_log_exchange() logs an exchange that has ended, sent whole or not;
 * session_count_exchange() counts it in the statistics. */
void session_log_exchange(const struct session *session,
                          const struct exchange *exchange);
void session_count_exchange(const struct session *session,
                            const struct exchange *exchange);

/* Logs on standard error why a request was refused, but not more often than a
 * limit allows. */
void session_tell_refusal(const struct session *session,
                          const struct exchange *exchange);

/* Sets the Server-Timing field of an answer whose sending has not begun. */
void session_time_exchange(const struct session *session,
                           struct exchange *exchange, uint64_t now_ns);

#endif
