/*
 * exchange_log - those facts of an exchange that only some formats of the
 * access log contain.
 *
 * Thread: the worker's of the exchange.
 */
#ifndef ENGINE_EXCHANGE_LOG_H
#define ENGINE_EXCHANGE_LOG_H

#include "http/exchange.h"
#include "observe/log_entry.h"

/* Fills in those members of `entry` that tell of header fields, of the
 * request's id and of the upstream server. The caller provides `upstream`,
 * which must last as long as `entry`. */
void exchange_log_describe(const struct exchange *exchange,
                           struct log_entry *entry,
                           struct log_upstream *upstream);

/* Fills in those members of `entry` that tell of the TLS connection, for
 * formats that contain such fields. The caller provides `tls`, which must last
 * as long as `entry`. */
void exchange_log_describe_tls(const struct exchange *exchange,
                               struct log_entry *entry, struct log_tls *tls);

/* Writes into `tls` the identity that the client has proved, if any. Called
 * after exchange_log_describe_tls(). */
void exchange_log_describe_client(const struct exchange *exchange,
                                  struct log_tls *tls);

#endif
