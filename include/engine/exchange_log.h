/*
 * exchange_log - fills in the members of a log entry that only some formats of
 * the access log use.
 *
 * Thread: the worker's of the exchange.
 */
#ifndef ENGINE_EXCHANGE_LOG_H
#define ENGINE_EXCHANGE_LOG_H

#include "http/exchange.h"
#include "observe/log_entry.h"

/* Fills in the members of `entry` for header fields, the request's id, the
 * cache and the upstream server. The caller provides `upstream`, which must
 * last as long as `entry`. */
void exchange_log_describe(const struct exchange *exchange,
                           struct log_entry *entry,
                           struct log_upstream *upstream);

/* Fills in the members of `entry` for the TLS connection. The caller provides
 * `tls`, which must last as long as `entry`. Does nothing for an exchange in
 * clear text. */
void exchange_log_describe_tls(const struct exchange *exchange,
                               struct log_entry *entry, struct log_tls *tls);

/* Writes into `tls` the identity in the client's certificate, if the client has
 * proved one. Called after exchange_log_describe_tls(). */
void exchange_log_describe_client(const struct exchange *exchange,
                                  struct log_tls *tls);

#endif
