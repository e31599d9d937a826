/*
 * reply_cases - heads of replies that test_reply reads, good ones and bad.
 *
 * Good ones say what must come out of them, bad ones what is said of them:
 * they are, row by row, what clients are known to read differently, and what
 * RFC 9110 and RFC 9112 forbid.
 */
#ifndef TESTS_REPLY_CASES_H
#define TESTS_REPLY_CASES_H

#include "http/reply.h"

/* What most heads have is what is not written: 200, HTTP/1.1, reason "OK", no
 * body length, a connection that goes on, an end by the close. */
struct good_reply {
    const char *head; /* with its empty line */
    unsigned status;
    bool is_http10;
    const char *reason;
    bool closes;
    bool is_chunked;
    bool has_length;
    uint64_t content_length;
    const char *upgrade;
    enum body_framing framing; /* when GET was asked; 0: until close */
};

#define OK_WITH(fields) "HTTP/1.1 200 OK\r\n" fields "\r\n"
#define OLD_WITH(fields) "HTTP/1.0 200 OK\r\n" fields "\r\n"
#define LENGTH(text, number)                                  \
    .head = OK_WITH("Content-Length:" text), .has_length = 1, \
    .content_length = (number), .framing = BODY_LENGTH

static const struct good_reply good_replies[] = {
    {.head = OK_WITH("")},

    /* Status lines. */
    {.head = "HTTP/1.1 200 \r\n\r\n", .reason = ""},
    {.head = "HTTP/1.1 200\r\n\r\n", .reason = ""},
    {.head = "HTTP/1.1 599 A b\tc \xc3\xa9\r\n\r\n",
     .status = 599,
     .reason = "A b\tc \xc3\xa9"},
    {.head = "HTTP/1.1 200  OK\r\n\r\n", .reason = " OK"},
    {.head = "HTTP/1.1 404 Not Found\r\n\r\n",
     .status = 404,
     .reason = "Not Found"},
    {.head = OLD_WITH(""), .is_http10 = true, .closes = true},

    /* Connection. */
    {.head = OK_WITH("Connection: close\r\n"), .closes = true},
    {.head = OK_WITH("Connection: Keep-Alive\r\n")},
    {.head = OK_WITH("Connection: x, CLOSE ,y\r\n"), .closes = true},
    {.head = OK_WITH("Connection: keep-alive\r\nConnection: close\r\n"),
     .closes = true},
    {.head = OLD_WITH("Connection: keep-alive\r\n"), .is_http10 = true},
    {.head = OLD_WITH("Connection: ,keep-alive\r\n"), .is_http10 = true},

    /* Lengths. */
    {LENGTH(" 0\r\n", 0)},
    {LENGTH(" 5\r\n", 5)},
    {LENGTH("5\r\n", 5)},
    {LENGTH("\t5 \t\r\n", 5)},
    {LENGTH(" 007\r\n", 7)},
    {LENGTH(" 922337203685477579\r\n", UINT64_C(922337203685477579))},
    {.head = OLD_WITH("Content-Length: 5\r\n"),
     .is_http10 = true,
     .closes = true,
     .has_length = true,
     .content_length = 5,
     .framing = BODY_LENGTH},
    {.head = OK_WITH("Transfer-Encoding: chunked\r\n"),
     .is_chunked = true,
     .framing = BODY_CHUNKED},
    {.head = OK_WITH("Transfer-Encoding: qwertzuiop\r\n"), .closes = true},
    {.head = OK_WITH("transfer-encoding:\tChUnKeD \r\n"),
     .is_chunked = true,
     .framing = BODY_CHUNKED},

    /* Where no body is. */
    {.head = "HTTP/1.1 204 No Content\r\n\r\n",
     .status = 204,
     .reason = "No Content",
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
     .status = 204,
     .reason = "No Content",
     .has_length = true,
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
     .status = 304,
     .reason = "Not Modified",
     .has_length = true,
     .content_length = 9,
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 304 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
     .status = 304,
     .is_chunked = true,
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 100 Continue\r\n\r\n",
     .status = 100,
     .reason = "Continue",
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
     .status = 103,
     .reason = "Early Hints",
     .framing = BODY_NONE},
    {.head = "HTTP/1.1 199 OK\r\nContent-Length: 0\r\n\r\n",
     .status = 199,
     .has_length = true,
     .framing = BODY_NONE},

    /* Protocols. */
    {.head = "HTTP/1.1 101 OK\r\nConnection: Upgrade\r\n"
             "Upgrade: websocket\r\n\r\n",
     .status = 101,
     .upgrade = "websocket",
     .framing = BODY_TUNNEL},
    {.head = OK_WITH("Connection: upgrade\r\nUpgrade: a, b\r\n"),
     .upgrade = "a, b"},
    {.head = OK_WITH("Upgrade: h2c\r\n")},
    {.head = OK_WITH("Connection: upgrade\r\nUpgrade: a\r\nUpgrade: b\r\n")},

    /* Fields. */
    {.head = OK_WITH("A:\r\nB: \t\r\nC:\xff \"\\,;\r\n!#$%&'*+-.^_`|~: d\r\n")},
    {.head = OK_WITH("Content-Lengths: x\r\nX-Transfer-Encoding: y\r\n")},
};

struct bad_reply {
    struct bytes head;
    const char *fault;
};

#define HEAD(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

#define NO_STATUS_LINE "does not begin with a status line"
#define NO_STATUS "has a status that is none"
#define NO_VERSION "is not in HTTP/1.x"
#define NO_FIELD "has a malformed field line"
#define LENGTH_FAULT "has a Content-Length that is unclear"
#define CODING "has a Transfer-Encoding other than chunked"
#define CODINGS "has several Transfer-Encoding fields"
#define BARE "has a length where no body may follow"
#define SWITCH "switches protocols without one Upgrade"

