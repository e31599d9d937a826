#include "config/option_table_priv.h"

#include "files/compressor.h"
#include "files/dictionary_shelf.h"
#include "handler/encode.h"
#include "http/rules/compress_rules.h"
#include "http/rules/dictionary_rules.h"

static const struct option_row rows[] = {
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
     "codings in which files are compressed in the\n"
     "background, for clients that accept them: br,\n"
     "zstd, gzip; the first one accepted is made first;\n"
     "by default all three; off: none; may be repeated"},
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
     "compress answers of other servers, too, while they\n"
     "are sent"},
    {NULL, "compress-private", 0, OPTION_SWITCH, IN_LOCATION(compress_private),
     NULL, NULL, 0, 0, NULL,
     "compress also, while they are sent, answers to\n"
     "requests with credentials, and answers that set\n"
     "cookies; their lengths may tell secrets (BREACH)"},
    {NULL, "compress-streams", 0, OPTION_NUMBER, AT_START(compress_streams),
     "N", "64", 0, ENCODER_STREAMS_MAX, NULL,
     "answers that a worker compresses at a time while\n"
     "they are sent; further ones are sent as they are"},
    {NULL, "dictionary", 0, OPTION_TEXTS, IN_LOCATION(dictionary), "RULE", NULL,
     0, DICTIONARY_RULES_MAX, NULL,
     "paths of files that are sent as the difference\n"
     "from a version that the client has:\n"
     "/assets/app.*.js; with =/FILE, from that file;\n"
     "over https and on localhost; may be repeated"},
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
};

const struct option_group file_options = OPTION_GROUP(rows);
