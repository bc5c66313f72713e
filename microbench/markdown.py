# SPDX-License-Identifier: MIT
"""The figures of README.md, as compare and http print them with --markdown: the command, what was
measured, the tables. README.md takes them as they are."""
import shlex
import sys
import textwrap


def number(value):
    """About three digits: 1,024, 121, 17.2, 0.79."""
    if value >= 19.95 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def spread(low, high, scale=1.0):
    return f"{number(low * scale)} to {number(high * scale)}"


def goals(parts):
    """parts: (text, reached). Reached None: it could not be compared."""
    return ", ".join(text + (" **missed**" if reached is False else "") for text, reached in parts)


def table(head, rows):
    lines = ["| " + " | ".join(line) + " |" for line in [head] + rows]
    lines.insert(1, "|" + "---|" * len(head))
    return "\n".join(lines)


def paragraph(text):
    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False)


def command(program):
    return f"```sh\n{shlex.join(['microbench/' + program] + sys.argv[1:])}\n```"


# ---- compare --------------------------------------------------------------------------------


def plural(count, word):
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def work_cell(row):
    """`chain`, 64 colors, fixed work"""
    bench, _, more = row["work"].partition(", ")
    if bench == "fan":
        return "`fan`, share of the ideal"
    count = plural(row["colors"], "pair" if bench == "pingpong" else "color")
    return f"`{bench}`, {count}" + (f", {more}" if more else "")


def figure(row, one):
    """The median and the spread of a summary; fan is shown in percent of the ideal."""
    if row["work"] == "fan" and "ideal_pct" in one:
        scale, unit = one["ideal_pct"] / one["median"], " %"
    else:
        scale, unit = row["scale"], ""
    return number(one["median"] * scale) + unit, spread(one["min"], one["max"], scale) + unit


def peer_cell(row, peer):
    if peer in row["peers"]:
        return figure(row, row["peers"][peer])[0]
    return f"({row['last_known'][peer]})" if peer in row["last_known"] else "-"


def goal_cell(row):
    enough = None if row["ratio"] is None else row["ratio"] >= row["goal"]
    parts = [(f"{row['goal']:g}x", enough)]
    for extra in row["extras"]:
        if extra["key"] == "ideal_pct":
            parts.append((f"{extra['limit']:g} %", extra["reached"]))
        elif not extra["reached"]:
            parts.append((f"{extra['what']} {extra['value']:.2f} of {extra['limit']:g}", False))
    return goals(parts)


def compared(rows, titles, missing):
    """The rows that have a peer: one column for each peer."""
    head = (["work", "Mely", "spread"]
            + [title + (", missing" if peer in missing else "") for peer, title in titles.items()]
            + ["to the best", "goal"])
    body = []
    for row in rows:
        median, limits = figure(row, row["ours"])
        body.append([work_cell(row), median, limits]
                    + [peer_cell(row, peer) for peer in titles]
                    + [f"{row['ratio']:.2f}x" if row["ratio"] else "-", goal_cell(row)])
    return table(head, body)


def fairness(rows, titles):
    """Do colors starve? The least fairness of each contender, over all rows that have one."""
    least = {}
    for row in rows:
        for name, one in [("mely", row["ours"])] + list(row["peers"].items()):
            if "fairness" in one:
                least[name] = min(one["fairness"], least.get(name, 1))
    said = [f"{title} {least[name]:.2f}"
            for name, title in [("mely", "Mely")] + list(titles.items()) if name in least]
    if not said:
        return ""
    return paragraph("Events of the slowest color to those of the fastest, the least of these rows: "
                     + ", ".join(said) + ".")


