#include "process/certificates/machine_trust.h"

#include "io/small_file.h"

bool machine_trust_has_added(const struct tls_pem *certificate)
{
    struct small_file file;
    bool is_same;

    if (small_file_read(&file, MACHINE_TRUST_ADDED_PATH) != 0)
        return false;
    is_same = bytes_eq((struct bytes){file.text, file.len},
                       (struct bytes){certificate->text, certificate->len});
    small_file_fini(&file);
    return is_same;
}

bool machine_trust_has_in_bundle(const struct tls_pem *certificate)
{
    struct small_file file;
    bool is_in;

    if (small_file_read(&file, MACHINE_TRUST_BUNDLE_PATH) != 0)
        return false;
    is_in = memmem(file.text, file.len, certificate->text, certificate->len);
    small_file_fini(&file);
    return is_in;
}
