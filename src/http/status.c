#include "http/status.h"

struct bytes status_reason(unsigned status)
{
    switch (status) {
    case 200:
        return BYTES("OK");
    case 204:
        return BYTES("No Content");
    case 206:
        return BYTES("Partial Content");
    case 301:
        return BYTES("Moved Permanently");
    case 304:
        return BYTES("Not Modified");
    case 400:
        return BYTES("Bad Request");
    case 403:
        return BYTES("Forbidden");
    case 404:
        return BYTES("Not Found");
    case 405:
        return BYTES("Method Not Allowed");
    case 408:
        return BYTES("Request Timeout");
    case 411:
        return BYTES("Length Required");
    case 412:
        return BYTES("Precondition Failed");
    case 413:
        return BYTES("Content Too Large");
    case 414:
        return BYTES("URI Too Long");
    case 416:
        return BYTES("Range Not Satisfiable");
    case 417:
        return BYTES("Expectation Failed");
    case 431:
        return BYTES("Request Header Fields Too Large");
    case 500:
        return BYTES("Internal Server Error");
    case 501:
        return BYTES("Not Implemented");
    case 503:
        return BYTES("Service Unavailable");
    case 505:
        return BYTES("HTTP Version Not Supported");
    default:
        return BYTES("Unknown");
    }
}