def alone(rows, own):
    """The rows that are compared with another row of ours, or with a limit."""
    body = []
    for row in rows:
        median, limits = figure(row, row["ours"])
        # A row that --only left without its base has nothing to compare with.
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}x `{row['base']}`"
        body.append([work_cell(row), f"{median} M/s ({limits})", ratio, goal_cell(row)])
    for row in own:
        limit = "-" if row["limit"] is None else goals(
            [(f"at most {row['limit']:g}", row["reached"])])
        line = row["line"]
        limits = spread(line["min"], line["max"]) if row["spread"] else "one run"
        # "bytes", but "x the bare eventfd": 64 bytes, 1.1x the bare eventfd
        space = "" if row["what"].startswith("x ") else " "
        body.append([row["work"], f"{number(row['ours'])} {row['unit']} ({limits})",
                     f"{row['measured']:.3g}{space}{row['what']}", limit])
    if not body:
        return ""
    return table(["work", "Mely (spread)", "measured", "goal"], body)


def missing_note(rows, titles, missing):
    if not missing:
        return ""
    text = "Missing on this machine: " + ", ".join(titles[peer] for peer in missing) + "."
    if any(row["last_known"] for row in rows):
        text += (" In parentheses: the last figures known, of two cores of the 2.3 GHz class before"
                 " the project began; no ratio uses them.")
    return paragraph(text)


def print_compare(table_rows, own, options, machine, titles, missing):
    """What README.md says of the microbenchmarks."""
    parts = [
        "With the peers that `microbench/install-peers` installs and `make peers` builds:",
        command("compare"),
        paragraph(
            f"{machine}; {plural(options.cores, 'core')}. Medians and spreads (least to greatest)"
            f" of {plural(options.runs, 'interleaved run')} of {options.seconds:g} s, in millions"
            " of events a second. The peers do the same work in the same run; where a peer has"
            " several programs, the best one counts. With fixed work, a runtime gains nothing by"
            " starving colors."),
        compared([r for r in table_rows if "base" not in r], titles, missing),
        missing_note(table_rows, titles, missing),
        fairness(table_rows, titles),
        alone([r for r in table_rows if "base" in r], own),
    ]
    print("\n\n".join(part for part in parts if part))


# ---- http -----------------------------------------------------------------------------------

# The most that a request may cost, in requests to the bare loop; the goal is for keep-alive.
HTTP_GOAL = {"keep-alive": 1.05}
HTTP_WORDS = {"keep-alive": "keep-alive", "pipelined": "pipelined by 16",
              "150": "150 requests a connection"}


def http_row(bench, rows, names):
    found = {row["peer"]: row for row in rows}
    ours, bare = found.get("mely"), found.get("bare")
    others = [found[n]["median"] for n in names if n in found]
    parts = []
    if ours and bare and bench in HTTP_GOAL:
        limit = HTTP_GOAL[bench]
        parts.append((f"{limit:g}x bare", ours["median"] <= limit * bare["median"]))
    if ours and others:
        parts.append(("below all", ours["median"] < min(others)))

    def cell(row):
        return number(row["median"]) if row else "-"

    return ([HTTP_WORDS[bench], cell(ours), spread(ours["min"], ours["max"]) if ours else "-",
             cell(bare), f"{ours['median'] / bare['median']:.2f}x" if ours and bare else "-"]
            + [cell(found.get(name)) for name in names] + [goals(parts) or "-"])


def print_http(ways, options):
    """What README.md says of sws. ways: from the way to request to the rows of all servers."""
    names = ["h2o", "lighttpd", "nginx", "apache"]
    seen = {row["peer"] for rows in ways.values() for row in rows}
    parts = [
        command("http"),
        paragraph(
            f"`sws` with a file of {plural(options.bytes, 'byte')},"
            f" {plural(options.connections, 'connection')}: server CPU in microseconds per request,"
            f" medians and spreads of {plural(options.runs, 'interleaved run')} of"
            f" {options.seconds:g} s; *bare* is an epoll loop that parses nothing."),
        table(["load", "sws", "spread", "bare", "to bare"]
              + [name + ("" if name in seen else ", missing") for name in names] + ["goal"],
              [http_row(bench, rows, names) for bench, rows in ways.items()]),
    ]
    print("\n\n".join(parts))
