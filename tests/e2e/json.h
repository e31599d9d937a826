/*
 * json - whether a text is JSON (RFC 8259), and nothing but that.
 *
 * Thread: the test's.
 */
#ifndef E2E_JSON_H
#define E2E_JSON_H

#include <stddef.h>

/* Strings must be UTF-8. */
void expect_json(const char *text, size_t len);

#endif
