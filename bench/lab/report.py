"""Tables of what came out."""

from . import costs, loads

IDLE_BYTES_MAX = 600


def short(value):
    """Three digits that matter, grouped."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _sound(cells, load_name, server_name):
    cell = cells.get((load_name, server_name))
    return cell if cell and not cell.trouble else None


def _goal_cells(cells, load):
    """sprintd's cell and the one the load's goal measures it against; None
    for what is missing."""
    if not load.goal:
        return None, None
    return (_sound(cells, load.name, "sprintd"),
            _sound(cells, load.goal.load or load.name, load.goal.server))


def ratio_to_goal(cells, load):
    """sprintd's cost by what the load's goal measures it against, or None."""
    ours, theirs = _goal_cells(cells, load)
    return ours.cpu_us / theirs.cpu_us if ours and theirs else None


def verdict(cells, load):
    """Whether sprintd reaches the load's goal; "" when there is none."""
    if not load.goal:
        return ""
    ratio = ratio_to_goal(cells, load)
    if ratio is None:
        return f"{load.goal}: not measured"
    state = "reached" if ratio <= load.goal.factor else "MISSED"
    noisy = any(cell.noise for cell in _goal_cells(cells, load))
    return f"{load.goal}: {ratio:.2f}, {state}{' (noisy)' if noisy else ''}"


def _best_peer(cells, load, names):
    costs = [cell.cpu_us for name in names if name not in ("floor", "sprintd")
             for cell in [_sound(cells, load.name, name)] if cell]
    return min(costs, default=None)


def print_load(cells, load, names):
    """One load's table."""
    floor = _sound(cells, load.name, "floor")
    best = _best_peer(cells, load, names)
    print(f"\n{load.title}  [{load.name}]")
    print(f"  {'':9}{'replies/s':>10}{'CPU µs/reply':>14}{'(min..max)':>18}"
          f"{'CPU':>6}{'× floor':>9}{'× best peer':>13}")
    for name in names:
        cell = cells[load.name, name]
        if cell.trouble:
            print(f"  {name:9} invalid: {cell.trouble}")
            continue
        low, high = cell.spread
        by_floor = f"{cell.cpu_us / floor.cpu_us:.2f}" if floor else "-"
        by_best = f"{cell.cpu_us / best:.2f}" if best else "-"
        print(f"  {name:9}{cell.median('per_second'):>10,.0f}"
              f"{short(cell.cpu_us):>14}"
              f"{f'{short(low)}..{short(high)}':>18}"
              f"{cell.median('busy'):>6.0%}{by_floor:>9}{by_best:>13}"
              f"{'  noisy: ' + cell.noise if cell.noise else ''}")
    if load.goal:
        print(f"  sprintd {verdict(cells, load)}")


def print_idle(idle, names):
    """Memory per idle connection: a dict from idle.measure() for each name,
    or a string that says why there is none."""
    count = max((row["connections"] for row in idle.values()
                 if isinstance(row, dict)), default=0)
    print(f"\nUser memory per connection at {count:,} idle ones  [idle]")
    for name in names:
        row = idle[name]
        if isinstance(row, str):
            print(f"  {name:9} invalid: {row}")
            continue
        print(f"  {name:9}{row['per_connection']:>8,.0f} bytes   ("
              f"{row['before_bytes'] / 1024:,.0f} KiB before, "
              f"{row['after_bytes'] / 1024:,.0f} KiB after)")
    print(f"  sprintd {idle_verdict(idle)}")


def idle_verdict(idle):
    row = idle.get("sprintd")
    goal = f"≤ {IDLE_BYTES_MAX} bytes"
    if not isinstance(row, dict):
        return f"{goal}: not measured"
    state = "reached" if row["per_connection"] <= IDLE_BYTES_MAX else "MISSED"
    return f"{goal}: {row['per_connection']:,.0f}, {state}"


def _cost_rows(cells):
    """Of each way: its title, and by workers a cell or None, and a share."""
    for way in costs.WAYS:
        row = [(cells.get(costs.name_of(way, workers)),
                costs.share(cells, way, workers)) for workers in costs.WORKERS]
        if any(cell for cell, _share in row):
            yield way, [(cell if cell and not cell.trouble else None, share)
                        for cell, share in row]


def print_costs(cells):
    """What logs and statistics cost."""
    print(f"\nWhat logs and statistics cost: {costs.LOAD.title}, "
          f"{costs.SECONDS:g} s a sample, CPU µs per reply (min..max)  "
          "[costs]")
    print(f"  {'':28}" + "".join(f"{f'workers: {workers}':>32}"
                                 for workers in costs.WORKERS))
    for way, row in _cost_rows(cells):
        text = ""
        for cell, share in row:
            if not cell:
                text += f"{'invalid':>32}"
                continue
            low, high = map(short, cell.spread)
            more = f"{share:+.1%}" if share is not None else ""
            text += f"{f'{short(cell.cpu_us)} ({low}..{high}) {more:>7}':>32}"
        print(f"  {way.title:28}{text}")
    for name, cell in cells.items():
        if cell.trouble or cell.noise:
            print(f"  {name}: {cell.trouble or 'noisy: ' + cell.noise}")


def print_costs_markdown(cells):
    print("\n| CPU µs per reply: median, least to most | "
          + " | ".join(f"{workers} worker{'s' * (workers > 1)}"
                       for workers in costs.WORKERS) + " |")
    print("|---|" + "---|" * len(costs.WORKERS))
    for way, row in _cost_rows(cells):
        texts = []
        for cell, share in row:
            if not cell:
                texts.append("–")
                continue
            low, high = map(short, cell.spread)
            more = f"; {share:+.1%}" if share is not None else ""
            texts.append(f"{short(cell.cpu_us)}, {low} to {high}{more}")
        print(f"| {way.title} | {' | '.join(texts)} |")


def print_markdown(cells, measured, idle, names):
    """The summary, ready for a README: CPU µs per reply."""
    print("\n| CPU µs per reply | " + " | ".join(names) + " | goal |")
    print("|---|" + "---:|" * len(names) + "---|")
    for load in measured:
        found = [_sound(cells, load.name, name) for name in names]
        numbers = [short(cell.cpu_us) if cell else "–" for cell in found]
        print(f"| {load.title} | {' | '.join(numbers)} | "
              f"{verdict(cells, load)} |")
    if idle:
        numbers = [f"{idle[name]['per_connection']:,.0f}"
                   if isinstance(idle[name], dict) else "–" for name in names]
        print(f"| bytes per idle connection | {' | '.join(numbers)} | "
              f"{idle_verdict(idle)} |")


def as_json(cells, measured, idle, cost_cells=None):
    """Every sample, by load and server."""
    rows = []
    for load in measured:
        found = {server: [vars(sample) for sample in cell.samples]
                 for (name, server), cell in cells.items()
                 if name == load.name}
        rows.append({"name": load.name, "title": load.title,
                     "goal": str(load.goal) if load.goal else None,
                     "ratio_to_goal": ratio_to_goal(cells, load),
                     "servers": found})
    return {"loads": rows, "idle": idle,
            "costs": {name: [vars(sample) for sample in cell.samples]
                      for name, cell in (cost_cells or {}).items()}}


def known_loads():
    """For --help."""
    return ",".join(load.name for load in loads.LOADS) + ",idle,costs,kv,proxy,cache"
