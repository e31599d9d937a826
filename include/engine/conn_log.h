/*
 * conn_log - logs and counts the beginning and the end of connections.
 *
 * Thread: the worker's of the session.
 */
#ifndef ENGINE_CONN_LOG_H
#define ENGINE_CONN_LOG_H

#include "engine/protocol.h"

void conn_log_open(const struct session *session);
void conn_log_close(const struct session *session);

#endif
