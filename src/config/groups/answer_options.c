#include "config/option_table_priv.h"

enum { ACCESS_MAX = 256 }; /* networks in a list */

static const struct option_choice client_addresses[] = {
    {"none", OPTIONS_CLIENT_PEER},
    {"x-forwarded-for", OPTIONS_CLIENT_X_FORWARDED_FOR},
    {"forwarded", OPTIONS_CLIENT_FORWARDED},
    {"proxy-protocol", OPTIONS_CLIENT_PROXY_PROTOCOL},
    {0}};
static const struct option_choice all[] = {{"all", 0}, {0}};

static const struct option_row rows[] = {
    {"Answers", "redirect", 0, OPTION_TEXTS, IN_LOCATION(redirect), "RULE",
     NULL, 0, 64, NULL,
     "redirect paths: \"/old/* /new/$1 301\", status 308\n"
     "by default; $host, $path, $query, $scheme stand\n"
     "for parts of the request: \"/**\n"
     "https://$host$path\"; may be repeated"},
    {NULL, "respond", 0, OPTION_PROSE, IN_LOCATION(respond), "TEXT", NULL, 0, 0,
     NULL, "answer every request with TEXT instead of files"},
    {NULL, "respond-status", 0, OPTION_NUMBER, IN_LOCATION(respond_status), "N",
     "200", 200, 599, NULL, "status of the answer that --respond gives"},
    {NULL, "respond-type", 0, OPTION_TEXT, IN_LOCATION(respond_type), "TYPE",
     NULL, 0, 0, NULL,
     "media type of the answer that --respond gives; by\n"
     "default plain text"},
    {NULL, "error-page", 0, OPTION_TEXTS, IN_LOCATION(error_page), "RULE", NULL,
     0, 32, NULL,
     "body of errors by status: \"404 /404.html\", \"5xx\n"
     "/sorry.html\"; may be repeated"},
    {NULL, "header-set", 0, OPTION_TEXTS, IN_LOCATION(header_set), "FIELD",
     NULL, 0, 32, NULL,
     "set a field in every answer: \"Name: value\"; may\n"
     "be repeated"},
    {NULL, "header-add", 0, OPTION_TEXTS, IN_LOCATION(header_add), "FIELD",
     NULL, 0, 32, NULL,
     "add one more field of that name to every answer;\n"
     "may be repeated"},
    {NULL, "header-remove", 0, OPTION_TEXTS, IN_LOCATION(header_remove), "NAME",
     NULL, 0, 32, NULL,
     "remove all fields of that name from every answer;\n"
     "may be repeated"},
    {NULL, "cors-origin", 0, OPTION_TEXTS, IN_LOCATION(cors_origin), "ORIGIN",
     NULL, 0, 64, NULL,
     "origins whose pages may read answers (CORS): *,\n"
     "https://a.example, https://*.a.example"},
    {NULL, "cors-method", 0, OPTION_TEXTS, IN_LOCATION(cors_method), "METHOD",
     NULL, 0, 32, NULL, "methods that pages of other origins may use"},
    {NULL, "cors-header", 0, OPTION_TEXTS, IN_LOCATION(cors_header), "NAME",
     NULL, 0, 32, NULL,
     "request field that pages of other origins may\n"
     "send"},
    {NULL, "cors-expose", 0, OPTION_TEXTS, IN_LOCATION(cors_expose), "NAME",
     NULL, 0, 32, NULL,
     "response field that pages of other origins may\n"
     "read"},
    {NULL, "cors-max-age", 0, OPTION_TIME, IN_LOCATION(cors_max_age_ms), "TIME",
     "0", 0, HOURS_24_MS, NULL,
     "how long browsers may keep the answer to a CORS\n"
     "preflight; 0: the field is left out"},
    {NULL, "cors-credentials", 0, OPTION_SWITCH, IN_LOCATION(cors_credentials),
     NULL, NULL, 0, 0, NULL,
     "let pages of other origins send cookies and\n"
     "passwords"},

    {"Access", "allow", 0, OPTION_CIDRS, IN_LOCATION(allow), "CIDR", NULL, 0,
     ACCESS_MAX, all,
     "let these addresses in and no others; all:\n"
     "everybody; may be repeated"},
    {NULL, "deny", 0, OPTION_CIDRS, IN_LOCATION(deny), "CIDR", NULL, 0,
     ACCESS_MAX, all,
     "keep these addresses out; all: everybody but\n"
     "those in --allow; may be repeated"},
    {NULL, "auth-file", 0, OPTION_PATH, IN_LOCATION(auth_file), "FILE", NULL, 0,
     0, option_off,
     "htpasswd file (bcrypt, SHA-crypt) of the users\n"
     "who may come in, by HTTP Basic authentication;\n"
     "off: everybody may"},
    {NULL, "auth-realm", 0, OPTION_TEXT, IN_LOCATION(auth_realm), "TEXT",
     "restricted", 0, 0, NULL,
     "realm that browsers show when they ask for a\n"
     "password"},
    {NULL, "rate-limit", 0, OPTION_TEXT, IN_LOCATION(rate_limit), "RATE", NULL,
     0, 0, option_off,
     "requests that one address may send: 10/s, 300/m,\n"
     "1000/h, off"},
    {NULL, "rate-burst", 0, OPTION_NUMBER, IN_LOCATION(rate_burst), "N", "20",
     1, 1000000, NULL,
     "requests of --rate-limit that one address may\n"
     "send at once"},
    {NULL, "max-body", 0, OPTION_BYTES, IN_LOCATION(body_max), "BYTES", "0", 0,
     TIB, NULL, "largest body of a request; 0: no limit"},
    {NULL, "trusted-proxies", 0, OPTION_CIDRS, AT(trusted_proxies), "CIDR",
     NULL, 0, ACCESS_MAX, NULL,
     "addresses of proxies that are believed when they\n"
     "tell the client's address; may be repeated"},
    {NULL, "client-address", 0, OPTION_CHOICE, AT(client_address), "FIELD",
     "x-forwarded-for", 0, 0, client_addresses,
     "where trusted proxies tell the client's address:\n"
     "x-forwarded-for, forwarded, proxy-protocol or\n"
     "none"},
};

const struct option_group answer_options = OPTION_GROUP(rows);
