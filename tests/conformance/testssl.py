#!/usr/bin/env python3
"""testssl.py - judges what testssl.sh has found.

usage: testssl.py FOUND.json

A finding above LOW is a fault, but for those that are known; so is a grade other
than A+, which 3.0 does not give. The status is 1 on a fault.
"""

import json
import sys

HARMLESS = ("OK", "INFO", "LOW", "DEBUG")
KNOWN = {
    "engine_problem": "of testssl.sh: this machine's OpenSSL has no GOST",
    "cert_revocation": "the authority of this test says nothing of revocation",
    "cipher_order": "the client chooses among ciphers that are all good, as in "
                    "Mozilla's list",
    "cipherorder": "the same",
}


def main(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    bad = [one for one in found if one["severity"] not in HARMLESS]
    faults = [one for one in bad if one["id"] not in KNOWN]
    faults += [one for one in found
               if one["id"] == "overall_grade" and one["finding"] != "A+"]
    for one in bad:
        print(f"{one['severity']:8} {one['id']}: {one['finding']}"
              f"{' (' + KNOWN[one['id']] + ')' if one['id'] in KNOWN else ''}")
    versions = {one["id"] for one in found} & {"TLS1_2", "TLS1_3"}
    if len(versions) < 2:
        print("testssl.sh has found no server")
        return 1
    print(f"{len(found)} findings, {len(faults)} of them faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
