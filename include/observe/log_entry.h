/*
 * log_entry - all facts about an event of a connection. A log_format chooses
 * the facts that are logged.
 *
 * Thread: any; values only.
 * Owns:   nothing; all pointers are borrowed for one call.
 */
#ifndef OBSERVE_LOG_ENTRY_H
#define OBSERVE_LOG_ENTRY_H

#include "base/address.h"

enum log_event {
    LOG_EVENT_REQUEST, /* a request was answered, or broken off */
    LOG_EVENT_ACCEPT,  /* a worker took a connection over */
    LOG_EVENT_CLOSE,   /* a connection was closed */
    LOG_EVENT_COUNT
};

/* The value of a number in struct log_upstream that was never measured, because
 * the exchange with the upstream server ended before. */
#define LOG_NONE UINT64_MAX

struct log_upstream {
    struct bytes name;
    uint64_t status;
    uint64_t connect_ns; /* all times begin when the server was asked */
    uint64_t first_ns;
    uint64_t total_ns;
};

/* Facts about a TLS connection. */
struct log_tls {
    struct bytes version;
    struct bytes cipher;
    struct bytes group;
    struct bytes sni;     /* the name that the client asked for */
    struct bytes resumed; /* "true" or "false" */
    /* name in the client's certificate; empty without a certificate */
    struct bytes client;
    struct bytes client_fingerprint;
    /* The memory that `client` and `client_fingerprint` point to. */
    char client_text[256];
    char client_fingerprint_text[65];
};

/* The facts about an event. A text that does not exist is empty. */
struct log_entry {
    enum log_event event;
    /* Facts for every event. */
    const struct address *peer;
    uint64_t connection; /* number of the connection */
    uint64_t requests;   /* number of this request; for CLOSE, the total */
    /* The reason of a CLOSE or of a refused REQUEST: one of the server's own
     * words, at most 40 bytes. */
    struct bytes reason;
    /* Facts for REQUEST. */
    struct bytes request_line;
    struct bytes method;
    struct bytes target;
    struct bytes path;
    struct bytes query;
    struct bytes protocol;
    struct bytes host;
    struct bytes referer;
    struct bytes user_agent;
    struct bytes request_id;
    struct bytes cache_status;           /* empty if no cache was asked */
    const struct log_upstream *upstream; /* NULL if no server was asked */
    const struct log_tls *tls;           /* NULL without TLS */
    /* Returns the value of a field of the request or of the response, for
     * %{header:NAME} and %{response_header:NAME}. */
    struct bytes (*find)(const void *context, bool is_response,
                         struct bytes name);
    const void *context;
    uint64_t status;
    uint64_t body_bytes; /* bytes of the body that the kernel has taken */
    uint64_t sent_bytes; /* bytes of head and body that the kernel has taken */
    uint64_t read_bytes; /* bytes of the request: head, body, framing */
    uint64_t total_ns;   /* from the first byte read to the last byte sent */
    uint64_t queue_ns;   /* from the complete request to the first byte sent */
    uint64_t service_ns; /* from the first byte sent to the last byte sent */
    bool keep_alive;     /* the connection stays open */
    bool is_complete;    /* the whole response was sent */
};

#endif
