#include "config/config_foreign.h"

const struct config_foreign config_foreign_words[] = {
    /* nginx */
    {"http", "left out: what it holds stands at the top"},
    {"events", "left out"},
    {"server", "site \"name\" { ... }"},
    {"server_name", "hosts = {example.org} in a site"},
    {"server_tokens", "no-server-header = yes"},
    {"upstream",
     "one proxy with several servers: proxy = \"/=http://a:80,http://b:80\""},
    {"proxy_pass", "proxy = http://app:9000, in a site or a location"},
    {"proxy_set_header", "left out: X-Forwarded-For and the like are set, Host "
                         "stays (proxy-host = upstream: the server's)"},
    {"proxy_http_version", "left out: servers are asked by HTTP/1.1"},
    {"proxy_connect_timeout", "proxy-connect-timeout = 5s"},
    {"proxy_read_timeout",
     "proxy-timeout = 60s, and within a body proxy-idle-timeout = 60s"},
    {"proxy_send_timeout", "proxy-idle-timeout = 60s"},
    {"proxy_buffering", "left out: bodies stream, through proxy-buffer = 64K"},
    {"proxy_buffers", "proxy-buffer = 64K"},
    {"proxy_buffer_size", "proxy-buffer = 64K"},
    {"proxy_ssl_trusted_certificate",
     "proxy-tls-ca = inside.pem; without it the system's authorities count"},
    {"proxy_ssl_verify", "proxy-tls-verify = on, which it is by itself"},
    {"proxy_ssl_name", "proxy-tls-name = app.example"},
    {"proxy_ssl_server_name",
     "left out: upstreams by https:// are told a name"},
    {"proxy_ssl_certificate", "proxy-tls-certificate = front.pem"},
    {"proxy_ssl_certificate_key", "proxy-tls-certificate-key = front.key"},
    {"proxy_ssl_session_reuse", "left out: sessions are resumed"},
    {"proxy_next_upstream", "proxy-retries = 1"},
    {"fastcgi_pass",
     "not there: servers of HTTP are asked, by proxy = unix:/run/app.sock"},
    {"uwsgi_pass",
     "not there: servers of HTTP are asked, by proxy = unix:/run/app.sock"},
    {"alias", "root = /srv/files with strip-prefix = yes"},
    {"try_files", "try-files = {\"$path\", \"/index.html\"}"},
    {"error_page", "error-page = {\"404 /404.html\"}"},
    {"return", "redirect = \"/** /new 301\", or respond = \"text\""},
    {"rewrite", "redirect = \"/old/* /new/$1 301\", or try-files = {\"$path\", "
                "\"/index.html\"}"},
    {"expires", "cache-control-for = {\"*.css max-age=3600\"}"},
    {"add_header", "header-set = \"Name: value\""},
    {"default_type", "left out: types are those of /etc/mime.types"},
    {"types", "type = {\"*.ts video/mp2t\"}"},
    {"access_log", "access-log = /var/log/sprintd/access.log"},
    {"log_format", "log-format = combined"},
    {"error_log", "standard error, by log-level = notice"},
    {"auth_basic", "auth-realm = \"members\""},
    {"auth_basic_user_file", "auth-file = members"},
    {"client_max_body_size", "max-body = 10M"},
    {"client_body_timeout", "body-timeout = 30s"},
    {"client_header_timeout", "header-timeout = 10s"},
    {"keepalive_timeout", "keepalive-timeout = 60s"},
    {"keepalive_requests", "max-requests-per-connection = 1000"},
    {"send_timeout", "send-timeout = 30s"},
    {"limit_req", "rate-limit = 10/s with rate-burst = 20"},
    {"limit_req_zone", "rate-limit = 10/s, where it is to count"},
    {"limit_conn", "max-connections-per-address = 100"},
    {"worker_processes", "workers = 4"},
    {"worker_connections", "max-connections = 10000"},
    {"pid", "pid-file = /run/sprintd/pid"},
    {"gzip",
     "left out: compress does so by itself, as compress = {br, gzip} says"},
    {"gzip_static",
     "left out: app.js.gz, .br and .zst are sent where they lie beside app.js"},
    {"brotli",
     "left out: compress does so by itself, as compress = {br, gzip} says"},
    {"sendfile", "left out: send-method = auto does it"},
    {"tcp_nopush", "left out: heads and bodies leave together"},
    {"tcp_nodelay", "left out: nothing waits for more"},
    {"open_file_cache", "cache-size = 64M"},
    {"ssl_certificate",
     "certificate = full.pem; none is needed where hosts are reached by listen "
     "= \"https://:443\""},
    {"ssl_certificate_key", "certificate-key = key.pem"},
    {"ssl_client_certificate", "client-ca = clients.pem"},
    {"ssl_session_cache", "left out: sessions are resumed"},
    {"proxy_cache", "proxy-cache = memory"},
    {"proxy_cache_path", "proxy-cache = memory"},
    {"set_real_ip_from", "trusted-proxies = 10.0.0.0/8"},
    {"real_ip_header", "client-address = x-forwarded-for"},
    {"stub_status", "status = /_sprintd"},
    {"resolver", "left out: names are looked up as /etc/resolv.conf says"},
    /* Caddy: */
    {"reverse_proxy", "proxy = http://app:9000, in a site or a location"},
    {"file_server",
     "root = /srv/www; with a list of what is there, autoindex = yes"},
    {"handle", "location \"/path\" { ... }"},
    {"handle_path", "location \"/path\" { strip-prefix = yes ... }"},
    {"route", "location \"/path\" { ... }"},
    {"encode",
     "left out: compress does so by itself, as compress = {br, gzip} says"},
    {"redir", "redirect = \"/old /new 301\""},
    {"basic_auth", "auth-file = members, made by htpasswd -B"},
    {"basicauth", "auth-file = members, made by htpasswd -B"},
    {"request_body", "max-body = 10M"},
    {"php_fastcgi",
     "not there: servers of HTTP are asked, by proxy = unix:/run/app.sock"},
    {"tls", "certificate = full.pem with certificate-key = key.pem; none is "
            "needed where hosts are reached by listen = \"https://:443\""},
    {"log", "access-log = /var/log/sprintd/access.log"},
    {"import", "include \"snippets/*.conf\""},
    /* Apache; Caddy has "header", too */
    {"VirtualHost", "site \"name\" { ... }"},
    {"ServerName", "hosts = {example.org} in a site"},
    {"ServerAlias", "hosts = {example.org, \"*.example.org\"} in a site"},
    {"DocumentRoot", "root = /srv/www"},
    {"DirectoryIndex", "index = index.html"},
    {"Directory", "location \"/path\" { ... }"},
    {"Files", "location \"= /path\" { ... }"},
    {"Options", "autoindex = yes, or follow-symlinks = yes"},
    {"AllowOverride", "left out: what is said is said in this file"},
    {"Require", "allow = {10.0.0.0/8}, deny = all, or auth-file = members"},
    {"Redirect", "redirect = \"/old /new 301\""},
    {"RedirectMatch", "redirect = \"/old/* /new/$1 301\""},
    {"RewriteEngine", "left out"},
    {"RewriteCond", "left out: a site has hosts, a location a path"},
    {"RewriteRule", "redirect = \"/old/* /new/$1 301\", or try-files = "
                    "{\"$path\", \"/index.html\"}"},
    {"ProxyPass", "proxy = \"/app=http://app:9000/\""},
    {"ProxyPassReverse", "left out"},
    {"ErrorDocument", "error-page = {\"404 /404.html\"}"},
    {"CustomLog", "access-log = /var/log/sprintd/access.log"},
    {"ErrorLog", "standard error, by log-level = notice"},
    {"LoadModule", "left out"},
    {"AuthType", "left out: auth-file = members is HTTP Basic"},
    {"AuthName", "auth-realm = \"members\""},
    {"AuthUserFile", "auth-file = members"},
    {"Header", "header-set = \"Name: value\""},
    {"ExpiresByType", "cache-control-for = {\"text/css max-age=3600\"}"},
    {"AddType", "type = {\"*.ts video/mp2t\"}"},
    {"LimitRequestBody", "max-body = 10M"},
    {"MaxRequestWorkers", "max-connections = 10000"},
    {"SSLEngine", "listen = \"https://:443\""},
    {"SSLCertificateFile", "certificate = full.pem"},
    {"SSLCertificateKeyFile", "certificate-key = key.pem"},
    {"Include", "include \"sites/*.conf\", without '=' and in quotes"},
    {"IncludeOptional", "include \"sites/*.conf\""},
    /* lighttpd */
    {"server.document-root", "root = /srv/www"},
    {"server.port", "port = 80"},
    {"server.bind", "bind = 192.0.2.1"},
    {"server.modules", "left out"},
    {"server.username", "user = www-data"},
    {"server.groupname", "group = www-data"},
    {"server.pid-file", "pid-file = /run/sprintd/pid"},
    {"server.errorlog", "standard error, by log-level = notice"},
    {"server.max-connections", "max-connections = 10000"},
    {"server.error-handler-404", "error-page = {\"404 /404.html\"}"},
    {"accesslog.filename", "access-log = /var/log/sprintd/access.log"},
    {"ssl.engine", "listen = \"https://:443\""},
    {"ssl.pemfile", "certificate = full.pem"},
    {"ssl.privkey", "certificate-key = key.pem"},
    {"index-file.names", "index = index.html"},
    {"dir-listing.activate", "autoindex = yes"},
    {"mimetype.assign", "type = {\"*.ts video/mp2t\"}"},
    {"url.redirect", "redirect = \"/old/* /new/$1 301\""},
    {"url.rewrite-once", "try-files = {\"$path\", \"/index.html\"}"},
    {"setenv.add-response-header", "header-set = \"Name: value\""},
    {"auth.backend.htpasswd.userfile", "auth-file = members"},
    {"proxy.server", "proxy = \"/app=http://app:9000\""},
};

const size_t config_foreign_count = sizeof(config_foreign_words) /
                                    sizeof(config_foreign_words[0]);

static struct bytes trim_element(struct bytes word)
{
    size_t front = word.len > 0 && *word.data == '<';

    if (front && word.len > 1 && word.data[1] == '/')
        front++;
    word = (struct bytes){word.data + front, word.len - front};
    if (front > 0 && word.len > 0 && word.data[word.len - 1] == '>')
        word.len--;
    return word;
}

const char *config_foreign_find(struct bytes word)
{
    word = trim_element(word);
    for (size_t i = 0; i < config_foreign_count; i++)
        if (bytes_ieq(word, bytes_of(config_foreign_words[i].word)))
            return config_foreign_words[i].meaning;
    return NULL;
}
