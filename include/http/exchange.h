/*
 * exchange - one request and its response, from the first byte read to the
 * last byte sent.
 *
 * Thread: the worker of its connection.
 * Owns:   the response. The request's views point into the connection's
 *         input buffer, which stays until the exchange is done.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "base/list.h"
#include "http/request.h"
#include "http/response.h"

struct exchange {
    struct list link; /* in the connection's row, in order of arrival */
    struct response response;
    struct request request;
};

#endif
