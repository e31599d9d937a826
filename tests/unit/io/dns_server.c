#include "unit/io/dns_server.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- Messages ------------------------------------------------------------- */

static void dns_put(struct dns_message *message, const void *bytes, size_t len)
{
    memcpy(message->bytes + message->len, bytes, len);
    message->len += len;
}

static void dns_put16(struct dns_message *message, unsigned number)
{
    uint8_t octets[2] = {(uint8_t)(number >> 8), (uint8_t)number};

    dns_put(message, octets, sizeof(octets));
}

void dns_begin(struct dns_message *message, const struct dns_question *question,
               int rcode)
{
    message->len = 0;
    dns_put(message, question->bytes, question->len);
    message->bytes[2] = 0x81; /* an answer */
    message->bytes[3] = (uint8_t)(0x80 | rcode);
    memset(message->bytes + 6, 0, 6);
}

void dns_truncate(struct dns_message *message)
{
    message->bytes[2] |= 2;
}

unsigned dns_put_record(struct dns_message *message, unsigned owner,
                        unsigned type, uint32_t ttl, const void *data,
                        size_t len)
{
    unsigned count = (unsigned)message->bytes[6] << 8 | message->bytes[7];

    message->bytes[6] = (uint8_t)(++count >> 8);
    message->bytes[7] = (uint8_t)count;
    dns_put16(message, 0xC000 | owner);
    dns_put16(message, type);
    dns_put16(message, 1);
    dns_put16(message, ttl >> 16);
    dns_put16(message, ttl & 0xFFFF);
    dns_put16(message, (unsigned)len);
    dns_put(message, data, len);
    return (unsigned)(message->len - len);
}

/* --- The server ----------------------------------------------------------- */

static bool dns_read(struct dns_question *question, const uint8_t *bytes,
                     size_t len)
{
    size_t at = DNS_HEAD_BYTES;
    size_t out = 0;

    while (at < len && bytes[at] != 0) {
        size_t label = bytes[at];

        if (at + 1 + label > len || out + label + 2 > sizeof(question->name))
            return false;
        if (out > 0)
            question->name[out++] = '.';
        memcpy(question->name + out, bytes + at + 1, label);
        out += label;
        at += 1 + label;
    }
    question->name[out] = '\0';
    if (at + 5 > len)
        return false;
    question->bytes = bytes;
    question->len = at + 5;
    question->type = (uint16_t)(bytes[at + 1] << 8 | bytes[at + 2]);
    return true;
}

void dns_send(struct dns_server *server, const void *bytes, size_t len)
{
    (void)!sendto(server->udp.fd, bytes, len, 0,
                  (const struct sockaddr *)&server->peer, sizeof(server->peer));
}

static void dns_on_packet(struct ev_loop *loop, ev_io *watcher, int events)
{
    static struct dns_message message;
    struct dns_server *server = watcher->data;
    struct dns_question question = {.is_tcp = false};
    socklen_t peer_len = sizeof(server->peer);
    uint8_t bytes[1500];
    ssize_t n = recvfrom(watcher->fd, bytes, sizeof(bytes), MSG_DONTWAIT,
                         (struct sockaddr *)&server->peer, &peer_len);

    (void)loop;
    (void)events;
    if (n <= 0 || !dns_read(&question, bytes, (size_t)n))
        return;
    server->asked++;
    message.len = 0;
    if (server->answer)
        server->answer(&question, &message);
    if (message.len > 0)
        dns_send(server, message.bytes, message.len);
}

void dns_close_conn(struct dns_server *server)
{
    if (!server->loop)
        return;
    ev_io_stop(server->loop, &server->conn);
    if (server->conn.fd != -1)
        close(server->conn.fd);
    ev_io_set(&server->conn, -1, 0);
}

/* One question, whole: they are small, and loopback does not tear them. */
static void dns_on_stream(struct ev_loop *loop, ev_io *watcher, int events)
{
    static struct dns_message message;
    struct dns_server *server = watcher->data;
    struct dns_question question = {.is_tcp = true};
    uint8_t bytes[1500];
    uint8_t len[2];

    (void)loop;
    (void)events;
    if (recv(watcher->fd, len, 2, MSG_WAITALL) != 2 ||
        recv(watcher->fd, bytes, (size_t)(len[0] << 8 | len[1]), MSG_WAITALL) <
            (len[0] << 8 | len[1]) ||
        !dns_read(&question, bytes, (size_t)(len[0] << 8 | len[1]))) {
        dns_close_conn(server);
        return;
    }
    server->asked_tcp++;
    message.len = 0;
    if (server->answer)
        server->answer(&question, &message);
    if (message.len == 0)
        return;
    len[0] = (uint8_t)(message.len >> 8);
    len[1] = (uint8_t)message.len;
    (void)!send(watcher->fd, len, 2, MSG_NOSIGNAL | MSG_MORE);
    (void)!send(watcher->fd, message.bytes, message.len, MSG_NOSIGNAL);
}

static void dns_on_conn(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct dns_server *server = watcher->data;

    (void)events;
    dns_close_conn(server);
    ev_io_set(&server->conn, accept(watcher->fd, NULL, NULL), EV_READ);
    if (server->conn.fd != -1)
        ev_io_start(loop, &server->conn);
}

static int dns_bind(int type, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    if (fd != -1 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == -1) {
        close(fd);
        return -1;
    }
    return fd;
}

static uint16_t dns_port_of(int fd)
{
    struct sockaddr_in at = {.sin_port = 0};
    socklen_t len = sizeof(at);

    getsockname(fd, (struct sockaddr *)&at, &len);
    return ntohs(at.sin_port);
}

int dns_open(struct dns_server *server, struct ev_loop *loop)
{
    int udp = -1;
    int tcp = -1;

    /* What is free for UDP need not be so for TCP. */
    for (int i = 0; i < 100 && tcp == -1; i++) {
        if (udp != -1)
            close(udp);
        udp = dns_bind(SOCK_DGRAM, 0);
        if (udp == -1)
            return -1;
        tcp = dns_bind(SOCK_STREAM, dns_port_of(udp));
    }
    if (tcp == -1 || listen(tcp, 8) == -1)
        return -1;
    *server = (struct dns_server){.loop = loop, .port = dns_port_of(udp)};
    snprintf(server->text, sizeof(server->text), "127.0.0.1:%u",
             (unsigned)server->port);
    ev_io_init(&server->udp, dns_on_packet, udp, EV_READ);
    ev_io_init(&server->tcp, dns_on_conn, tcp, EV_READ);
    ev_io_init(&server->conn, dns_on_stream, -1, 0);
    server->udp.data = server->tcp.data = server->conn.data = server;
    ev_io_start(loop, &server->udp);
    ev_io_start(loop, &server->tcp);
    return 0;
}

void dns_close(struct dns_server *server)
{
    if (!server->loop)
        return;
    dns_close_conn(server);
    ev_io_stop(server->loop, &server->udp);
    ev_io_stop(server->loop, &server->tcp);
    close(server->udp.fd);
    close(server->tcp.fd);
    server->loop = NULL;
}
