#include "unit/http/http1/http1_grammar.h"

#include <arpa/inet.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RE_TOKEN "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

#define RE_TARGET "[!\"$-~]*([!\"$-~]|[?][!-~\x80-\xFF]*)"

#define RE_VALUE "[\t -~\x80-\xFF]*"

#define RE_ESCAPE "%[0-9A-Fa-f]{2}"

#define RE_NAME "([A-Za-z0-9._~!$&'()*+,;=-]|" RE_ESCAPE ")+"

#define RE_HOST "(\\[[0-9A-Fa-f:.]+\\]|" RE_NAME ")"

/* All that one line, or one line beside the next, can tell. */
static const char re_head[] = "^" RE_TOKEN " " RE_TARGET " HTTP/1[.][0-9]\r\n"
                              "(" RE_TOKEN ":" RE_VALUE "\r\n)*$";
static const char re_method[] =
    "^(GET|HEAD|POST|PUT|DELETE|OPTIONS|TRACE|CONNECT|PATCH|ACL|BIND|CHECKOUT|"
    "COPY|LINK|LOCK|M-SEARCH|MERGE|MKACTIVITY|MKCALENDAR|MKCOL|MOVE|NOTIFY|"
    "PROPFIND|PROPPATCH|PURGE|REBIND|REPORT|SEARCH|SOURCE|SUBSCRIBE|UNBIND|"
    "UNLINK|UNLOCK|UNSUBSCRIBE|QUERY|BASELINE-CONTROL|CHECKIN|LABEL|"
    "MKREDIRECTREF|MKWORKSPACE|ORDERPATCH|UNCHECKOUT|UPDATE|"
    "UPDATEREDIRECTREF|VERSION-CONTROL) ";
static const char re_escapes[] = "^([^%?]|" RE_ESCAPE ")*([?].*)?$";
static const char re_authority[] = "^" RE_HOST "(:[0-9]*)?$";
static const char re_connect[] = "^" RE_HOST ":[0-9]+$";
static const char re_absolute[] = "^[Hh][Tt][Tt][Pp][Ss]?://[^/?]+([/?].*)?$";

