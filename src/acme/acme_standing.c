#include "acme/acme_standing.h"

#include <stdio.h>

#include "base/siphash.h"

enum { PAUSE_MAX_S = 2 * 24 * 3600 /* no pause between tries is longer */ };

static bool covers_all(const struct tls_certificate *certificate,
                       const struct texts *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!tls_certificate_covers(certificate, bytes_of(names->items[i])))
            return false;
    return true;
}

/* Returns a hash of `text`, as the `chance` that spreads the times of renewal
 * (acme_record.h). */
static uint32_t chance_of(struct bytes text)
{
    static const struct siphash_key key; /* need not be secret */

    return (uint32_t)siphash_of(&key, text).words[0];
}

static void judge(struct bytes text,
                  const struct managed_certificate *certificate, int64_t now_s,
                  struct acme_standing *standing)
{
    struct tls_certificate *read = NULL;
    char fault[TLS_FAULT_MAX];

    if (tls_certificate_create(&read, text, text, fault) != 0)
        return;
    if (covers_all(read, &certificate->names)) {
        (void)!acme_renewal_identify(text, standing->id);
        standing->begins_at = tls_certificate_begins_at(read);
        standing->ends_at = tls_certificate_ends_at(read);
        standing->is_good = standing->ends_at > now_s;
        memcpy(standing->issuer, tls_certificate_issuer(read),
               strlen(tls_certificate_issuer(read)) + 1);
        standing->due_at = acme_record_due(
            &standing->record, standing->begins_at, standing->ends_at,
            chance_of(bytes_of(tls_certificate_fingerprint(read))));
    }
    tls_certificate_release(&read);
}

/* Resets times that are further away than the longest pause: the clock was
 * wrong when they were set, or is wrong now. */
static void mend_times(struct acme_record *record, int64_t now_s)
{
    if (record->next_s > now_s + PAUSE_MAX_S)
        record->next_s = 0;
    if (record->look_s < 0 || record->look_s > now_s + PAUSE_MAX_S)
        record->look_s = 0;
}

void acme_standing_look(const struct acme_state *state,
                        const struct managed_certificate *certificate,
                        int64_t now_s, struct acme_standing *standing)
{
    char name[NAME_MAX + 1];
    struct small_file file;

    *standing = (struct acme_standing){.is_good = false};
    if (acme_state_read(state, ACME_FOLDER_ORDERS, certificate->name, &file) ==
        0) {
        acme_record_read(&standing->record,
                         (struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    snprintf(name, sizeof(name), "%.250s.pem", certificate->name);
    if (acme_state_read(state, ACME_FOLDER_LIVE, name, &file) == 0) {
        judge((struct bytes){file.text, file.len}, certificate, now_s,
              standing);
        small_file_fini(&file);
    }
    mend_times(&standing->record, now_s);
    if (standing->due_at < standing->record.next_s)
        standing->due_at = standing->record.next_s;
}
