# SPDX-License-Identifier: MIT
"""What the drivers (compare, onoff, paper) share: where programs are, running one, machines."""
import json
import os
import platform
import subprocess
import sys


def builddir(program):
    """The default folder of the programs: below the current one, else build/ of the checkout."""
    if os.access(os.path.join("microbench", program), os.X_OK):
        return "microbench"
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(os.path.dirname(here), "build", "microbench")


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def say(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr, flush=True)


def run(argv, env=None, timeout=1800):
    """The output of a program; its stderr is passed on. env: added to the environment."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=timeout, check=False,
                          env=dict(os.environ, **env) if env else None)
    if done.returncode != 0:
        fail(f"{' '.join(argv)}: exit {done.returncode}")
    return done.stdout


def run_json(argv, env=None, timeout=1800):
    """The JSON lines that a program prints."""
    return [json.loads(line) for line in run(argv, env, timeout).splitlines()]


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    usable = len(os.sched_getaffinity(0))
    return f"{model}, {usable} processors usable, {platform.system()} {platform.release()}"
