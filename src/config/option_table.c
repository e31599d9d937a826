#include "config/option_table.h"

#include <stddef.h>

#include "base/evict.h"
#include "base/log.h"
#include "cache/cache_part.h"
#include "confine/sandbox.h"
#include "engine/sched.h"
#include "files/file_cache.h"
#include "handler/encode.h"
#include "handler/proxy/proxy.h"
#include "io/tls/tls_context.h"
#include "kv/kv_cache.h"
#include "observe/access_log.h"

static const struct option_choice schedules[] = {{"srpt", SCHED_POLICY_SRPT},
                                                 {"fsp", SCHED_POLICY_FSP},
                                                 {"fifo", SCHED_POLICY_FIFO},
                                                 {"fair", SCHED_POLICY_FAIR},
                                                 {0}};
static const struct option_choice send_methods[] = {{"auto", SEND_AUTO},
                                                    {"mmap", SEND_MMAP},
                                                    {"sendfile", SEND_SENDFILE},
                                                    {"read", SEND_READ},
                                                    {0}};
static const struct option_choice cache_policies[] = {
    {"lru", EVICT_LRU}, {"gdsf", EVICT_GDSF}, {"sieve", EVICT_SIEVE}, {0}};
static const struct option_choice proxy_cache_policies[] = {
    {"lru", EVICT_LRU},
    {"gdsf", EVICT_GDSF},
    {"sieve", EVICT_SIEVE},
    {"saved", EVICT_SAVED},
    {0}};
static const struct option_choice overflows[] = {
    {"drop", LOG_OVERFLOW_DROP}, {"wait", LOG_OVERFLOW_WAIT}, {0}};
static const struct option_choice levels[] = {
    {"error", LOG_LEVEL_ERROR},   {"warning", LOG_LEVEL_WARNING},
    {"notice", LOG_LEVEL_NOTICE}, {"info", LOG_LEVEL_INFO},
    {"debug", LOG_LEVEL_DEBUG},   {0}};

static const struct option_choice reports[] = {{"off", OPTIONS_REPORT_OFF},
                                               {"auto", OPTIONS_REPORT_AUTO},
                                               {"always",
                                                OPTIONS_REPORT_ALWAYS},
                                               {0}};

static const struct option_choice client_addresses[] = {
    {"none", OPTIONS_CLIENT_PEER},
    {"x-forwarded-for", OPTIONS_CLIENT_X_FORWARDED_FOR},
    {"forwarded", OPTIONS_CLIENT_FORWARDED},
    {"proxy-protocol", OPTIONS_CLIENT_PROXY_PROTOCOL},
    {0}};
static const struct option_choice sandboxes[] = {
    {"off", SANDBOX_OFF}, {"on", SANDBOX_ON}, {"strict", SANDBOX_STRICT}, {0}};

static const struct option_choice tls_profiles[] = {
    {"intermediate", TLS_PROFILE_INTERMEDIATE},
    {"modern", TLS_PROFILE_MODERN},
    {0}};
static const struct option_choice tls_kernel[] = {
    {"auto", OPTIONS_TLS_KERNEL_AUTO}, {"off", OPTIONS_TLS_KERNEL_OFF}, {0}};
static const struct option_choice http2[] = {{"tls", OPTIONS_HTTP2_TLS},
                                             {"all", OPTIONS_HTTP2_ALL},
                                             {"off", OPTIONS_HTTP2_OFF},
                                             {0}};
static const struct option_choice tls_clients[] = {
    {"request", TLS_CLIENT_REQUEST}, {"require", TLS_CLIENT_REQUIRE}, {0}};

static const struct option_choice on_off[] = {{"on", 1}, {"off", 0}, {0}};
static const struct option_choice proxy_hosts[] = {
    {"keep", PROXY_HOST_KEEP}, {"upstream", PROXY_HOST_UPSTREAM}, {0}};
static const struct option_choice proxy_traces[] = {
    {"pass", PROXY_TRACE_PASS}, {"make", PROXY_TRACE_MAKE}, {0}};
static const struct option_choice proxy_slashes[] = {
    {"safe", PROXY_SLASH_SAFE}, {"pass", PROXY_SLASH_PASS}, {0}};

/* For what lies in something that has it. */
static const struct option_choice off[] = {{"off", 0}, {0}};
static const struct option_choice automatic_port[] = {{"auto", 0}, {0}};
static const struct option_choice acme_modes[] = {
    {"on", OPTIONS_ACME_ON}, {"off", OPTIONS_ACME_OFF}, {0}};
static const struct option_choice acme_keys[] = {
    {"p256", 0}, {"p384", 1}, {"rsa2048", 2}, {0}};
static const struct option_choice all[] = {{"all", 0}, {0}};

#define AT(member) OPTION_GLOBAL, offsetof(struct options, member)
#define AT_START(member) OPTION_START, offsetof(struct options, member)
#define IN_COMMAND(member) OPTION_COMMAND, offsetof(struct options, member)
#define IN_LOCATION(member) \
    OPTION_LOCATION, offsetof(struct location_options, member)
#define IN_SITE(member) OPTION_SITE, offsetof(struct location_options, member)
#define HOURS_24_MS (24ull * 3600 * 1000)
#define TIB (1ull << 40)

enum { ACCESS_MAX = 256 }; /* blocks of addresses in a list */

