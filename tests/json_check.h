/*
 * json_check - whether a text is JSON (RFC 8259) and valid UTF-8, strictly:
 * one value, no control in a string, no lone surrogate, no number but as the
 * grammar has it; and what stands in it where. Calls of libc stay short: under
 * sanitizers each may look at all the rest of the text.
 */
#ifndef TESTS_JSON_CHECK_H
#define TESTS_JSON_CHECK_H

#include <stdbool.h>

#include "base/bytes.h"

bool json_is_valid(const char *text);
bool json_is_valid_bytes(struct bytes text);

/* The value at a path of members and of numbers of elements in valid JSON,
 * "slowest.0.target"; data is NULL when there is none. */
struct bytes json_at(struct bytes json, const char *path);

#endif
