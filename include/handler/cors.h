/*
 * cors - decides which pages of other origins may read a location's answers
 * (the CORS protocol of the Fetch standard). An origin is allowed by its name
 * ("https://app.example:8443"), by a pattern, or by "*", which allows all
 * origins. A pattern's host begins with "*.": it stands for all hosts below a
 * domain, but not for the domain itself.
 *
 * A preflight is always answered with 204. If the answer does not permit the
 * request, the browser refuses to send the request. All other answers get
 * additional fields (response->extra). These say whether the page may read the
 * answer. They also say that the answer depends on Origin, so that caches keep
 * the answers for different origins apart. What an upstream server says of that
 * is dropped.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HANDLER_CORS_H
#define HANDLER_CORS_H

#include "http/exchange.h"

enum {
    CORS_ORIGINS_MAX = 64,
    CORS_ORIGIN_BYTES_MAX = 300, /* with scheme, host of 253 bytes and port */
    CORS_NAMES_MAX = 32,         /* names in each list of methods or fields */
    CORS_AGE_MAX_S = 86400       /* no browser keeps a preflight longer */
};

struct cors_names {
    size_t count;
    struct bytes names[CORS_NAMES_MAX];
};

struct cors {
    bool is_any; /* the origin "*" is allowed */
    bool allows_credentials;
    uint32_t max_age_s; /* 0: Access-Control-Max-Age is not sent */
    size_t origin_count;
    struct cors_origin {
        /* The whole origin, or what stands before its '*'. */
        struct bytes before;
        /* The text behind the '*'. Its data is NULL if there is no '*'. */
        struct bytes after;
    } origins[CORS_ORIGINS_MAX];
    struct cors_names methods; /* allowed methods; empty: GET, HEAD and POST */
    struct cors_names fields;  /* fields that requests may have */
    struct cors_names exposed; /* fields of answers that pages may see */
    size_t tail_len;
    char tail[4096]; /* private: text sent behind an allowed origin */
};

/* These functions add to an object that was zeroed at first. They return NULL,
 * or what is wrong: a message that the caller prints behind `text`. */
MUST_USE const char *cors_add_origin(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_method(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_field(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_exposed(struct cors *cors, struct bytes text);

/* Must be called once, after everything was added. The origin "*" is refused if
 * credentials are allowed, since browsers do not accept both. Returns NULL, or
 * what is wrong: a message that the caller prints behind "cors". */
MUST_USE const char *cors_finish(struct cors *cors);

/* Answers a preflight. Returns false if the request is no preflight. */
MUST_USE bool cors_answer_preflight(const struct cors *cors,
                                    struct exchange *exchange,
                                    const struct server_defaults *defaults);

/* Adds the CORS fields to the response of a request that is no preflight. Must
 * be called before the request is answered. The fields borrow the request's
 * Origin. */
void cors_describe(const struct cors *cors, const struct request *request,
                   struct response *response);

#endif
