/*
 * io_result - the result of a call that sends or receives bytes.
 *
 * IO_AGAIN_READ and IO_AGAIN_WRITE name what the socket must be watched for
 * before the same call is worth repeating. Over TLS a send may have to wait for
 * IO_AGAIN_READ, and a receive for IO_AGAIN_WRITE. An error is told as
 * IO_FAILED, with errno as the system left it.
 */
#ifndef IO_IO_RESULT_H
#define IO_IO_RESULT_H

enum io_result {
    IO_DONE,        /* at least a byte has passed */
    IO_AGAIN_READ,  /* nothing passes until there is something to read */
    IO_AGAIN_WRITE, /* nothing passes until the socket takes more */
    IO_EOF,         /* the peer sends no more */
    IO_FAILED       /* the connection is broken */
};

#endif
