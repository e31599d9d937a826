#include "http/status.h"

enum { STATUS_MIN = 200, STATUS_END = 512 };

static const struct bytes reasons[STATUS_END - STATUS_MIN] = {
    [200 - STATUS_MIN] = {"OK", 2},
    [201 - STATUS_MIN] = {"Created", 7},
    [202 - STATUS_MIN] = {"Accepted", 8},
    [203 - STATUS_MIN] = {"Non-Authoritative Information", 29},
    [204 - STATUS_MIN] = {"No Content", 10},
    [205 - STATUS_MIN] = {"Reset Content", 13},
    [206 - STATUS_MIN] = {"Partial Content", 15},
    [300 - STATUS_MIN] = {"Multiple Choices", 16},
    [301 - STATUS_MIN] = {"Moved Permanently", 17},
    [302 - STATUS_MIN] = {"Found", 5},
    [303 - STATUS_MIN] = {"See Other", 9},
    [304 - STATUS_MIN] = {"Not Modified", 12},
    [307 - STATUS_MIN] = {"Temporary Redirect", 18},
    [308 - STATUS_MIN] = {"Permanent Redirect", 18},
    [400 - STATUS_MIN] = {"Bad Request", 11},
    [401 - STATUS_MIN] = {"Unauthorized", 12},
    [402 - STATUS_MIN] = {"Payment Required", 16},
    [403 - STATUS_MIN] = {"Forbidden", 9},
    [404 - STATUS_MIN] = {"Not Found", 9},
    [405 - STATUS_MIN] = {"Method Not Allowed", 18},
    [406 - STATUS_MIN] = {"Not Acceptable", 14},
    [407 - STATUS_MIN] = {"Proxy Authentication Required", 29},
    [408 - STATUS_MIN] = {"Request Timeout", 15},
    [409 - STATUS_MIN] = {"Conflict", 8},
    [410 - STATUS_MIN] = {"Gone", 4},
    [411 - STATUS_MIN] = {"Length Required", 15},
    [412 - STATUS_MIN] = {"Precondition Failed", 19},
    [413 - STATUS_MIN] = {"Content Too Large", 17},
    [414 - STATUS_MIN] = {"URI Too Long", 12},
    [415 - STATUS_MIN] = {"Unsupported Media Type", 22},
    [416 - STATUS_MIN] = {"Range Not Satisfiable", 21},
    [417 - STATUS_MIN] = {"Expectation Failed", 18},
    [421 - STATUS_MIN] = {"Misdirected Request", 19},
    [422 - STATUS_MIN] = {"Unprocessable Content", 21},
    [425 - STATUS_MIN] = {"Too Early", 9},
    [426 - STATUS_MIN] = {"Upgrade Required", 16},
    [428 - STATUS_MIN] = {"Precondition Required", 21},
    [429 - STATUS_MIN] = {"Too Many Requests", 17},
    [431 - STATUS_MIN] = {"Request Header Fields Too Large", 31},
    [451 - STATUS_MIN] = {"Unavailable For Legal Reasons", 29},
    [500 - STATUS_MIN] = {"Internal Server Error", 21},
    [501 - STATUS_MIN] = {"Not Implemented", 15},
    [502 - STATUS_MIN] = {"Bad Gateway", 11},
    [503 - STATUS_MIN] = {"Service Unavailable", 19},
    [504 - STATUS_MIN] = {"Gateway Timeout", 15},
    [505 - STATUS_MIN] = {"HTTP Version Not Supported", 26},
    [507 - STATUS_MIN] = {"Insufficient Storage", 20},
    [508 - STATUS_MIN] = {"Loop Detected", 13},
    [511 - STATUS_MIN] = {"Network Authentication Required", 31},
};

bool status_is_known(unsigned status)
{
    return status >= STATUS_MIN && status < STATUS_END &&
           reasons[status - STATUS_MIN].data;
}

struct bytes status_reason(unsigned status)
{
    return status_is_known(status) ? reasons[status - STATUS_MIN]
                                   : BYTES("Unknown");
}
