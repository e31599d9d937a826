#include "config/certificates/state_folder.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM_FOR_NAMES = 400 }; /* bytes for names below the folder */

static const char *find_home(void)
{
    const char *home = getenv("HOME");
    const struct passwd *user;

    if (home && *home == '/')
        return home;
    user = getpwuid(geteuid());
    return user ? user->pw_dir : NULL;
}

bool state_folder_find(char folder[PATH_MAX], const char *told)
{
    const char *found = getenv(STATE_FOLDER_VARIABLE);
    const char *state = getenv("STATE_DIRECTORY");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home;
    int len = 0;

    if (told)
        len = snprintf(folder, PATH_MAX, "%s", told);
    else if (found)
        len = snprintf(folder, PATH_MAX, "%s", found);
    else if (state && *state == '/')
        len = snprintf(folder, PATH_MAX, "%.*s", (int)strcspn(state, ":"),
                       state);
    else if (data && *data == '/' && getuid() == geteuid())
        len = snprintf(folder, PATH_MAX, "%s/sprintd", data);
    else if (geteuid() == 0)
        len = snprintf(folder, PATH_MAX, "%s", STATE_FOLDER_DEFAULT);
    else if ((home = find_home()))
        len = snprintf(folder, PATH_MAX, "%s/.local/share/sprintd", home);
    return len > 0 && len < PATH_MAX - ROOM_FOR_NAMES;
}
