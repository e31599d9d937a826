#include "tools/cache_tool.h"

#include <string.h>
#include <sysexits.h>

#include "process/control.h"
#include "tools/ctl.h"

static int usage(FILE *errors)
{
    fputs("sprintd: usage: sprintd cache [--control SOCKET] purge [--soft] "
          "[--tag TAGS] [ADDRESS]\n"
          "                sprintd cache [--control SOCKET] ls [ADDRESS]\n"
          "                sprintd cache [--control SOCKET] stat\n",
          errors);
    return EX_USAGE;
}

/* Whether `text` is a single word, which can be put into the request's line. */
static bool is_word(const char *text)
{
    return *text != '\0' && !strpbrk(text, " \t\r\n");
}

/* Puts the words of a purge into the request's line. Returns false if the
 * arguments are invalid. */
static bool put_purge(int count, char **arguments, struct buf *line)
{
    bool has_address = false;

    if (count == 0)
        return false;
    for (int i = 0; i < count; i++) {
        if (strcmp(arguments[i], "--soft") == 0) {
            buf_put_literal(line, " soft");
        } else if (strcmp(arguments[i], "--tag") == 0 && i + 1 < count &&
                   is_word(arguments[i + 1])) {
            buf_printf(line, " tags=%s", arguments[++i]);
        } else if (*arguments[i] == '-' || has_address ||
                   !is_word(arguments[i])) {
            return false;
        } else {
            has_address = true;
            buf_printf(line, " %s", arguments[i]);
        }
    }
    return true;
}

static bool put_words(int count, char **arguments, struct buf *line)
{
    const char *name = count > 0 ? arguments[0] : "";

    buf_printf(line, "cache %s", name);
    if (strcmp(name, "purge") == 0)
        return put_purge(count - 1, arguments + 1, line);
    if (strcmp(name, "stat") == 0)
        return count == 1;
    if (strcmp(name, "ls") != 0 || count > 2)
        return false;
    if (count == 2)
        buf_printf(line, " %s", arguments[1]);
    return count == 1 || (is_word(arguments[1]) && *arguments[1] != '-');
}

int cache_tool_run(int count, char **arguments, FILE *out, FILE *errors)
{
    const char *path = CTL_SOCKET_DEFAULT;
    struct buf line;
    int status;

    if (count >= 2 && strcmp(arguments[0], "--control") == 0) {
        path = arguments[1];
        arguments += 2;
        count -= 2;
    }
    buf_init(&line, NULL, 0, CONTROL_REQUEST_MAX);
    if (!put_words(count, arguments, &line) || line.failed)
        status = usage(errors);
    else
        status = ctl_ask(path, buf_bytes(&line), CTL_ANSWER_S, out, errors);
    buf_fini(&line);
    return status;
}