const struct option_row option_rows[] = {
    {"Configuration", "config", 'c', OPTION_TEXT, IN_COMMAND(config), "FILE",
     NULL, 0, 0, NULL,
     "configuration file, read before the command line,\n"
     "which wins over it"},
    {NULL, "test", 't', OPTION_SWITCH, IN_COMMAND(wants_test), NULL, NULL, 0, 0,
     NULL,
     "check the whole configuration, say what is wrong,\n"
     "and exit"},
    {NULL, "dump", 'T', OPTION_SWITCH, IN_COMMAND(wants_dump), NULL, NULL, 0, 0,
     NULL,
     "print the configuration in force, and where each\n"
     "value comes from"},

    {"Where to listen", "port", 'p', OPTION_NUMBER, AT(port), "N", "8080", 0,
     65535, NULL,
     "TCP port to listen on; 0: any free port, which is\n"
     "printed"},
    {NULL, "bind", 'b', OPTION_TEXT, AT(bind), "ADDRESS", NULL, 0, 0, NULL,
     "numeric address to listen on; by default all,\n"
     "IPv4 and IPv6"},
    {NULL, "listen", 'l', OPTION_TEXTS, AT(listen), "WHERE", NULL, 0,
     OPTIONS_LISTEN_MAX, NULL,
     "where to listen, instead of --port and --bind:\n"
     "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; with\n"
     "https:// before it by TLS; may be repeated"},
    {NULL, "https", 0, OPTION_TEXT, AT(https_told), "WHAT", NULL, 0, 0, off,
     "PORT: TCP port to listen on by TLS, beside --port\n"
     "or --listen; without a certificate, with one that\n"
     "this machine's own authority signs (sprintd tls);\n"
     "NAME,NAME: to be these hosts on ports 443 and 80,\n"
     "with a certificate that an authority is asked for;\n"
     "off: neither"},

    {"TLS", "certificate", 0, OPTION_PATHS, IN_SITE(certificate), "FILE", NULL,
     0, OPTIONS_CERTIFICATES_MAX, NULL,
     "PEM file of a certificate and the chain above it;\n"
     "may be repeated, for keys of other kinds and for\n"
     "other names"},
    {NULL, "certificate-key", 0, OPTION_PATHS, IN_SITE(certificate_key), "FILE",
     NULL, 0, OPTIONS_CERTIFICATES_MAX, NULL,
     "PEM file of the certificate's key, where it lies\n"
     "in another file; as many as certificates, in\n"
     "their order"},
    {NULL, "acme", 0, OPTION_CHOICE, IN_SITE(acme), "WHETHER", "on", 0, 0,
     acme_modes,
     "get certificates of sites that are reached by TLS\n"
     "and have none from an authority (RFC 8555)"},
    {NULL, "acme-directory", 0, OPTION_TEXTS, AT(acme_directory), "URL", NULL,
     0, 8, NULL,
     "address of the authority's directory; by default\n"
     "Let's Encrypt's; may be repeated: the next one is\n"
     "asked when one fails"},
    {NULL, "acme-email", 0, OPTION_TEXT, AT(acme_email), "ADDRESS", NULL, 0, 0,
     off, "address that the authority may write to"},
    {NULL, "acme-ca", 0, OPTION_PATH, AT(acme_ca), "FILE", NULL, 0, 0, off,
     "certificates of the authorities that the directory\n"
     "is verified by (PEM), instead of the system's"},
    {NULL, "acme-challenge", 0, OPTION_TEXTS, AT(acme_challenge), "HOW", NULL,
     0, 4, NULL,
     "how a name is shown to be ours: http-01,\n"
     "tls-alpn-01, dns-01, dns-persist-01; by default\n"
     "the first two, as there are listeners; may be\n"
     "repeated: the next is tried when one fails"},
    {NULL, "acme-dns-command", 0, OPTION_PROSE, AT(acme_dns_command), "COMMAND",
     NULL, 0, 0, NULL,
     "shell command of dns-01: puts (ACTION=add) or\n"
     "takes away (remove) a TXT record of $NAME with\n"
     "$VALUE, and waits until it is seen"},
    {NULL, "acme-key", 0, OPTION_CHOICE, AT(acme_key), "KIND", "p256", 0, 0,
     acme_keys, "kind of key of certificates of authorities"},
    {NULL, "acme-profile", 0, OPTION_TEXT, AT(acme_profile), "NAME", NULL, 0, 0,
     off,
     "profile that certificates are asked for by, where\n"
     "the authority has several"},
    {NULL, "acme-eab-id", 0, OPTION_TEXT, AT(acme_eab_id), "ID", NULL, 0, 0,
     off,
     "key identifier that the authority has given out,\n"
     "to bind a new account to (RFC 8555 7.3.4)"},
    {NULL, "acme-eab-key", 0, OPTION_PATH, AT(acme_eab_key), "FILE", NULL, 0, 0,
     off,
     "file with the key that --acme-eab-id names, in\n"
     "base64url"},
    {NULL, "acme-retry", 0, OPTION_TIME, AT(acme_retry_ms), "TIME", "1m", 100,
     HOURS_24_MS, NULL,
     "shortest pause after no authority gave a\n"
     "certificate; it doubles each time, up to a day"},
    {NULL, "acme-folder", 0, OPTION_PATH, AT(acme_folder_told), "FOLDER", NULL,
     0, 0, off,
     "where certificates of authorities are kept; by\n"
     "default acme below state-directory"},
    {NULL, "acme-start", 0, OPTION_CHOICE, AT_START(acme_start), "WHETHER",
     "on", 0, 0, on_off,
     "whether the server starts sprintd-acme, which gets\n"
     "certificates; off: a timer of systemd does, say"},
    {NULL, "state-directory", 0, OPTION_PATH, AT(state_directory), "FOLDER",
     NULL, 0, 0, off,
     "where dictionaries, and accounts, keys and\n"
     "certificates of authorities are kept; by default\n"
     "that of the service, or /var/lib/sprintd, or\n"
     "~/.local/share/sprintd"},
    {NULL, "tls-profile", 0, OPTION_CHOICE, AT(tls_profile), "PROFILE",
     "intermediate", 0, 0, tls_profiles,
     "versions of TLS; intermediate: 1.2 and 1.3;\n"
     "modern: 1.3 alone"},
    {NULL, "tls-kernel", 0, OPTION_CHOICE, AT(tls_kernel), "WHETHER", "auto", 0,
     0, tls_kernel,
     "whether the kernel encrypts large files on their\n"
     "way out of its cache; auto: where it can (1.3,\n"
     "CONFIG_TLS); off: it does not"},
    {NULL, "tls-ticket-file", 0, OPTION_PATH, AT(ticket_file), "FILE", NULL, 0,
     0, off,
     "file of the keys by which clients come back, that\n"
     "several machines share: 80 bytes in base64 a line,\n"
     "the first makes tickets; off: keys of its own"},
    {NULL, "http2", 0, OPTION_CHOICE, AT(http2), "WHERE", "tls", 0, 0, http2,
     "where HTTP/2 is spoken; tls: over TLS, with\n"
     "clients that ask for it; all: in clear text, too,\n"
     "with those that begin so (prior knowledge)"},
    {NULL, "client-ca", 0, OPTION_PATH, IN_SITE(client_ca), "FILE", NULL, 0, 0,
     off,
     "PEM file of the authorities that sign\n"
     "certificates of clients; off: clients are not\n"
     "asked for one"},
    {NULL, "client-certificate", 0, OPTION_CHOICE, IN_SITE(client_certificate),
     "WHETHER", "require", 0, 0, tls_clients,
     "with --client-ca, whether a client without a\n"
     "certificate is let in; request: yes; require: no"},
    {NULL, "https-redirect", 0, OPTION_SWITCH, IN_LOCATION(https_redirect),
     NULL, NULL, 0, 0, NULL,
     "send clients that come without TLS to the same\n"
     "address over https (308), but not from\n"
     "/.well-known/acme-challenge/"},
    {NULL, "https-redirect-port", 0, OPTION_NUMBER, AT(redirect_port), "PORT",
     "auto", 1, 65535, automatic_port,
     "port that --https-redirect leads to; auto: the one\n"
     "of --listen or --https, 443 if there are several"},
    {NULL, "hsts", 0, OPTION_TEXT, IN_LOCATION(hsts), "VALUE", NULL, 0, 0, off,
     "Strict-Transport-Security field of answers over\n"
     "TLS: \"max-age=31536000\"; off: none"},

    {"Work", "workers", 'w', OPTION_NUMBER, AT_START(workers), "N", "0", 0,
     OPTIONS_WORKERS_MAX, NULL,
     "worker threads; 0: one per CPU that the process\n"
     "may use"},
    {NULL, "schedule", 0, OPTION_CHOICE, AT_START(schedule), "ORDER", "srpt", 0,
     0, schedules,
     "which response sends next: srpt: fewest bytes\n"
     "left first; fsp: the first to finish under fair\n"
     "sharing; fifo: in order of arrival; fair: in\n"
     "turns"},
    {NULL, "starvation-bound", 0, OPTION_NUMBER, AT_START(starvation_bound),
     "K", "8192", 0, 1ull << 20, NULL,
     "under srpt, responses of at most (K + 1) * B\n"
     "bytes pass one of B bytes; 0: no bound"},
    {NULL, "starvation-factor", 0, OPTION_NUMBER, AT_START(starvation_factor),
     "C", "2", 0, CLIENT_SHARE_FACTOR_MAX, NULL,
     "under srpt, no client waits C times as long as\n"
     "if the link were shared evenly among clients; 0:\n"
     "no bound in time"},
    {NULL, "link-rate", 0, OPTION_RATE, AT_START(link_rate), "RATE", "auto",
     8000, 1ull << 50, NULL,
     "rate of the narrowest link to the clients, in\n"
     "bits per second (80M); bytes wait in this server,\n"
     "in order, and not in the link's queue; auto:\n"
     "measured; off: nothing is held back"},
    {NULL, "chunk-size", 0, OPTION_BYTES, AT(chunk_bytes), "BYTES", "512K", 1,
     1ull << 30, NULL,
     "the quantum: bytes of a response that are sent\n"
     "before others get their turn"},
    {NULL, "send-method", 0, OPTION_CHOICE, AT(send_method), "HOW", "auto", 0,
     0, send_methods,
     "how bodies are sent; auto: small ones from memory\n"
     "with their head, large ones by sendfile"},

    {"Files", "root", 0, OPTION_PATH, IN_LOCATION(root), "DIRECTORY", "www", 0,
     0, NULL, "directory to serve files from, like DOCROOT"},
    {NULL, "strip-prefix", 0, OPTION_SWITCH, IN_LOCATION(strip_prefix), NULL,
     NULL, 0, 0, NULL,
     "in a location, look files up by the path behind\n"
     "the location's prefix"},
    {NULL, "index", 0, OPTION_TEXT, IN_LOCATION(index), "NAME", "index.html", 0,
     0, NULL, "name of the file that answers for a directory"},
    {NULL, "try-files", 0, OPTION_TEXTS, IN_LOCATION(try_list), "WHAT", NULL, 0,
     8, NULL,
     "files to try in order: $path, $path.html,\n"
     "/app.html, =404; may be repeated. A file without\n"
     "$path answers page navigation only"},
    {NULL, "autoindex", 0, OPTION_SWITCH, IN_LOCATION(autoindex), NULL, NULL, 0,
     0, NULL, "list directories that have no index file"},
    {NULL, "show-hidden", 0, OPTION_SWITCH, IN_LOCATION(show_hidden), NULL,
     NULL, 0, 0, NULL, "serve files whose names begin with a dot"},
    {NULL, "follow-symlinks", 0, OPTION_SWITCH, IN_LOCATION(follow_symlinks),
     NULL, NULL, 0, 0, NULL,
     "follow symbolic links that lead out of the root,\n"
     "too"},
    {NULL, "cache-control", 0, OPTION_TEXT, IN_LOCATION(cache_control), "VALUE",
     NULL, 0, 0, NULL, "Cache-Control field of files"},
    {NULL, "cache-control-for", 0, OPTION_TEXTS, IN_LOCATION(cache_control_for),
     "RULE", NULL, 0, 32, NULL,
     "Cache-Control of files by path or media type:\n"
     "\"*.css max-age=3600\", \"text/html no-cache\"; may\n"
     "be repeated"},
    {NULL, "type", 0, OPTION_TEXTS, IN_LOCATION(type), "RULE", NULL, 0, 32,
     NULL,
     "media type of files by name or path: \"*.ts\n"
     "video/mp2t\"; may be repeated"},
    {NULL, "priority", 0, OPTION_TEXTS, IN_LOCATION(priority), "RULE", NULL, 0,
     32, NULL,
     "order of answers over HTTP/2 by name or path,\n"
     "whatever the client says: \"*.css u=1\", \"*.jpg\n"
     "u=5, i\"; may be repeated"},
    {NULL, "compress", 0, OPTION_TEXTS, IN_LOCATION(compress), "CODING", NULL,
     0, 3, NULL,
     "codings by which files are compressed beside the\n"
     "requests, for who takes them: br, zstd, gzip, the\n"
     "first that a client takes first; by default all\n"
     "three; off: none; may be repeated"},
    {NULL, "compress-types", 0, OPTION_TEXTS, IN_LOCATION(compress_types),
     "TYPE", NULL, 0, COMPRESS_TYPES_MAX, NULL,
     "media types that are compressed, instead of those\n"
     "that usually shrink: text/*, */*+json; may be\n"
     "repeated"},
    {NULL, "compress-min", 0, OPTION_BYTES, IN_LOCATION(compress_min), "BYTES",
     "512", 1, TIB, NULL, "smallest file that is compressed"},
    {NULL, "compress-max", 0, OPTION_BYTES, IN_LOCATION(compress_max), "BYTES",
     "16M", 1, 256ull << 20, NULL, "largest file that is compressed"},
    {NULL, "compress-proxied", 0, OPTION_SWITCH, IN_LOCATION(compress_proxied),
     NULL, NULL, 0, 0, NULL,
     "compress what other servers answer, too, while it\n"
     "is sent"},
    {NULL, "compress-private", 0, OPTION_SWITCH, IN_LOCATION(compress_private),
     NULL, NULL, 0, 0, NULL,
     "compress also while it is sent what answers\n"
     "requests with credentials or sets cookies, whose\n"
     "secrets lengths may tell (BREACH)"},
    {NULL, "compress-streams", 0, OPTION_NUMBER, AT_START(compress_streams),
     "N", "64", 0, ENCODER_STREAMS_MAX, NULL,
     "answers that a worker compresses at a time while\n"
     "they are sent; more go as they are"},
    {NULL, "dictionary", 0, OPTION_TEXTS, IN_LOCATION(dictionary), "RULE", NULL,
     0, DICTIONARY_RULES_MAX, NULL,
     "paths of files that clients are sent as the\n"
     "difference from a version they have:\n"
     "/assets/app.*.js; with =/FILE, from that file;\n"
     "over https and localhost; may be repeated"},
    {NULL, "dictionary-versions", 0, OPTION_NUMBER,
     AT_START(dictionary_versions), "N", "3", 1, DICTIONARY_VERSIONS_MAX, NULL,
     "earlier versions of files that are kept for each\n"
     "--dictionary, in --state-directory"},
    {NULL, "compress-threads", 0, OPTION_NUMBER, AT_START(compress_threads),
     "N", "1", 1, COMPRESSOR_THREADS_MAX, NULL,
     "threads beside the workers that compress files,\n"
     "when the workers leave them time"},
    {NULL, "no-server-header", 0, OPTION_SWITCH, AT(hides_server), NULL, NULL,
     0, 0, NULL, "leave the Server field out of answers"},

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
     0, off,
     "htpasswd file (bcrypt, SHA-crypt) of the users\n"
     "who may come in, by HTTP Basic authentication;\n"
     "off: everybody may"},
    {NULL, "auth-realm", 0, OPTION_TEXT, IN_LOCATION(auth_realm), "TEXT",
     "restricted", 0, 0, NULL,
     "realm that browsers show when they ask for a\n"
     "password"},
    {NULL, "rate-limit", 0, OPTION_TEXT, IN_LOCATION(rate_limit), "RATE", NULL,
     0, 0, off,
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
     "addresses of proxies whose word on the client's\n"
     "address is believed; may be repeated"},
    {NULL, "client-address", 0, OPTION_CHOICE, AT(client_address), "FIELD",
     "x-forwarded-for", 0, 0, client_addresses,
     "where trusted proxies tell the client's address:\n"
     "x-forwarded-for, forwarded, proxy-protocol or\n"
     "none"},

    {"Cache (per worker)", "cache-size", 0, OPTION_BYTES, AT(cache_bytes),
     "BYTES", "64M", 0, TIB, NULL,
     "memory for the contents of small files, per\n"
     "worker; 0: no cache"},
    {NULL, "cache-entries", 0, OPTION_NUMBER, AT(cache_entries), "N", "65536",
     0, 1ull << 24, NULL,
     "files that the cache of a worker knows; 0: no\n"
     "cache"},
    {NULL, "cache-policy", 0, OPTION_CHOICE, AT(cache_policy), "POLICY",
     "sieve", 0, 0, cache_policies, "which file leaves a full cache"},

    {"Limits", "max-connections", 0, OPTION_NUMBER, AT_START(connections_max),
     "N", "0", 0, 1ull << 24, NULL,
     "connections of all clients together; 0: as many\n"
     "as descriptors allow"},
    {NULL, "max-connections-per-address", 0, OPTION_NUMBER,
     AT_START(address_connections_max), "N", "0", 0, 1ull << 24, NULL,
     "connections of one address (IPv6: /64); 0: a\n"
     "quarter of all, and any number while no other\n"
     "address has one"},
    {NULL, "max-requests-per-connection", 0, OPTION_NUMBER, AT(requests_max),
     "N", "0", 0, UINT32_MAX, NULL,
     "requests over one connection before it is closed;\n"
     "0: no limit"},
    {NULL, "keepalive-timeout", 0, OPTION_TIME, AT(keepalive_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL,
     "how long an idle connection waits for its next\n"
     "request"},
    {NULL, "header-timeout", 0, OPTION_TIME, AT(header_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL, "time in which a whole request head must arrive"},
    {NULL, "body-timeout", 0, OPTION_TIME, AT(body_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL, "time in which a whole request body must arrive"},
    {NULL, "send-timeout", 0, OPTION_TIME, AT(send_ms), "TIME", "30s", 1,
     HOURS_24_MS, NULL,
     "longest time in which a client takes no byte of\n"
     "its answer"},
    {NULL, "send-rate-min", 0, OPTION_BYTES, AT(send_rate_min), "BYTES", "256",
     0, TIB, NULL,
     "bytes per second that a slow client must take on\n"
     "average once --send-timeout has passed; 0: no\n"
     "limit"},
    {NULL, "drain-timeout", 0, OPTION_TIME, AT(drain_ms), "TIME", "30s", 0,
     HOURS_24_MS, NULL,
     "how long answers under way may go on when the\n"
     "server stops"},

    {"Key-value store", "kv", 0, OPTION_TEXTS, AT_START(kv), "PREFIX=PLACE",
     NULL, 0, OPTIONS_KV_MAX, NULL,
     "store of keys and values below PREFIX, in a\n"
     "folder: /kv=./data; or in Redis or Valkey, alone\n"
     "or a cluster:\n"
     "/kv=redis://HOST:PORT[,HOST:PORT...]\n"
     "[/DB][?name=NAME], or rediss:// for TLS; may be\n"
     "repeated"},
    {NULL, "kv-tls-ca", 0, OPTION_PATH, AT_START(kv_tls.ca), "FILE", NULL, 0, 0,
     NULL,
     "certificates of the authorities that rediss://\n"
     "servers are verified by (PEM), instead of the\n"
     "system's"},
    {NULL, "kv-tls-certificate", 0, OPTION_PATH, AT_START(kv_tls.certificate),
     "FILE", NULL, 0, 0, NULL,
     "certificate shown to rediss:// servers that want\n"
     "one (PEM)"},
    {NULL, "kv-tls-certificate-key", 0, OPTION_PATH,
     AT_START(kv_tls.certificate_key), "FILE", NULL, 0, 0, NULL,
     "private key of --kv-tls-certificate; default: in\n"
     "the same file"},
    {NULL, "kv-sync", 0, OPTION_TEXT, AT_START(kv_sync), "WHEN", "full", 0, 0,
     NULL,
     "when writes to a folder are answered: full: once\n"
     "they are on disk; interval:MS: at once, and on\n"
     "disk within that time; off: at once, on disk when\n"
     "the kernel likes"},
    {NULL, "kv-max-value", 0, OPTION_BYTES, AT_START(kv_value_bytes_max),
     "BYTES", "1M", 1, 64ull << 20, NULL, "largest value that a store takes"},
    {NULL, "kv-max-size", 0, OPTION_BYTES, AT_START(kv_bytes_max), "BYTES",
     "64G", 1ull << 20, TIB, NULL, "largest size of a store's folder"},
    {NULL, "kv-memory", 0, OPTION_BYTES, AT_START(kv_memory_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "memory for values of 16 KiB and more that are\n"
     "being sent, of all workers; bodies being received\n"
     "get a quarter as much; 0: an eighth of the\n"
     "machine's memory"},
    {NULL, "kv-watchers", 0, OPTION_NUMBER, AT_START(kv_watchers_max), "N",
     "256", 0, 100000, NULL,
     "streams of changes that a worker sends at a time;\n"
     "one address gets a quarter of them, and more\n"
     "while no other needs them; 0: none"},
    {NULL, "kv-cache-size", 0, OPTION_BYTES, AT_START(kv_cache_bytes), "BYTES",
     "0", 0, TIB, NULL,
     "memory for a cache of values, of each folder; 0:\n"
     "no cache, LMDB's mapped pages serve nearly as\n"
     "fast"},
    {NULL, "kv-cache-policy", 0, OPTION_CHOICE, AT_START(kv_cache_policy),
     "POLICY", "sieve", 0, 0, cache_policies,
     "which value leaves a full cache of values"},
    {NULL, "kv-compress", 0, OPTION_TEXTS, AT_START(kv_compress), "PREFIX",
     NULL, 0, OPTIONS_KV_MAX, NULL,
     "store, by its prefix, whose values are compressed\n"
     "while they are sent, as --compress says; may be\n"
     "repeated"},
    {NULL, "kv-lock-groups", 0, OPTION_NUMBER, AT_START(kv_lock_groups), "N",
     "16", 1, KV_CACHE_GROUPS_MAX, NULL,
     "groups of the cache of values, each with a lock\n"
     "of its own; a value larger than an eighth of a\n"
     "group is not cached"},
    {NULL, "kv-token", 0, OPTION_PATH, AT(kv_token), "FILE", NULL, 0, 0, NULL,
     "file of bearer tokens that may write to stores:\n"
     "lines of TOKEN or TOKEN PREFIX; clients on this\n"
     "machine need none"},
    {NULL, "kv-open-writes", 0, OPTION_SWITCH, AT(kv_open_writes), NULL, NULL,
     0, 0, NULL, "let every client write to stores"},
    {NULL, "kv-read-only", 0, OPTION_SWITCH, AT(kv_read_only), NULL, NULL, 0, 0,
     NULL, "let no client write to stores"},
    {NULL, "kv-require-match", 0, OPTION_SWITCH, AT_START(kv_require_match),
     NULL, NULL, 0, 0, NULL,
     "refuse writes to stores without If-Match or\n"
     "If-None-Match (428)"},

    {"Reverse proxy", "proxy", 0, OPTION_TEXTS, IN_LOCATION(proxy),
     "PREFIX=SERVERS", NULL, 0, OPTIONS_PROXY_MAX, NULL,
     "pass requests below PREFIX on to other servers:\n"
     "/=http://127.0.0.1:9000, several with commas,\n"
     "https://app, unix:/run/app, https://unix:/run/app;\n"
     "/app=http://app:80/ strips /app;\n"
     "each with ;weight=N ;backup ;max-conns=N; may be\n"
     "repeated. Without PREFIX=: all requests of the\n"
     "location that says so"},
    {NULL, "proxy-balance", 0, OPTION_TEXT, AT(proxy_balance), "HOW",
     "round-robin", 0, 0, NULL,
     "how a server is chosen for a request:\n"
     "round-robin, least-conn, random, hash-address,\n"
     "hash-uri or hash:FIELD"},
    {NULL, "proxy-host", 0, OPTION_CHOICE, AT(proxy_host), "WHOSE", "keep", 0,
     0, proxy_hosts,
     "Host field that servers see: keep: the client's;\n"
     "upstream: the server's own"},
    {NULL, "proxy-encoded-slash", 0, OPTION_CHOICE, AT(proxy_encoded_slash),
     "HOW", "safe", 0, 0, proxy_slashes,
     "paths with %2F; safe: passed where no rule could\n"
     "read them in two ways, else refused; pass: always\n"
     "passed"},
    {NULL, "proxy-name", 0, OPTION_TEXT, AT(proxy_name), "NAME", "sprintd", 0,
     0, NULL, "name of this server in the Via field"},
    {NULL, "proxy-redirect", 0, OPTION_CHOICE, AT(proxy_redirect), "WHETHER",
     "on", 0, 0, on_off,
     "rewrite Location, Refresh and cookie paths of\n"
     "replies to what the client asked for"},
    {NULL, "proxy-intercept-errors", 0, OPTION_SWITCH,
     AT(proxy_intercept_errors), NULL, NULL, 0, 0, NULL,
     "replace the servers' own error replies by\n"
     "--error-page, too"},
    {NULL, "proxy-traceparent", 0, OPTION_CHOICE, AT(proxy_traceparent), "WHAT",
     "pass", 0, 0, proxy_traces,
     "W3C trace context; pass: as the client sent it;\n"
     "make: also made for requests without one"},
    {NULL, "proxy-buffer", 0, OPTION_BYTES, AT(proxy_buffer_bytes), "BYTES",
     "64K", 32768, 1ull << 20, NULL,
     "bytes of a body that are buffered on their way,\n"
     "in each direction"},
    {NULL, "proxy-request-buffer", 0, OPTION_BYTES, AT(proxy_request_bytes),
     "BYTES", "64K", 0, 1ull << 20, NULL,
     "bytes of a request's body that must be here,\n"
     "unless it is shorter, before a server is asked;\n"
     "at most --proxy-buffer; 0: asked at once"},
    {NULL, "proxy-splice", 0, OPTION_CHOICE, AT(proxy_splice), "WHETHER", "on",
     0, 0, on_off,
     "move long replies through pipes without copying\n"
     "them (splice)"},
    {NULL, "proxy-cache", 0, OPTION_TEXT, AT_START(proxy_cache), "WHERE", NULL,
     0, 0, off,
     "keep what servers behind this one answer, as far\n"
     "as they allow it (RFC 9111), for all who ask;\n"
     "memory: in memory; FOLDER: on disk, where it\n"
     "outlives the server; default: off"},
    {NULL, "proxy-cache-size", 0, OPTION_BYTES, AT_START(proxy_cache_bytes),
     "BYTES", "0", 0, 16 * TIB, NULL,
     "room for all that --proxy-cache keeps; 0: 256M in\n"
     "memory, 10G in a folder"},
    {NULL, "proxy-cache-max-object", 0, OPTION_BYTES,
     AT_START(proxy_cache_object_bytes), "BYTES", "32M", 0, 16 * TIB, NULL,
     "longest body that --proxy-cache keeps"},
    {NULL, "proxy-cache-policy", 0, OPTION_CHOICE, AT_START(proxy_cache_policy),
     "POLICY", "sieve", 0, 0, proxy_cache_policies,
     "what goes when --proxy-cache is full: as\n"
     "--cache-policy; saved: by hits and the server's\n"
     "milliseconds per byte"},
    {NULL, "proxy-cache-purge-token", 0, OPTION_PATH, AT(proxy_cache_token),
     "FILE", NULL, 0, 0, NULL,
     "file of bearer tokens that may purge what\n"
     "--proxy-cache keeps: lines of TOKEN or TOKEN\n"
     "HOST/PATH; programs on this machine need none"},
    {NULL, "cache-stale", 0, OPTION_TIME, IN_LOCATION(cache_stale_ms), "TIME",
     "10m", 0, HOURS_24_MS, NULL,
     "for how long what --proxy-cache keeps of the\n"
     "proxies told here may serve after its time when no\n"
     "server can be reached, unless its server says that\n"
     "it must not; 0: not"},
    {NULL, "cache-default", 0, OPTION_TIME, IN_LOCATION(cache_default_ms),
     "TIME", "0", 0, HOURS_24_MS, NULL,
     "for how long --proxy-cache keeps answers of the\n"
     "proxies told here that do not say it; 0: not"},
    {NULL, "cache-bypass", 0, OPTION_TEXTS, IN_LOCATION(cache_bypass), "WHAT",
     NULL, 0, CACHE_PARTS_MAX, NULL,
     "header:NAME, cookie:NAME or query:NAME: requests\n"
     "that have it neither get nor leave anything in\n"
     "--proxy-cache"},
    {NULL, "cache-key", 0, OPTION_TEXTS, IN_LOCATION(cache_key), "WHAT", NULL,
     0, CACHE_PARTS_MAX, NULL,
     "header:NAME or cookie:NAME: who has another gets\n"
     "another answer of --proxy-cache; -query:NAME: who\n"
     "has another gets the same (NAME*: all that begin\n"
     "so)"},
    {NULL, "cache", 0, OPTION_CHOICE, IN_LOCATION(cache), "WHETHER", "on", 0, 0,
     on_off,
     "whether --proxy-cache keeps what is answered; off,\n"
     "for a site or location: it does not"},
    {NULL, "proxy-tls-ca", 0, OPTION_PATH, AT(proxy_tls_ca), "FILE", NULL, 0, 0,
     NULL,
     "certificates of the authorities that https://\n"
     "servers are verified by (PEM), instead of the\n"
     "system's"},
    {NULL, "proxy-tls-name", 0, OPTION_TEXT, AT(proxy_tls_name), "NAME", NULL,
     0, 0, NULL,
     "name or address that certificates of https://\n"
     "servers must be for, and that they are told (SNI),\n"
     "instead of the one in their URL"},
    {NULL, "proxy-tls-certificate", 0, OPTION_PATH, AT(proxy_tls_certificate),
     "FILE", NULL, 0, 0, NULL,
     "certificate shown to https:// servers that ask for\n"
     "one (PEM)"},
    {NULL, "proxy-tls-certificate-key", 0, OPTION_PATH,
     AT(proxy_tls_certificate_key), "FILE", NULL, 0, 0, NULL,
     "private key of --proxy-tls-certificate; default:\n"
     "in the same file"},
    {NULL, "proxy-tls-verify", 0, OPTION_CHOICE, AT(proxy_tls_verify),
     "WHETHER", "on", 0, 0, on_off,
     "verify certificates of https:// servers; off:\n"
     "whoever answers in a server's place is believed"},
    {NULL, "proxy-tls-client", 0, OPTION_CHOICE, AT(proxy_tls_client),
     "WHETHER", "off", 0, 0, on_off,
     "tell servers by which certificate a client has\n"
     "shown who it is: X-Forwarded-Tls-Client-Subject\n"
     "and -Fingerprint"},
    {NULL, "proxy-connect-timeout", 0, OPTION_TIME, AT(proxy_connect_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL,
     "time to look a server's name up and connect to it,\n"
     "TLS handshake included"},
    {NULL, "proxy-timeout", 0, OPTION_TIME, AT(proxy_reply_ms), "TIME", "60s",
     1, HOURS_24_MS, NULL, "time until the head of a reply must have come"},
    {NULL, "proxy-idle-timeout", 0, OPTION_TIME, AT(proxy_idle_ms), "TIME",
     "60s", 1, HOURS_24_MS, NULL,
     "longest pause in the body of a request or reply"},
    {NULL, "proxy-tunnel-timeout", 0, OPTION_TIME, AT(proxy_tunnel_ms), "TIME",
     "60m", 1, HOURS_24_MS, NULL,
     "longest silence of a WebSocket or other tunnel"},
    {NULL, "proxy-keepalive", 0, OPTION_NUMBER, AT(proxy_idle_max), "N", "64",
     0, 65536, NULL,
     "idle connections kept to each server, per worker;\n"
     "0: none"},
    {NULL, "proxy-keepalive-timeout", 0, OPTION_TIME, AT(proxy_keepalive_ms),
     "TIME", "50s", 1, HOURS_24_MS, NULL,
     "how long an idle connection to a server is kept"},
    {NULL, "proxy-keepalive-requests", 0, OPTION_NUMBER, AT(proxy_requests_max),
     "N", "0", 0, UINT32_MAX, NULL,
     "requests over one connection to a server; 0: no\n"
     "limit"},
    {NULL, "proxy-retries", 0, OPTION_NUMBER, AT(proxy_retries), "N", "1", 0,
     BALANCE_SERVERS_MAX - 1, NULL,
     "other servers to try when a request may be\n"
     "repeated and nothing of a reply has come"},
    {NULL, "proxy-fails", 0, OPTION_NUMBER, AT(proxy_fails), "N", "3", 0,
     1000000, NULL,
     "failures after which a server is left out; 0:\n"
     "never"},
    {NULL, "proxy-fail-window", 0, OPTION_TIME, AT(proxy_fail_window_ms),
     "TIME", "10s", 1, HOURS_24_MS, NULL,
     "time within which --proxy-fails failures count\n"
     "together"},
    {NULL, "proxy-eject", 0, OPTION_TIME, AT(proxy_eject_ms), "TIME", "10s", 1,
     HOURS_24_MS, NULL,
     "how long a failing server is left out; doubled\n"
     "each time in a row"},
    {NULL, "proxy-eject-max", 0, OPTION_TIME, AT(proxy_eject_max_ms), "TIME",
     "5m", 1, HOURS_24_MS, NULL,
     "longest time that a failing server is left out"},
    {NULL, "proxy-slow-start", 0, OPTION_TIME, AT(proxy_slow_start_ms), "TIME",
     "0", 0, HOURS_24_MS, NULL,
     "time over which a server that has come back gets\n"
     "its full share of requests again"},
    {NULL, "proxy-probe", 0, OPTION_TEXT, AT(proxy_probe), "PATH", NULL, 0, 0,
     off,
     "path to ask servers for now and then, to learn\n"
     "which of them are up"},
    {NULL, "proxy-probe-interval", 0, OPTION_TIME, AT(proxy_probe_interval_ms),
     "TIME", "5s", 1, HOURS_24_MS, NULL, "time between two probes of a server"},
    {NULL, "proxy-probe-timeout", 0, OPTION_TIME, AT(proxy_probe_ms), "TIME",
     "2s", 1, HOURS_24_MS, NULL, "time within which a probe must be answered"},
    {NULL, "proxy-probe-status", 0, OPTION_TEXT, AT(proxy_probe_status),
     "RANGE", "200-399", 0, 0, NULL,
     "statuses of a probe's reply that count as success"},
    {NULL, "proxy-probe-rise", 0, OPTION_NUMBER, AT(proxy_probe_rise), "N", "2",
     1, 1000, NULL, "successful probes in a row that make a server up"},
    {NULL, "proxy-probe-fall", 0, OPTION_NUMBER, AT(proxy_probe_fall), "N", "3",
     1, 1000, NULL, "failed probes in a row that make a server down"},

    {"Status", "status", 0, OPTION_PREFIX, AT(status), "PREFIX", NULL, 0, 0,
     NULL,
     "dashboard, status.json, metrics and health below\n"
     "PREFIX, such as /_sprintd, for clients on this\n"
     "machine"},
    {NULL, "status-page", 0, OPTION_SWITCH, IN_LOCATION(status_page), NULL,
     NULL, 0, 0, NULL, "in a location: the same pages as --status serves"},
    {NULL, "status-allow", 0, OPTION_CIDRS, AT(status_allow), "CIDR", NULL, 0,
     OPTIONS_STATUS_ALLOW_MAX, NULL,
     "addresses that may see the status pages besides\n"
     "this machine; may be repeated"},
    {NULL, "status-host", 0, OPTION_TEXTS, AT(status_host), "NAME", NULL, 0,
     OPTIONS_STATUS_HOST_MAX, NULL,
     "names by which status pages and stores may be\n"
     "asked for, besides addresses, sites and this\n"
     "machine's name: a.example, *.a.example; may be\n"
     "repeated"},

    {"Output", "access-log", 0, OPTION_TEXT, AT_START(access_log), "WHERE",
     NULL, 0, 0, NULL,
     "where requests are logged: a file, - for standard\n"
     "output, syslog: or syslog:/SOCKET; SIGUSR1 opens\n"
     "it anew"},
    {NULL, "log-format", 0, OPTION_FORMAT, AT_START(log_format), "FORMAT",
     "combined", 0, 0, NULL,
     "format of the access log: common, combined, json,\n"
     "events, or a template such as \"%{remote}\n"
     "%{status} %{total_us}\""},
    {NULL, "log-overflow", 0, OPTION_CHOICE, AT_START(log_overflow), "WHAT",
     "drop", 0, 0, overflows,
     "what happens when the access log cannot be\n"
     "written fast enough; drop: lines are dropped and\n"
     "counted; wait: workers wait"},
    {NULL, "request-id", 0, OPTION_CHOICE, AT(request_id), "WHETHER", "on", 0,
     0, on_off,
     "pass an X-Request-Id on to servers and log it as\n"
     "%{request_id}; the one of a trusted proxy is kept"},
    {NULL, "log-level", 0, OPTION_CHOICE, AT(log_level), "LEVEL", "notice", 0,
     0, levels,
     "least severe message that is written to standard\n"
     "error"},
    {NULL, "report", 0, OPTION_CHOICE, AT(report), "WHEN", "auto", 0, 0,
     reports,
     "print statistics to standard error at exit; auto:\n"
     "when that is a terminal; SIGUSR2 prints them at\n"
     "any time"},
    {NULL, "server-timing", 0, OPTION_SWITCH, AT(server_timing), NULL, NULL, 0,
     0, NULL,
     "tell clients in every answer where its time went\n"
     "(Server-Timing)"},
    {NULL, "profile", 0, OPTION_SWITCH, AT_START(profile), NULL, NULL, 0, 0,
     NULL,
     "sample where processor time goes, for --report\n"
     "and --status"},

    {"Service", "daemon", 0, OPTION_SWITCH, AT_START(daemon), NULL, NULL, 0, 0,
     NULL, "leave the terminal once the server is ready"},
    {NULL, "pid-file", 0, OPTION_PATH, AT_START(pid_file), "FILE", NULL, 0, 0,
     NULL,
     "file that holds the process's number and is\n"
     "locked by it"},
    {NULL, "user", 0, OPTION_TEXT, AT_START(user), "NAME[:GROUP]", NULL, 0, 0,
     NULL,
     "user to become after start; files are opened as\n"
     "that user"},
    {NULL, "group", 0, OPTION_TEXT, AT_START(group), "NAME", NULL, 0, 0, NULL,
     "group to become instead of the user's own"},
    {NULL, "control", 0, OPTION_PATH, AT_START(control), "SOCKET", NULL, 0, 0,
     NULL,
     "socket through which `sprintd ctl` reaches this\n"
     "server"},
    {NULL, "sandbox", 0, OPTION_CHOICE, AT_START(sandbox), "HOW", "on", 0, 0,
     sandboxes,
     "restrict the process to the files and system\n"
     "calls it needs; on: as far as the kernel can;\n"
     "strict: refuse to start without it, and be killed\n"
     "for a forbidden call; off: no restriction"},

    {NULL, "help", 'h', OPTION_SWITCH, IN_COMMAND(wants_help), NULL, NULL, 0, 0,
     NULL, "print this help and exit"},
    {NULL, "version", 'V', OPTION_SWITCH, IN_COMMAND(wants_version), NULL, NULL,
     0, 0, NULL, "print version, libraries and limits, and exit"},
};

const size_t option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

const struct option_row *option_find(struct bytes name)
{
    for (size_t i = 0; i < option_row_count; i++)
        if (bytes_eq(bytes_of(option_rows[i].name), name))
            return &option_rows[i];
    return NULL;
}

const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value)
{
    while (choices->name && choices->value != value)
        choices++;
    return choices->name ? choices->name : "?";
}

const char *option_schedule_name(const struct options *options)
{
    return option_choice_name(schedules, options->schedule);
}

const char *option_policy_name(unsigned policy)
{
    return option_choice_name(cache_policies, policy);
}

const char *option_cache_policy_name(const struct options *options)
{
    return option_policy_name((unsigned)options->cache_policy);
}
