/*
 * host_name - which texts can be the name of a machine (RFC 1123 2.1).
 *
 * Thread: any; values only.
 */
#ifndef BASE_HOST_NAME_H
#define BASE_HOST_NAME_H

#include "base/bytes.h"

enum { HOST_NAME_MAX_BYTES = 253, HOST_NAME_LABEL_MAX_BYTES = 63 };

/* Labels of letters, digits, '-' and, as many networks have it, '_'; perhaps a
 * dot at the end. The last label is not all digits: "1.2.3" and "256.0.0.1" are
 * addresses that somebody mistyped. */
bool host_name_is_valid(struct bytes text);

#endif
