/*
 * cors - which pages of other origins may read the answers of a place (the
 * CORS protocol of the Fetch standard).
 *
 * An origin is allowed by name ("https://app.example:8443"), as any host below
 * one (with '*' for what stands before its first dot, at any depth; not that
 * host itself), or as "*".
 *
 * A preflight is answered with 204 whoever asks: what is not allowed finds no
 * leave in it, and the browser refuses. All other answers tell, in what they
 * get besides (response->extra), whether the page may read them, and that
 * this depends on Origin, so that caches keep them apart.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HANDLER_CORS_H
#define HANDLER_CORS_H

#include "http/exchange.h"

enum {
    CORS_ORIGINS_MAX = 64,
    CORS_ORIGIN_BYTES_MAX = 300, /* scheme, 253 of a name, port */
    CORS_NAMES_MAX = 32,         /* of methods, of fields */
    CORS_AGE_MAX_S = 86400       /* no browser keeps one longer */
};

struct cors_names {
    size_t count;
    struct bytes names[CORS_NAMES_MAX];
};

struct cors {
    bool is_any; /* "*" */
    bool allows_credentials;
    uint32_t max_age_s; /* 0: not said */
    size_t origin_count;
    struct cors_origin {
        /* The whole origin, or what stands before its '*'. */
        struct bytes before;
        /* What stands behind the '*'; NULL: there is no '*'. */
        struct bytes after;
    } origins[CORS_ORIGINS_MAX];
    struct cors_names methods; /* none: GET, HEAD, POST */
    struct cors_names fields;  /* that requests may have */
    struct cors_names exposed; /* that pages may see in answers */
    size_t tail_len;
    char tail[4096]; /* private: what follows an allowed origin */
};

/* Each adds to an object that began as all zero. NULL, or what is wrong with
 * text, as words to put behind it. */
MUST_USE const char *cors_add_origin(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_method(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_field(struct cors *cors, struct bytes text);
MUST_USE const char *cors_add_exposed(struct cors *cors, struct bytes text);

/* When all is added, once: NULL, or what is wrong with the whole, as words to
 * put behind "cors". With credentials "*" means nothing and is refused. */
MUST_USE const char *cors_finish(struct cors *cors);

/* Answers a preflight. False: the request is none. */
MUST_USE bool cors_answer_preflight(const struct cors *cors,
                                    struct exchange *exchange,
                                    const struct server_defaults *defaults);

/* Gives the response what its head gets besides, before any other request is
 * answered. Origin is borrowed from the request. */
void cors_describe(const struct cors *cors, const struct request *request,
                   struct response *response);

#endif
