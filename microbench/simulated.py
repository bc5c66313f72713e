# SPDX-License-Identifier: MIT
"""What paper prints of the simulation: every configuration on the paper's machine."""
import os

import harness

# The simulation of libasync-ws scans to the end of the queue in a steal: the reading of the paper
# that its figures belong to (docs/internals/prediction.md).
NAMES = {"libasync-ws": "libasync-ws-full"}


def program(builddir):
    """mely-sim of the build tree that has the microbenchmarks in builddir, or None."""
    path = os.path.join(os.path.dirname(os.path.abspath(builddir)), "sim", "mely-sim")
    return path if os.access(path, os.X_OK) else None


def simulate(sim, programs, configs):
    """results[program, config]: the values of a prediction, with the names of a run's JSON."""
    results = {}
    for count, which in enumerate(programs, 1):
        for config in configs:
            line = harness.run_json([sim, "predict", "--machine", "paper", "--json", "--benchmark",
                                     which, "--config", NAMES.get(config, config)])[0]
            line["median"] = line["events_s"]
            if line["steals"] == 0:
                for key in ("stolen_events", "stolen_cycles", "steal_cycles"):
                    del line[key]
            results[which, config] = line
        harness.say(f"simulated {which}, {count} of {len(programs)}")
    return results
