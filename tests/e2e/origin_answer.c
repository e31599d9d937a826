#include "origin_priv.h"

enum { BLOCK_BYTES = 16384 }; /* made at a time */

__attribute__((format(printf, 2, 3))) static void put(struct guest *guest,
                                                      const char *format, ...)
{
    size_t room = OUT_BYTES - guest->out_len;
    va_list list;
    int len;

    va_start(list, format);
    len = vsnprintf(guest->out + guest->out_len, room, format, list);
    va_end(list);
    if (len > 0 && (size_t)len < room)
        guest->out_len += (size_t)len;
}

static void answer_text(struct guest *guest, const char *status,
                        const char *body)
{
    bool to_head = strcmp(guest->request.method, "HEAD") == 0;

    put(guest,
        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
        "%s\r\n%s",
        status, strlen(body), *status == '4' ? "Allow: GET, HEAD\r\n" : "",
        to_head ? "" : body);
    guest->has_ended = true;
}

static void begin_stream(struct guest *guest, enum guest_framing framing)
{
    guest->framing = framing;
    put(guest, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n");
    if (framing == BY_LENGTH)
        put(guest, "Content-Length: %llu\r\n\r\n",
            (unsigned long long)guest->size);
    else
        put(guest, framing == BY_CHUNKS ? "Transfer-Encoding: chunked\r\n\r\n"
                                        : "Connection: close\r\n\r\n");
}

/* "/bytes/7/1000" and its like. */
static bool asks_for(struct guest *guest, const char *prefix)
{
    size_t len = strlen(prefix);
    unsigned long long seed;
    unsigned long long size;

    if (strncmp(guest->request.target, prefix, len) != 0 ||
        sscanf(guest->request.target + len, "%llu/%llu", &seed, &size) != 2)
        return false;
    guest->seed = seed;
    guest->size = size;
    guest->at = 0;
    return true;
}

static bool is_known(const char *method)
{
    static const char *const methods[] = {"POST",  "PUT",      "DELETE",
                                          "PATCH", "PROPFIND", "OPTIONS"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (strcmp(methods[i], method) == 0)
            return true;
    return false;
}

/* As a server of files would, which cleans what it is asked for. */
static const char *file_of(const char *target)
{
    static const char *const files[][2] = {{"/", "index\n"},
                                           {"/f", "file f\n"},
                                           {"//f", "file f\n"},
                                           {"/%66", "file f\n"},
                                           {"/canary", "canary\n"}};
    size_t len = strcspn(target, "?");

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (strlen(files[i][0]) == len && memcmp(files[i][0], target, len) == 0)
            return files[i][1];
    return NULL;
}

void guest_answer(struct guest *guest, const struct origin *origin)
{
    const char *target = guest->request.target;
    const char *method = guest->request.method;
    const char *file = file_of(target);

    guest->is_answering = true;
    guest->framing = BY_LENGTH;
    if (asks_for(guest, "/bytes/")) {
        begin_stream(guest, BY_LENGTH);
    } else if (asks_for(guest, "/chunks/")) {
        begin_stream(guest, BY_CHUNKS);
    } else if (asks_for(guest, "/close/")) {
        begin_stream(guest, BY_CLOSE);
    } else if (strcmp(target, "/health") == 0) {
        answer_text(guest,
                    atomic_load(&origin->counts->is_ill)
                        ? "503 Service Unavailable"
                        : "200 OK",
                    "");
    } else if (strcmp(target, "/name") == 0) {
        answer_text(guest, "200 OK", origin->name);
    } else if (strcmp(target, "*") == 0) {
        answer_text(guest, "200 OK", "");
    } else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        answer_text(guest,
                    is_known(method) ? "405 Method Not Allowed"
                                     : "501 Not Implemented",
                    "");
    } else {
        answer_text(guest, file ? "200 OK" : "404 Not Found", file ? file : "");
    }
}

void guest_begin_echo(struct guest *guest)
{
    guest->is_echo = guest->is_answering = true;
    begin_stream(guest, BY_CHUNKS);
}

void guest_echo(struct guest *guest, size_t len)
{
    put(guest, "%zx\r\n", len);
    memcpy(guest->out + guest->out_len, guest->in, len);
    guest->out_len += len;
    put(guest, "\r\n");
}

void guest_end_echo(struct guest *guest)
{
    put(guest, "0\r\n\r\n");
    guest->has_ended = true;
}

void guest_make_more(struct guest *guest)
{
    while (!guest->has_ended && !guest->is_echo &&
           OUT_BYTES - guest->out_len > BLOCK_BYTES + FRAME_BYTES) {
        uint64_t left = guest->size - guest->at;
        size_t step = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;

        if (guest->framing == BY_CHUNKS)
            put(guest, "%zx\r\n", step);
        seeded_fill(guest->seed, guest->at, guest->out + guest->out_len, step);
        guest->out_len += step;
        guest->at += step;
        if (guest->framing == BY_CHUNKS)
            put(guest, "\r\n");
        guest->has_ended = guest->framing == BY_CHUNKS
                               ? step == 0
                               : guest->at == guest->size;
    }
}
