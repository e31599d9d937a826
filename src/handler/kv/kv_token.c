#include "handler/kv/kv_token.h"

#include <errno.h>
#include <stdlib.h>

#include "handler/local.h"
#include "http/percent.h"
#include "io/small_file.h"

/* --- Reading ------------------------------------------------------------- */

/* Whether `text` is a b64token (RFC 6750 2.1). */
static bool is_token(struct bytes text)
{
    while (text.len > 1 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        char lower = byte_lower(text.data[i]);

        if ((lower < 'a' || lower > 'z') && !byte_is_digit(lower) &&
            (lower == '\0' || !strchr("-._~+/", lower)))
            return false;
    }
    return text.len > 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads a line, and puts its prefix, if it has one, into `out`. Returns NULL,
 * or what is wrong. */
static const char *read_line(struct kv_tokens *tokens, struct bytes line,
                             char *out)
{
    struct kv_token *token = &tokens->tokens[tokens->count];
    struct bytes word = {line.data, 0};
    struct bytes rest;

    while (word.len < line.len && !is_blank(line.data[word.len]))
        word.len++;
    rest = bytes_trim(bytes_between(line.data + word.len,
                                    line.data + line.len));
    if (word.len < KV_TOKEN_BYTES_MIN)
        return "a token has 16 letters or more";
    if (word.len > KV_TOKEN_BYTES_MAX)
        return "a token has 255 letters at most";
    if (!is_token(word))
        return "a token has letters, digits and -._~+/ only, then maybe =";
    if (memchr(rest.data, ' ', rest.len) || memchr(rest.data, '\t', rest.len))
        return "blanks in a prefix must be written as %20";
    if (tokens->count == KV_TOKENS_MAX)
        return "there are more than 1000 tokens";
    *token = (struct kv_token){.hash = siphash_of(&tokens->secret, word),
                               .prefix = {out, 0}};
    if (!percent_decode(rest, false, out, &token->prefix.len))
        return "a prefix has no NUL, and two digits behind each '%'";
    tokens->count++;
    return NULL;
}

static const char *read_lines(struct kv_tokens *tokens, struct bytes text,
                              unsigned *line_out)
{
    char *out = tokens->prefixes;
    const char *fault = NULL;

    *line_out = 0;
    while (text.len > 0 && !fault) {
        const char *end = text.data + text.len;
        const char *newline = memchr(text.data, '\n', text.len);
        struct bytes line = bytes_between(text.data, newline ? newline : end);

        ++*line_out;
        text = bytes_between(newline ? newline + 1 : end, end);
        if (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        line = bytes_trim(line);
        if (line.len == 0 || *line.data == '#')
            continue;
        fault = read_line(tokens, line, out);
        if (!fault)
            out += tokens->tokens[tokens->count - 1].prefix.len;
    }
    return fault;
}

static int compare_hashes(const void *left, const void *right)
{
    const struct siphash *a = &((const struct kv_token *)left)->hash;
    const struct siphash *b = &((const struct kv_token *)right)->hash;
    size_t at = a->words[0] == b->words[0];

    return (a->words[at] > b->words[at]) - (a->words[at] < b->words[at]);
}

int kv_tokens_parse(struct kv_tokens **tokens_out, struct bytes text,
                    struct kv_token_fault *fault_out)
{
    struct kv_tokens *tokens = calloc(1, sizeof(*tokens));
    int err = -ENOMEM;

    *fault_out = (struct kv_token_fault){0};
    if (!tokens)
        return -ENOMEM;
    atomic_init(&tokens->refs, 1);
    tokens->tokens = calloc(KV_TOKENS_MAX, sizeof(*tokens->tokens));
    tokens->prefixes = malloc(text.len + 1);
    if (!tokens->tokens || !tokens->prefixes)
        goto release;
    if ((err = siphash_make_key(&tokens->secret)) != 0)
        goto release;
    err = -EINVAL;
    fault_out->text = read_lines(tokens, text, &fault_out->line);
    if (fault_out->text)
        goto release;
    if (tokens->count == 0) {
        *fault_out = (struct kv_token_fault){0, "it has no token"};
        goto release;
    }
    qsort(tokens->tokens, tokens->count, sizeof(*tokens->tokens),
          compare_hashes);
    *tokens_out = tokens;
    return 0;

release:
    kv_tokens_release(&tokens);
    return err;
}

struct kv_tokens *kv_tokens_acquire(struct kv_tokens *tokens)
{
    atomic_fetch_add_explicit(&tokens->refs, 1, memory_order_relaxed);
    return tokens;
}

void kv_tokens_release(struct kv_tokens **tokens_ref)
{
    struct kv_tokens *tokens = *tokens_ref;

    *tokens_ref = NULL;
    if (!tokens ||
        atomic_fetch_sub_explicit(&tokens->refs, 1, memory_order_acq_rel) > 1)
        return;
    free(tokens->tokens);
    free(tokens->prefixes);
    free(tokens);
}

int kv_tokens_open(struct kv_tokens **tokens_out, const char *path,
                   struct kv_token_fault *fault_out)
{
    struct small_file file;
    int err = small_file_read(&file, path);

    *fault_out = (struct kv_token_fault){0, small_file_fault(err)};
    if (err != 0)
        return fault_out->text ? -EINVAL : err;
    err = kv_tokens_parse(tokens_out, (struct bytes){file.text, file.len},
                          fault_out);
    small_file_fini(&file);
    return err;
}

/* --- Judging ------------------------------------------------------------- */

/* Returns true if the host, with or without a port, is a name that only this
 * machine can have. Its other names are good enough for programs, but they may
 * be the origin of a page that was loaded from elsewhere. */
static bool is_this_machine(struct bytes host)
{
    static const struct bytes names[] = {
        {"localhost", 9}, {"127.0.0.1", 9}, {"[::1]", 5}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (host.len >= names[i].len &&
            bytes_ieq((struct bytes){host.data, names[i].len}, names[i]) &&
            (host.len == names[i].len || host.data[names[i].len] == ':'))
            return true;
    return false;
}

/* Whether the request comes from a page of another origin. Any page can make a
 * browser send a POST to this machine. Programs send no Origin. */
static bool is_foreign(const struct request *request)
{
    const struct field *field = request_find(request, FIELD_ORIGIN);
    struct bytes origin;
    const char *slashes;

    if (!field)
        return false;
    origin = field->value;
    slashes = memmem(origin.data, origin.len, "://", 3);
    return request_next(request, field) || !slashes ||
           !is_this_machine(request->host) ||
           !bytes_ieq(bytes_between(slashes + 3, origin.data + origin.len),
                      request->host);
}

static struct bytes find_token(const struct request *request)
{
    static const struct bytes scheme = {"Bearer ", 7};
    const struct field *field = request_single(request, FIELD_AUTHORIZATION);

    if (!field || field->value.len < scheme.len ||
        !bytes_ieq((struct bytes){field->value.data, scheme.len}, scheme))
        return (struct bytes){NULL, 0};
    return bytes_trim(bytes_between(field->value.data + scheme.len,
                                    field->value.data + field->value.len));
}

/* Finds the lines of a token. All tokens are compared, so that the duration
 * does not tell where the token stands. */
static bool find_lines(const struct kv_tokens *tokens, struct bytes token,
                       struct kv_pass *pass_out)
{
    struct siphash hash = siphash_of(&tokens->secret, token);

    *pass_out = (struct kv_pass){.tokens = tokens->tokens};
    for (size_t i = 0; i < tokens->count; i++) {
        if (!siphash_eq(tokens->tokens[i].hash, hash))
            continue;
        if (pass_out->count++ == 0)
            pass_out->tokens = &tokens->tokens[i];
    }
    return pass_out->count > 0;
}

bool kv_tokens_find(const struct kv_tokens *tokens,
                    const struct request *request, struct kv_pass *pass_out)
{
    struct bytes token = find_token(request);

    return token.len > 0 && token.len <= KV_TOKEN_BYTES_MAX &&
           find_lines(tokens, token, pass_out);
}

static bool is_at_home(const struct kv_access *access,
                       const struct exchange *exchange)
{
    return local_is_sender(exchange, access->trust) &&
           local_is_named(access->names, exchange->request.host) &&
           !is_foreign(&exchange->request);
}

/* Returns true if a browser on this machine may have sent the request. Only the
 * connection decides this. The request's fields prove nothing: a page can make
 * a browser add any field that a proxy adds. */
static bool may_be_browser(const struct kv_access *access,
                           const struct exchange *exchange)
{
    return address_is_local(exchange->neighbour) && !exchange->is_introduced &&
           !(access->trust &&
             forwarded_is_trusted(access->trust, exchange->neighbour));
}

bool kv_access_reads(const struct kv_access *access,
                     const struct exchange *exchange)
{
    return !may_be_browser(access, exchange) ||
           local_is_named(access->names, exchange->request.host);
}

enum kv_leave kv_access_judge(const struct kv_access *access,
                              const struct exchange *exchange,
                              struct kv_pass *pass_out)
{
    *pass_out = (struct kv_pass){.has_all = true};
    if (access->read_only)
        return KV_LEAVE_REFUSED;
    if (access->open_writes || is_at_home(access, exchange))
        return KV_LEAVE_GIVEN;
    if (!access->tokens)
        return KV_LEAVE_REFUSED;
    return kv_tokens_find(access->tokens, &exchange->request, pass_out)
               ? KV_LEAVE_GIVEN
               : KV_LEAVE_UNKNOWN;
}

bool kv_pass_has(const struct kv_pass *pass, struct bytes key)
{
    for (size_t i = 0; i < pass->count; i++) {
        struct bytes prefix = pass->tokens[i].prefix;

        if (key.len >= prefix.len &&
            (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0))
            return true;
    }
    return pass->has_all;
}
