/*
 * cors - decides which pages of other origins may read a location's answers
 * (the CORS protocol of the Fetch standard).
 *
 * An origin is allowed by name ("https://app.example:8443"), with '*' before a
 * domain's dot (all hosts below the domain, not the domain itself), or as "*".
 *
 * A preflight is always answered with 204: if the answer does not permit the
 * request, the browser refuses it. All other answers say in additional fields
 * (response->extra) whether the page may read them, and that this depends on
 * Origin, so that caches keep them apart.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HANDLER_CORS_H
#define HANDLER_CORS_H

#include "http/exchange.h"

enum {
    CORS_ORIGINS_MAX = 64,
    CORS_ORIGIN_BYTES_MAX = 300, /* scheme, host of 253 bytes, port */
    CORS_NAMES_MAX = 32,         /* methods, and fields */
    CORS_AGE_MAX_S = 86400       /* browsers keep none longer */
};

struct cors_names {
    size_t count;
    struct bytes names[CORS_NAMES_MAX];
};

struct cors {
    bool is_any; /* "*" */
    bool allows_credentials;
    uint32_t max_age_s; /* 0: not sent */
    size_t origin_count;
    struct cors_origin {
        /* The whole origin, or what stands before its '*'. */
        struct bytes before;
        /* What stands behind the '*'; NULL: there is no '*'. */
        struct bytes after;
    } origins[CORS_ORIGINS_MAX];
    struct cors_names methods; /* empty: GET, HEAD, POST */
    struct cors_names fields;  /* fields that requests may have */
    struct cors_names exposed; /* fields of answers that pages may see */
    size_t tail_len;
    char tail[4096]; /* private: fields that follow an allowed origin */
};

/* Each adds to an object that was zeroed at first. Returns NULL, or what is
 * wrong with text, to be put behind it. */
MUST_USE const char *cors_add_origin(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_method(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_field(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_exposed(struct cors *cors, struct bytes text);

/* To be called once after all was added. Returns NULL, or what is wrong with
 * the whole, to be put behind "cors". Refuses "*" with credentials, which
 * browsers do not accept. */
MUST_USE const char *cors_finish(struct cors *cors);

/* Answers a preflight. False: the request is not one. */
MUST_USE bool cors_answer_preflight(const struct cors *cors,
                                    struct exchange *exchange,
                                    const struct server_defaults *defaults);

/* Adds the fields for a response to any other request, before it is answered.
 * Origin is borrowed from the request. */
void cors_describe(const struct cors *cors, const struct request *request,
                   struct response *response);

#endif
