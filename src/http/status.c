#include "http/status.h"

struct bytes status_reason(unsigned status)
{
    switch (status) {
    case 200:
        return BYTES("OK");
    case 201:
        return BYTES("Created");
    case 202:
        return BYTES("Accepted");
    case 203:
        return BYTES("Non-Authoritative Information");
    case 204:
        return BYTES("No Content");
    case 205:
        return BYTES("Reset Content");
    case 206:
        return BYTES("Partial Content");
    case 300:
        return BYTES("Multiple Choices");
    case 301:
        return BYTES("Moved Permanently");
    case 302:
        return BYTES("Found");
    case 303:
        return BYTES("See Other");
    case 304:
        return BYTES("Not Modified");
    case 307:
        return BYTES("Temporary Redirect");
    case 308:
        return BYTES("Permanent Redirect");
    case 400:
        return BYTES("Bad Request");
    case 401:
        return BYTES("Unauthorized");
    case 402:
        return BYTES("Payment Required");
    case 403:
        return BYTES("Forbidden");
    case 404:
        return BYTES("Not Found");
    case 405:
        return BYTES("Method Not Allowed");
    case 406:
        return BYTES("Not Acceptable");
    case 407:
        return BYTES("Proxy Authentication Required");
    case 408:
        return BYTES("Request Timeout");
    case 409:
        return BYTES("Conflict");
    case 410:
        return BYTES("Gone");
    case 411:
        return BYTES("Length Required");
    case 412:
        return BYTES("Precondition Failed");
    case 413:
        return BYTES("Content Too Large");
    case 414:
        return BYTES("URI Too Long");
    case 415:
        return BYTES("Unsupported Media Type");
    case 416:
        return BYTES("Range Not Satisfiable");
    case 417:
        return BYTES("Expectation Failed");
    case 421:
        return BYTES("Misdirected Request");
    case 422:
        return BYTES("Unprocessable Content");
    case 425:
        return BYTES("Too Early");
    case 426:
        return BYTES("Upgrade Required");
    case 428:
        return BYTES("Precondition Required");
    case 429:
        return BYTES("Too Many Requests");
    case 431:
        return BYTES("Request Header Fields Too Large");
    case 451:
        return BYTES("Unavailable For Legal Reasons");
    case 500:
        return BYTES("Internal Server Error");
    case 501:
        return BYTES("Not Implemented");
    case 502:
        return BYTES("Bad Gateway");
    case 503:
        return BYTES("Service Unavailable");
    case 504:
        return BYTES("Gateway Timeout");
    case 505:
        return BYTES("HTTP Version Not Supported");
    case 507:
        return BYTES("Insufficient Storage");
    case 511:
        return BYTES("Network Authentication Required");
    default:
        return BYTES("Unknown");
    }
}
