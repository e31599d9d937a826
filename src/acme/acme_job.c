#include "acme/acme_job.h"

#include <time.h>

bool acme_job_is_for(const struct acme_job *job, struct bytes name)
{
    const struct texts *names = &job->certificate->names;
    bool is_found = false;

    for (size_t i = 0; i < names->count && !is_found; i++) {
        const char *item = names->items[i];

        if (strncmp(item, "*.", 2) == 0)
            item += 2;
        is_found = bytes_ieq(bytes_of(item), name);
    }
    return is_found;
}

enum acme_result acme_job_stay(const struct acme_job *job,
                               struct acme_problem *problem)
{
    return acme_state_lock(job->state, time(NULL)) == 0
               ? ACME_DONE
               : acme_tell(problem, ACME_FAILED,
                           "another machine has taken over");
}
