/*
 * log_entry - what there is to say about something that happened to a
 * connection; a log_format chooses from it.
 *
 * Thread: any; values only.
 * Owns:   nothing; what it refers to is borrowed for the one call.
 */
#ifndef OBSERVE_LOG_ENTRY_H
#define OBSERVE_LOG_ENTRY_H

#include "base/address.h"

enum log_event {
    LOG_EVENT_REQUEST, /* a request was answered, or broken off */
    LOG_EVENT_ACCEPT,  /* a connection was taken over */
    LOG_EVENT_CLOSE,   /* a connection was closed */
    LOG_EVENT_COUNT
};

/* A server that was asked for the answer; LOG_NONE stands for what it did not
 * come to. */
#define LOG_NONE UINT64_MAX

struct log_upstream {
    struct bytes name;
    uint64_t status;
    uint64_t connect_ns; /* each from when it was asked */
    uint64_t first_ns;
    uint64_t total_ns;
};

/* What is told of a connection over TLS. */
struct log_tls {
    struct bytes version;
    struct bytes cipher;
    struct bytes group;
    struct bytes sni;     /* the name that the client asked for */
    struct bytes resumed; /* "true" or "false" */
    struct bytes client;  /* whom its certificate names; empty: it has none */
    struct bytes client_fingerprint;
    /* Where these two texts may lie. */
    char client_text[256];
    char client_fingerprint_text[65];
};

/* A text that is not there is empty. */
struct log_entry {
    enum log_event event;
    /* These are told of every event. */
    const struct address *peer;
    uint64_t connection; /* its number */
    uint64_t requests;   /* number of this one; of CLOSE: how many there were */
    /* Of CLOSE, and of REQUEST if it was refused: one of the server's own
     * words, of at most 40 bytes. */
    struct bytes reason;
    /* Of REQUEST. */
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
    struct bytes cache_status;           /* empty: no cache was asked */
    const struct log_upstream *upstream; /* NULL: none was asked */
    const struct log_tls *tls;           /* NULL: it came in clear text */
    /* The value of a field of the request, or of the response; for formats that
     * name one. */
    struct bytes (*find)(const void *context, bool is_response,
                         struct bytes name);
    const void *context;
    uint64_t status;
    uint64_t body_bytes; /* of the body, handed over to the kernel */
    uint64_t sent_bytes; /* of head and body, handed over to the kernel */
    uint64_t read_bytes; /* of the request: head, body and its framing */
    uint64_t total_ns;   /* first byte read to last byte handed over */
    uint64_t queue_ns;   /* request complete to first byte handed over */
    uint64_t service_ns; /* first to last byte handed over */
    bool keep_alive;     /* the connection goes on */
    bool is_complete;    /* the whole response was handed over */
};

#endif
