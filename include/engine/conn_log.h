/*
 * conn_log - logs and counts that connections begin and end.
 *
 * Thread: the worker's of the session.
 */
#ifndef ENGINE_CONN_LOG_H
#define ENGINE_CONN_LOG_H

#include "engine/protocol.h"

void conn_log_open(const struct session *session);
void conn_log_close(const struct session *session);

#endif
