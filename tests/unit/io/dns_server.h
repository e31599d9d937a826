/*
 * dns_server - a name server on loopback, in the test's own loop, which
 * answers as the test says: UDP and TCP at the same port.
 */
#ifndef UNIT_DNS_SERVER_H
#define UNIT_DNS_SERVER_H

#include <ev.h>
#include <netinet/in.h>
#include <stdbool.h>

enum { DNS_A = 1, DNS_CNAME = 5, DNS_AAAA = 28, DNS_HEAD_BYTES = 12 };

enum { DNS_OK = 0, DNS_SERVFAIL = 2, DNS_NXDOMAIN = 3, DNS_REFUSED = 5 };

struct dns_question {
    const uint8_t *bytes; /* the packet, as far as the question goes */
    size_t len;
    char name[256]; /* "www.example" */
    uint16_t type;
    bool is_tcp;
};

struct dns_message {
    uint8_t bytes[65535];
    size_t len; /* 0: no answer */
};

struct dns_server {
    struct ev_loop *loop;
    ev_io udp;
    ev_io tcp;
    ev_io conn; /* the last one accepted */
    uint16_t port;
    char text[32]; /* "127.0.0.1:port" */
    /* Answers a question, or leaves message empty. */
    void (*answer)(const struct dns_question *question,
                   struct dns_message *message);
    unsigned asked; /* by UDP */
    unsigned asked_tcp;
    struct sockaddr_in peer;
};

/* --- Messages ------------------------------------------------------------- */

/* The head and the question again, with no records. */
void dns_begin(struct dns_message *message, const struct dns_question *question,
               int rcode);

void dns_truncate(struct dns_message *message);

/* One record more; owner 12 is the question's name. Returns where its data
 * stand. */
unsigned dns_put_record(struct dns_message *message, unsigned owner,
                        unsigned type, uint32_t ttl, const void *data,
                        size_t len);

/* --- The server ----------------------------------------------------------- */

/* What else a test sends to who asked last. */
void dns_send(struct dns_server *server, const void *bytes, size_t len);

void dns_close_conn(struct dns_server *server);

/* Answers until it is closed; 0 or -1. */
int dns_open(struct dns_server *server, struct ev_loop *loop);

/* May be called twice. */
void dns_close(struct dns_server *server);

#endif
