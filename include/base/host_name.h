/*
 * host_name - checks whether a text can be the name of a machine (RFC 1123
 * 2.1).
 *
 * Thread: any; values only.
 */
#ifndef BASE_HOST_NAME_H
#define BASE_HOST_NAME_H

#include "base/bytes.h"

enum { HOST_NAME_MAX_BYTES = 253, HOST_NAME_LABEL_MAX_BYTES = 63 };

/* A valid name has labels of letters, digits, '-' and '_' (which many networks
 * use), and may end in a dot. Its last label must not be all digits, since
 * "1.2.3" and "256.0.0.1" are mistyped addresses. */
bool host_name_is_valid(struct bytes text);

#endif
