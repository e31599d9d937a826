/*
 * http2_request - the text of a head that was gathered, and the request that it
 * is.
 *
 *   http2_head.h --> http2_text_store()  --> http2_request_read()
 *
 * The text is stored by its user, in as many bytes as it has. A request is a
 * view of that text.
 *
 * Thread: any; no state.
 * Owns:   nothing.
 */
#ifndef HTTP_HTTP2_HTTP2_REQUEST_H
#define HTTP_HTTP2_HTTP2_REQUEST_H

#include "http/http2/http2_head.h"

/* http2_text_bytes() returns how many bytes the head's text takes, and
 * http2_text_store() writes the text. Both follow http2_head_end(), unless its
 * verdict was HTTP2_MALFORMED. */
size_t http2_text_bytes(const struct http2_head *head);
void http2_text_store(const struct http2_head *head, char *to);

/* Returns how many fields a stored text has. */
unsigned http2_text_fields(const char *text);

/* Fills in `request` with views of a text that was stored. The caller has set
 * request->fields to room for http2_text_fields(). Returns REASON_NONE, or the
 * reason for refusing the request. */
enum reason http2_request_read(struct request *request, const char *text);

/* Fills in the request's fields alone, for a request that needs them again. */
void http2_request_read_fields(struct request *request, const char *text);

#endif