/* strndup(3), which sanitizers suspect of looking for a NUL too far. */
static char *copy_string(const char *text, size_t len)
{
    char *copy = malloc(len + 1);

    if (!copy)
        abort();
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static bool re_matches(const char *pattern, const char *text)
{
    static struct {
        const char *pattern;
        regex_t regex;
    } known[16];
    size_t i = 0;

    while (known[i].pattern && known[i].pattern != pattern)
        i++;
    if (!known[i].pattern) {
        if (regcomp(&known[i].regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
            abort();
        known[i].pattern = pattern;
    }
    return regexec(&known[i].regex, text, 0, NULL, 0) == 0;
}

/* What regular expressions are bad at: the groups of an IPv6 address, and a
 * port that is a 16-bit number. */
static bool grammar_takes_authority(const char *text, const char *pattern)
{
    const char *bracket = strchr(text, ']');
    const char *port = strchr(bracket ? bracket : text, ':');

    if (!re_matches(pattern, text))
        return false;
    if (bracket) {
        char *literal = copy_string(text + 1, (size_t)(bracket - text - 1));
        unsigned char octets[16];
        bool is_ipv6 = inet_pton(AF_INET6, literal, octets) == 1;

        free(literal);
        if (!is_ipv6)
            return false;
    }
    errno = 0;
    return !port || (strtoul(port + 1, NULL, 10) <= 65535 && errno == 0);
}

static bool grammar_takes_target(const char *method, const char *target)
{
    if (!re_matches(re_escapes, target))
        return false;
    if (strcmp(method, "CONNECT") == 0)
        return grammar_takes_authority(target, re_connect);
    if (strcmp(target, "*") == 0)
        return strcmp(method, "OPTIONS") == 0;
    if (re_matches(re_absolute, target)) {
        const char *begin = strstr(target, "://") + strlen("://");
        char *authority = copy_string(begin, strcspn(begin, "/?"));
        bool takes = grammar_takes_authority(authority, re_authority);

        free(authority);
        return takes;
    }
    return *target == '/';
}

/* The values of all fields of that name, each without white space around it
 * and with a '\n' behind it: two values are never one. */
static char *grammar_values(const char *fields, const char *name)
{
    char *values = calloc(1, strlen(fields) + 2);
    char *to = values;

    if (!values)
        abort();
    while (*fields) {
        const char *end = strstr(fields, "\r\n");
        const char *colon = strchr(fields, ':');
        const char *begin = colon + 1 + strspn(colon + 1, " \t");
        const char *stop = end;

        while (stop > begin && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        if (begin > stop)
            begin = stop;
        if ((size_t)(colon - fields) == strlen(name) &&
            strncasecmp(fields, name, strlen(name)) == 0) {
            to = mempcpy(to, begin, (size_t)(stop - begin));
            *to++ = '\n';
        }
        fields = end + 2;
    }
    return values;
}

static bool grammar_takes_host(const char *fields, bool is_needed)
{
    char *hosts = grammar_values(fields, "Host");
    char *end = strchr(hosts, '\n');
    bool takes = !is_needed;

    if (end) {
        takes = end[1] == '\0';
        *end = '\0';
        takes = takes && grammar_takes_authority(hosts, re_authority);
    }
    free(hosts);
    return takes;
}

static bool grammar_takes_framing(const char *fields, bool is_http11)
{
    char *lengths = grammar_values(fields, "Content-Length");
    char *codings = grammar_values(fields, "Transfer-Encoding");
    /* http-parser 2.9 takes each name that begins so for this one when it
     * looks for both: stricter than the RFC, and never less strict. */
    bool takes = *lengths == '\0' ||
                 !strcasestr(fields - 1, "\nTransfer-Encoding");

    errno = 0;
    if (*lengths && (!re_matches("^[0-9]+\n$", lengths) ||
                     strtoll(lengths, NULL, 10) < 0 || errno != 0))
        takes = false;
    if (*codings && (!is_http11 || strcasecmp(codings, "chunked\n") != 0))
        takes = false;
    free(lengths);
    free(codings);
    return takes;
}

static bool grammar_takes_head(char *head)
{
    char *fields = strstr(head, "\r\n") + 2;
    char *method, *target, *version;
    unsigned lines = 0;

    if (fields - head - 2 > HTTP1_LINE_BYTES_MAX || !re_matches(re_head, head))
        return false;
    for (char *at = fields; (at = strstr(at, "\r\n")); at += 2)
        lines++;
    if (lines > REQUEST_FIELDS_MAX || !re_matches(re_method, head))
        return false;
    fields[-2] = '\0';
    method = head;
    target = strchr(method, ' ');
    *target++ = '\0';
    version = strchr(target, ' ');
    *version++ = '\0';
    return grammar_takes_target(method, target) &&
           grammar_takes_host(fields, strcmp(version, "HTTP/1.0") != 0) &&
           grammar_takes_framing(fields, strcmp(version, "HTTP/1.0") != 0);
}

size_t grammar_head_bytes(struct bytes text)
{
    const char *end = text.data + text.len;
    const char *at = text.data;
    const char *empty_line;
    bool takes;
    char *head;

    while (end - at >= 2 && memcmp(at, "\r\n", 2) == 0)
        at += 2;
    if (at - text.data > 2 * HTTP1_LEADING_CRLF_MAX)
        return 0;
    empty_line = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
    if (!empty_line || empty_line + 4 - at > HTTP1_HEAD_BYTES_MAX ||
        memchr(at, '\0', (size_t)(empty_line - at)))
        return 0;
    head = copy_string(at, (size_t)(empty_line + 2 - at));
    takes = grammar_takes_head(head);
    free(head);
    return takes ? (size_t)(empty_line + 4 - text.data) : 0;
}
