#include "engine/refusal.h"

#include "io/transport.h"

/* Before it sends the refusal, reads the bytes that the client has sent.
 * Otherwise closing the socket would reset the connection, and the client might
 * not see the answer. */
void refusal_send(int fd)
{
    struct transport client;
    char discard[16384];
    size_t len;
    enum io_result received;

    transport_open(&client, fd);
    received = transport_receive(&client, discard, sizeof(discard), &len);
    if (received != IO_FAILED)
        (void)!transport_say(&client,
                             BYTES("HTTP/1.1 503 Service Unavailable\r\n"
                                   "Retry-After: 1\r\n"
                                   "Content-Length: 0\r\n"
                                   "Connection: close\r\n\r\n"));
    (void)!transport_shut_down(&client);
    transport_close(&client, false);
}
