/*
 * request_fixture - a request whose fields a test adds one by one.
 */
#ifndef UNIT_HTTP_REQUEST_FIXTURE_H
#define UNIT_HTTP_REQUEST_FIXTURE_H

#include "http/request.h"

extern struct request request;

/* A request of that method without fields. */
void request_begin(enum method method);

/* Adds a field: a copy of the value, and right behind it the byte after, which
 * nobody may take for a part of it. */
void request_add(enum field_id id, const char *value, char after);

#endif
