#include "http/reason.h"

#define ROW(word, status, text)               \
    {                                         \
        {(word), sizeof(word) - 1}, (status), \
        {                                     \
            (text), sizeof(text) - 1          \
        }                                     \
    }

static const struct {
    struct bytes word;
    unsigned status;
    struct bytes text;
} rows[REASON_COUNT] = {
    [REASON_NONE] = ROW("", 0, ""),
    [REASON_EMPTY_LINES] = ROW("empty-lines", 400,
                               "There are too many empty lines before it."),
    [REASON_REQUEST_LINE] =
        ROW("request-line", 400,
            "The first line is not a method, a target and a version, with one "
            "space between them."),
    [REASON_METHOD] = ROW("method", 501, "Nobody knows this method."),
    [REASON_TARGET_BYTES] =
        ROW("target-bytes", 400,
            "The path has a byte that must be percent-encoded, or a '%' "
            "without two hexadecimal digits."),
    [REASON_TARGET_FORM] =
        ROW("target-form", 400,
            "The target is neither a path nor another form that this method "
            "may have."),
    [REASON_TARGET_TOO_LONG] =
        ROW("target-too-long", 414,
            "The first line, or where it leads, is too long."),
    [REASON_VERSION] =
        ROW("version", 505,
            "The version of HTTP is not 1.0, 1.1 or a later 1.x."),
    [REASON_LINE_END] = ROW("line-end", 400,
                            "A line does not end in CR and LF."),
    [REASON_CONTROL_BYTE] = ROW("control-byte", 400,
                                "The head has a control character."),
    [REASON_FIELD_LINE] =
        ROW("field-line", 400,
            "A line is not a field: a name, a colon right behind it, and a "
            "value, all in one line."),
    [REASON_TOO_MANY_FIELDS] = ROW("too-many-fields", 431,
                                   "The head has more than 100 fields."),
    [REASON_HEAD_TOO_LARGE] = ROW("head-too-large", 431,
                                  "The head is too large."),
    [REASON_HEAD_TIMEOUT] = ROW("head-timeout", 408,
                                "The head did not come in time."),
    [REASON_HOST_MISSING] = ROW("host-missing", 400, "There is no Host field."),
    [REASON_HOST_TWICE] = ROW("host-twice", 400,
                              "There is more than one Host field."),
    [REASON_HOST_INVALID] =
        ROW("host-invalid", 400,
            "The Host field is no name or address, with or without a port."),
    [REASON_CONTENT_LENGTH] = ROW("content-length", 400,
                                  "Content-Length is not one number."),
    [REASON_TRANSFER_ENCODING] =
        ROW("transfer-encoding", 400,
            "Transfer-Encoding does not end in chunked, comes twice, or in a "
            "request of version 1.0."),
    [REASON_LENGTH_AND_CODING] =
        ROW("length-and-coding", 400,
            "There are both Content-Length and Transfer-Encoding."),
    [REASON_CODING_UNKNOWN] =
        ROW("coding-unknown", 501,
            "Transfer-Encoding has a coding besides chunked."),
    [REASON_EXPECTATION] = ROW("expectation", 417,
                               "Expect is not 100-continue."),
    [REASON_MISDIRECTED] =
        ROW("misdirected", 421,
            "The connection was made for another name, and this one wants one "
            "of its own; or the target names another scheme than it has."),
    [REASON_CLIENT_EXPIRED] =
        ROW("client-expired", 403,
            "The client's certificate has expired since the connection was "
            "made."),
    [REASON_CHUNK] = ROW("chunk", 400,
                         "The body has a malformed chunk or trailer."),
    [REASON_BODY_TOO_LARGE] = ROW("body-too-large", 413,
                                  "The body is larger than it may be here."),
    [REASON_BODY_UNWANTED] =
        ROW("body-unwanted", 413,
            "The body is large, and nobody here wants one."),
    [REASON_BODY_TIMEOUT] = ROW("body-timeout", 408,
                                "The body did not come in time."),
    [REASON_ENCODED_SLASH] =
        ROW("encoded-slash", 400,
            "The path has a '%2F', which could be read in two ways here."),
    [REASON_ENCODED_NUL] = ROW("encoded-nul", 400, "The path has a '%00'."),
    [REASON_ABOVE_ROOT] = ROW("above-root", 400,
                              "The path leads above the root."),
    [REASON_PATH_UNCLEAR] =
        ROW("path-unclear", 400,
            "The path could be read in another way by the server behind this "
            "one."),
    [REASON_CONNECTION_FIELD] =
        ROW("connection-field", 400,
            "Connection names a field that is not for one connection, or too "
            "many."),
    [REASON_MAX_FORWARDS] = ROW("max-forwards", 400,
                                "Max-Forwards is not one number."),
    [REASON_LOOP] = ROW("loop", 508,
                        "The request has been here before, too often."),
    [REASON_KEYS] = ROW("keys", 400,
                        "The store of keys was asked in a way that it does "
                        "not know."),
};

struct bytes reason_word(enum reason reason)
{
    return rows[reason].word;
}

unsigned reason_status(enum reason reason)
{
    return rows[reason].status;
}

struct bytes reason_text(enum reason reason)
{
    return rows[reason].text;
}
