/*
 * status - reason phrases (RFC 9110 15).
 *
 * Thread: any.
 */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

#include <stdbool.h>

#include "base/bytes.h"

/* Returns the reason phrase of a status, as "Not Found"; "Unknown" for a status
 * that no answer of ours has. */
struct bytes status_reason(unsigned status);
bool status_is_known(unsigned status);

#endif
