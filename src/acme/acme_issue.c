#include "acme/acme_issue.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "acme/acme_x509.h"
#include "io/tls/tls_certificate.h"

enum { PAYLOAD_MAX = 65536, DAY_S = 24 * 3600 };

/* --- The key ------------------------------------------------------------- */

static bool name_key(const struct acme_job *job, char name[NAME_MAX + 1])
{
    int len = snprintf(name, NAME_MAX + 1, "%s.key", job->certificate->name);

    return len > 0 && len <= NAME_MAX;
}

static int read_key(const struct acme_job *job, struct small_file *file)
{
    char name[NAME_MAX + 1];

    return name_key(job, name)
               ? acme_state_read(job->state, ACME_FOLDER_ORDERS, name, file)
               : -ENAMETOOLONG;
}

static void wipe(struct buf *text)
{
    if (text->data)
        explicit_bzero(text->data, text->len);
    buf_fini(text);
}

enum acme_result acme_issue_make_key(const struct acme_job *job,
                                     struct acme_problem *problem)
{
    struct acme_key *key = acme_key_create(job->settings->key);
    char name[NAME_MAX + 1];
    struct buf pem;
    int err = -ENOMEM;

    buf_init(&pem, NULL, 0, ACME_KEY_PEM_MAX);
    if (key && name_key(job, name) && acme_key_put_pem(key, &pem))
        err = acme_state_write(job->state, ACME_FOLDER_ORDERS, name,
                               buf_bytes(&pem));
    wipe(&pem);
    acme_key_destroy(key);
    return err == 0 ? ACME_DONE
                    : acme_tell(problem, ACME_FAILED,
                                "the key cannot be kept in '%.200s': %s",
                                job->state->path, strerror(-err));
}

static struct acme_key *load_key(const struct acme_job *job)
{
    struct acme_key *key = NULL;
    struct small_file file;

    if (read_key(job, &file) == 0) {
        key = acme_key_load((struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    return key;
}

bool acme_issue_has_key(const struct acme_job *job)
{
    struct acme_key *key = load_key(job);

    acme_key_destroy(key);
    return key;
}

/* --- The request --------------------------------------------------------- */

enum acme_result acme_issue_finalize(const struct acme_job *job,
                                     const char *url,
                                     struct acme_problem *problem)
{
    struct acme_key *key = load_key(job);
    struct acme_reply reply = {.json = {0}};
    enum acme_result result = ACME_FAILED;
    struct buf json;

    buf_init(&json, NULL, 0, PAYLOAD_MAX);
    buf_put_literal(&json, "{\"csr\":\"");
    if (key && acme_x509_put_request(key, &job->certificate->names, &json)) {
        buf_put_literal(&json, "\"}");
        buf_put(&json, (struct bytes){"", 1});
        result = json.failed ? acme_tell(problem, ACME_FAILED, "out of memory")
                             : acme_client_post(job->client, url, json.data,
                                                false, &reply, problem);
    } else {
        acme_tell(problem, ACME_FAILED, "the key of the order is lost");
    }
    acme_reply_fini(&reply);
    buf_fini(&json);
    acme_key_destroy(key);
    return result;
}

/* --- The certificate ----------------------------------------------------- */

static const char KEY_MARK[] = "PRIVATE KEY-----";

void acme_issue_judge(struct bytes chain, struct bytes key,
                      const struct texts *names, int64_t now_s,
                      char fault[ACME_FAULT_MAX])
{
    struct tls_certificate *certificate = NULL;
    char why[TLS_FAULT_MAX] = "";
    int err = chain.len > 0
                  ? tls_certificate_create(&certificate, chain, key, why)
                  : -EINVAL;

    fault[0] = '\0';
    if (chain.len == 0) {
        snprintf(fault, ACME_FAULT_MAX, "the authority's certificate is empty");
        return;
    }
    if (err != 0) {
        snprintf(fault, ACME_FAULT_MAX, "the authority's certificate %s",
                 err == -ENOMEM ? "needs more memory than there is" : why);
        return;
    }
    for (size_t i = 0; i < names->count && fault[0] == '\0'; i++)
        if (!tls_certificate_covers(certificate, bytes_of(names->items[i])))
            snprintf(fault, ACME_FAULT_MAX,
                     "the authority's certificate is not for %s",
                     names->items[i]);
    if (fault[0] == '\0' && tls_certificate_ends_at(certificate) <= now_s)
        snprintf(fault, ACME_FAULT_MAX,
                 "the authority's certificate has ended already: is this "
                 "machine's clock right?");
    if (fault[0] == '\0' &&
        tls_certificate_begins_at(certificate) > now_s + DAY_S)
        snprintf(fault, ACME_FAULT_MAX,
                 "the authority's certificate does not count yet: is this "
                 "machine's clock right?");
    /* A private key in the chain is refused: the saved file would have it
     * before the certificate's own key. */
    if (fault[0] == '\0' &&
        memmem(chain.data, chain.len, KEY_MARK, sizeof(KEY_MARK) - 1))
        snprintf(fault, ACME_FAULT_MAX,
                 "the authority's certificate has a private key with it");
    tls_certificate_release(&certificate);
}

/* Saves chain and key in one file, so that neither can be there without the
 * other. */
static int keep(const struct acme_job *job, struct bytes chain,
                struct bytes key)
{
    char name[NAME_MAX + 1];
    struct buf text;
    int len = snprintf(name, sizeof(name), "%s.pem", job->certificate->name);
    int err = -ENOMEM;

    buf_init(&text, NULL, 0, ACME_FILE_MAX);
    buf_put(&text, chain);
    if (text.len > 0 && text.data[text.len - 1] != '\n')
        buf_put_literal(&text, "\n");
    buf_put(&text, key);
    if (!text.failed && len <= NAME_MAX)
        err = acme_state_write(job->state, ACME_FOLDER_LIVE, name,
                               buf_bytes(&text));
    wipe(&text);
    return err;
}

static enum acme_result take(const struct acme_job *job, struct bytes chain,
                             struct acme_problem *problem)
{
    struct small_file key;
    char fault[ACME_FAULT_MAX];
    int err = read_key(job, &key);

    if (err != 0)
        return acme_tell(problem, ACME_FAILED,
                         "the key of the order is lost: %s", strerror(-err));
    acme_issue_judge(chain, (struct bytes){key.text, key.len},
                     &job->certificate->names, time(NULL), fault);
    if (fault[0] == '\0')
        err = keep(job, chain, (struct bytes){key.text, key.len});
    small_file_fini(&key);
    if (fault[0] != '\0')
        return acme_tell(problem, ACME_REFUSED, "%s", fault);
    if (err != 0)
        return acme_tell(problem, ACME_FAILED,
                         "the certificate cannot be kept in '%.200s': %s",
                         job->state->path, strerror(-err));
    return ACME_DONE;
}

enum acme_result acme_issue_take(const struct acme_job *job, const char *url,
                                 struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result = acme_client_post(job->client, url, NULL, false,
                                               &reply, problem);

    if (result == ACME_DONE)
        result = take(job, buf_bytes(&reply.answer.body), problem);
    acme_reply_fini(&reply);
    return result;
}

void acme_issue_forget_key(const struct acme_job *job)
{
    char name[NAME_MAX + 1];

    if (name_key(job, name))
        acme_state_remove(job->state, ACME_FOLDER_ORDERS, name);
}