static const struct bad_reply bad_replies[] = {
    /* Status lines. */
    {HEAD("\r\nHTTP/1.1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("\nHTTP/1.1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("hello\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("<!DOCTYPE html>\r\n"), NO_STATUS_LINE},
    {HEAD("SSH-2.0-OpenSSH_9.2\r\n"), NO_STATUS_LINE},
    {HEAD(" HTTP/1.1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1  200 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1\t200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("http/1.1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HXXX/1.1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/11 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.10 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1,1 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("ICY 200 OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/0.9 200 OK\r\n\r\n"), NO_VERSION},
    {HEAD("HTTP/2.0 200 OK\r\n\r\n"), NO_VERSION},
    {HEAD("HTTP/9.9 200 OK\r\n\r\n"), NO_VERSION},
    {HEAD("HTTP/1.1 \r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 0 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 99 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 000 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 099 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 600 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 999 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 -20 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 20x OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 OK\r\n\r\n"), NO_STATUS},
    {HEAD("HTTP/1.1 2000\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200OK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200\tOK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 O\x01K\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 O\0K\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 O\x7fK\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 OK\rSet-Cookie: a\r\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 OK\n\r\n"), NO_STATUS_LINE},
    {HEAD("HTTP/1.1 200 OK\r\r\n\r\n"), NO_STATUS_LINE},

    /* Lines. */
    {HEAD("HTTP/1.1 200 OK\r\n\n"), NO_FIELD},
    {HEAD(OK_WITH("A: b\n")), NO_FIELD},
    {HEAD(OK_WITH("A: b\r\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: b\rc: d\r\n")), NO_FIELD},
    {HEAD("HTTP/1.1 200 OK\r\nA: b\r\n\rX"), NO_FIELD},
    {HEAD(OK_WITH(" A: b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: b\r\n c\r\n")), NO_FIELD},
    {HEAD(OK_WITH("Transfer-Encoding:\r\n chunked\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: b\r\n\tc: d\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A : b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("Content-Length : 5\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A\t: b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A B: c\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A\r\n")), NO_FIELD},
    {HEAD(OK_WITH(": b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A(: b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("\xff: b\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: \0\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: \x1b[0m\r\n")), NO_FIELD},
    {HEAD(OK_WITH("A: \x7f\r\n")), NO_FIELD},

    /* Framing. */
    {HEAD(OK_WITH("Content-Length:\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: +5\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: -1\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 0x5\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5 5\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5,5\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5, 6\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5.0\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 9223372036854775808\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 18446744073709551621\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5\r\nContent-Length: 5\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5\r\nContent-Length: 6\r\n")), LENGTH_FAULT},
    {HEAD(OK_WITH("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
     LENGTH_FAULT},
    {HEAD(OK_WITH("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")),
     LENGTH_FAULT},
    {HEAD(OK_WITH("Transfer-Encoding:\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: gzip\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: X-Gzip\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: identity\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: qwertz, uiop\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: qwertz;uiop\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: a-CHUNKing\r\n")), CODING},
    {HEAD(
         OK_WITH("Transfer-Encoding: qwertz\r\nTransfer-Encoding: qwertz\r\n")),
     CODINGS},
    {HEAD(OK_WITH("Transfer-Encoding: qwertz\r\nContent-Length: 5\r\n")),
     LENGTH_FAULT},
    {HEAD(OLD_WITH("Transfer-Encoding: qwertz\r\n")),
     "has a Transfer-Encoding in HTTP/1.0"},
    {HEAD("HTTP/1.1 204 A\r\nTransfer-Encoding: qwertz\r\n\r\n"), BARE},
    {HEAD(OK_WITH("Transfer-Encoding: gzip, chunked\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: chunked, chunked\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: chunked,\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: \"chunked\"\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: xchunked\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: chunked;a=b\r\n")), CODING},
    {HEAD(OK_WITH("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")),
     CODINGS},
    {HEAD(OLD_WITH("Transfer-Encoding: chunked\r\n")),
     "has a Transfer-Encoding in HTTP/1.0"},
    {HEAD("HTTP/1.1 204 A\r\nContent-Length: 3\r\n\r\n"), BARE},
    {HEAD("HTTP/1.1 204 A\r\nTransfer-Encoding: chunked\r\n\r\n"), BARE},
    {HEAD("HTTP/1.1 100 A\r\nContent-Length: 3\r\n\r\n"), BARE},
    {HEAD("HTTP/1.1 103 A\r\nTransfer-Encoding: chunked\r\n\r\n"), BARE},
    {HEAD("HTTP/1.0 100 Continue\r\n\r\n"), "has a 1xx status in HTTP/1.0"},

    /* Protocols. */
    {HEAD("HTTP/1.1 101 A\r\n\r\n"), SWITCH},
    {HEAD("HTTP/1.1 101 A\r\nUpgrade: a\r\n\r\n"), SWITCH},
    {HEAD("HTTP/1.1 101 A\r\nConnection: upgrade\r\n\r\n"), SWITCH},
    {HEAD("HTTP/1.1 101 A\r\nConnection: upgrade\r\nUpgrade:\r\n\r\n"), SWITCH},
    {HEAD("HTTP/1.1 101 A\r\nConnection: upgrade\r\nUpgrade: a\r\n"
          "Upgrade: a\r\n\r\n"),
     SWITCH},
};

#endif
