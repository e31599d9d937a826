"""Tables of what the reverse proxy's loads have shown."""

from . import classic, kv_report, proxy
from .report import short

COLUMNS = ("a second", "50% ms", "99% ms", "longest ms", "CPU µs")


def print_groups(lab, groups):
    print(f"\nThe reverse proxy, one worker on CPU {lab.server_cpu}; what is "
          f"behind it on CPU {lab.client_cpu}  [proxy]")
    haproxy = proxy.Haproxy(lab)
    if not haproxy.missing():
        print(f"  haproxy {haproxy.version()}")
    for result in groups:
        kv_report.print_group(*result)


def print_cache(lab, groups):
    print(f"\nThe cache of proxied answers, one worker on CPU "
          f"{lab.server_cpu}  [cache]")
    for result in groups:
        kv_report.print_group(*result)


def _texts(row):
    cpu_us = row.get("cpu_us")
    return (f"{row['per_second']:,.0f}", f"{row['median_ms']:,.0f}",
            f"{row['p99_ms']:,.0f}", f"{row['longest_ms']:,.0f}",
            short(cpu_us) if cpu_us else "–")


def _verdict(rows):
    """Whether no request has failed through any sprintd."""
    ours = [row for name, row in rows.items() if name.startswith("sprintd")
            and "left_out" not in row]
    if not ours:
        return "no request fails: not measured"
    state = "MISSED" if any(row["trouble"] for row in ours) else "reached"
    return f"no request fails, all are of the right length: {state}"


def print_classic(rows, requests):
    print(f"\nab -c {classic.CONNECTIONS} -n {requests}, and python3 -m "
          f"http.server behind; 1 KiB")
    print(f"  {'':24}" + "".join(f"{name:>12}" for name in COLUMNS))
    for name, row in rows.items():
        if "left_out" in row:
            print(f"  {name:24}  left out: {row['left_out']}")
            continue
        numbers = ("".join(f"{text:>12}" for text in _texts(row))
                   if "per_second" in row else "")
        print(f"  {name:24}{numbers}"
              + (f"  invalid: {row['trouble']}" if row["trouble"] else ""))
    print(f"  sprintd: {_verdict(rows)}")


def print_markdown(groups, rows):
    kv_report.print_groups_markdown(groups)
    print("\n| " + " | ".join(("", *COLUMNS)) + " | |")
    print("|---|" + "---:|" * len(COLUMNS) + "---|")
    for name, row in rows.items():
        if "per_second" in row:
            print(f"| {name} | {' | '.join(_texts(row))} | {row['trouble']} |")


def as_json(groups, rows):
    return {**kv_report.as_json(groups, []), "classic": rows}
