/*
 * The units for systemd: well-formed, and as confined as they claim.
 */
#include "harness.h"

#include <sys/wait.h>

#define ANALYZE "/usr/bin/systemd-analyze"

static int start(void **state)
{
    return harness_begin(state);
}

/* A copy for this machine: with the program that there is, and without manual
 * pages that are not installed. */
static char *copy_unit(const char *name, const char *as)
{
    static const char installed[] = "/usr/bin/sprintd";
    char *text = read_text(printed("packaging/%s", name), NULL);
    char *path = printed("%s/%s", folder(), as);
    FILE *file = fopen(path, "we");
    char *line;

    assert_non_null(file);
    while ((line = strsep(&text, "\n"))) {
        char *program = strstr(line, installed);

        if (strncmp(line, "Documentation=", 14) == 0)
            continue;
        if (program)
            fprintf(file, "%.*s%s%s\n", (int)(program - line), line,
                    getenv("SPRINTD"), program + strlen(installed));
        else
            fprintf(file, "%s\n", line);
    }
    fclose(file);
    return path;
}

/* What it says, on either output; its status to *status_out. */
static char *analyze(const char *arguments, int *status_out)
{
    FILE *pipe = popen(printed(ANALYZE " %s 2>&1", arguments), "re");
    char *text = scratch(65536);
    size_t len;

    assert_non_null(pipe);
    len = fread(text, 1, 65535, pipe);
    text[len] = '\0';
    *status_out = pclose(pipe);
    return text;
}

static void expect_sound(const char *name, const char *as)
{
    char *path = copy_unit(name, as);
    char *text;
    int status;

    text = analyze(printed("verify %s", path), &status);
    if (status != 0 || text[0] != '\0')
        flunk("%s: %s", name, text);
}

TEST(units_are_well_formed)
{
    if (access(ANALYZE, X_OK) == -1)
        skip();
    copy_unit("sprintd.socket", "sprintd.socket");
    expect_sound("sprintd.service", "sprintd.service");
    expect_sound("sprintd.socket", "sprintd.socket");
    expect_sound("sprintd@.service", "sprintd@one.service");
}

/* systemd counts from 0, nothing is exposed, to 10. */
TEST(they_expose_next_to_nothing)
{
    static const char *const names[][2] = {
        {"sprintd.service", "sprintd.service"},
        {"sprintd@.service", "sprintd@one.service"}};

    if (access(ANALYZE, X_OK) == -1)
        skip();
    for (size_t i = 0; i < 2; i++) {
        char *path = copy_unit(names[i][0], names[i][1]);
        int status;
        char *text = analyze(printed("security --offline=true --threshold=10 "
                                     "--no-pager %s",
                                     path),
                             &status);

        if (status != 0)
            flunk("%s: %s", names[i][0], text);
    }
}

E2E_SUITE(start);
