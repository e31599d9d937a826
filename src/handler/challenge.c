#include "handler/challenge.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a token is base64url. Such a token has no dot or slash, and so can
 * only name a file in the folder. */
static bool is_token(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = byte_lower(text.data[i]);

        if (!(c >= 'a' && c <= 'z') && !byte_is_digit(c) && c != '-' &&
            c != '_')
            return false;
    }
    return text.len > 0 && text.len <= CHALLENGE_TOKEN_MAX;
}

/* Reads the file of a token. Returns its length, or 0 if the file is missing or
 * invalid. */
static size_t read_file(const char *folder, struct bytes token,
                        char text[CHALLENGE_TEXT_MAX])
{
    char path[PATH_MAX];
    struct stat st;
    ssize_t len = 0;
    int fd;

    if (snprintf(path, sizeof(path), "%s/%.*s", folder, (int)token.len,
                 token.data) >= (int)sizeof(path))
        return 0;
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size <= CHALLENGE_TEXT_MAX)
        len = read(fd, text, CHALLENGE_TEXT_MAX);
    close(fd);
    return len > 0 ? (size_t)len : 0;
}

bool challenge_answer(struct exchange *exchange, const char *folder,
                      const struct server_defaults *defaults)
{
    struct bytes path = exchange->request.path;
    size_t prefix = sizeof(CHALLENGE_PREFIX) - 1;
    enum method method = exchange->request.method;
    struct bytes token;
    char text[CHALLENGE_TEXT_MAX];
    size_t len;

    if ((method != METHOD_GET && method != METHOD_HEAD) ||
        !challenge_is_at(path))
        return false;
    token = (struct bytes){path.data + prefix, path.len - prefix};
    if (!is_token(token) || (len = read_file(folder, token, text)) == 0)
        return false;
    response_make_short(&exchange->response, 200, BYTES(""),
                        BYTES("application/octet-stream"),
                        (struct bytes){text, len}, defaults);
    return true;
}
