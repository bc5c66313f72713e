#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a trace of a program that never ran, in the form of docs/internals/trace.md.

usage: gen.py [--seed N] [--events N] [--cores N] [--handlers N] [--colors N] [--event-ns N]
              [--lost N] [--name TEXT]

The same seed gives the same bytes. Cores run batches of a color in turn; a core without work
polls, sleeps, or steals. The trace does not simulate the scheduler: it is only data of any size to
read and to draw.
"""
import argparse
import json
import random
import sys

NAMES = ['accept', 'read', 'parse', 'lookup', 'render', 'write', 'close', 'log', 'timer', 'gc',
         'verify', 'expire']
BATCH = 10


def us(ns):
    return f'{ns // 1000}.{ns % 1000:03d}'


class Writer:
    """Lines by row, arrows and foreign slices last, as the library writes them."""

    def __init__(self, out):
        self.out = out
        self.first = True
        self.late = []
        self.ids = 0

    def line(self, text):
        self.out.write(text if self.first else ',\n' + text)
        self.first = False

    def event(self, phase, tid, rest):
        self.line(f'{{"ph":"{phase}","pid":4242,"tid":{tid},{rest}}}')

    def slice(self, tid, start, duration, category, name, args, late=False):
        rest = (f'"ts":{us(start)},"dur":{us(duration)},"cat":"{category}",'
                f'"name":{json.dumps(name)},"args":{args}')
        if late:
            self.late.append(('X', tid, rest))
        else:
            self.event('X', tid, rest)

    def arrow(self, category, start_tid, start, end_tid, end, late=True):
        self.ids += 1
        parts = [('s', start_tid, f'"ts":{us(start)},"cat":"{category}","name":"{category}",'
                  f'"id":{self.ids}'),
                 ('f', end_tid, f'"ts":{us(end)},"cat":"{category}","name":"{category}",'
                  f'"id":{self.ids},"bp":"e"')]
        if late:
            self.late += parts
        else:
            for part in parts:
                self.event(*part)

    def finish(self):
        for part in self.late:
            self.event(*part)


class Core:
    """One row. Each row has its own colors, so two rows never run the same color at once."""

    def __init__(self, number, options, rng, writer):
        self.number, self.options, self.rng, self.writer = number, options, rng, writer
        self.now = rng.randrange(2000)
        self.ran = 0
        self.depth = -1

    def color(self, choice):
        text = f'"color":"{self.number + self.options.cores * choice}"'
        if choice % 3 == 1:
            text += f',"color_name":"conn {choice}"'
        return text

    def batch(self, left):
        """Some events of one color, each posted by the one before it."""
        rng, writer = self.rng, self.writer
        color = self.color(rng.randrange(max(1, self.options.colors // self.options.cores)))
        posted = None
        for _ in range(min(left, rng.randint(1, BATCH))):
            handler = min(int(rng.expovariate(0.5)), self.options.handlers - 1)
            name = NAMES[handler % len(NAMES)]
            if handler >= len(NAMES):
                name += f' {handler // len(NAMES)}'
            length = 1 + int(rng.expovariate(1 / self.options.event_ns) * (1 + handler % 4))
            writer.slice(self.number, self.now, length, 'event', name, f'{{{color}}}')
            if posted is not None:
                writer.arrow('post', self.number, posted, self.number, self.now, late=False)
            posted = self.now if rng.random() < 0.7 else None
            self.ran += 1
            self.now += length + rng.randrange(30)
        depth = max(0, self.depth + rng.randint(-3, 3))
        if depth != self.depth:
            self.depth = depth
            writer.event('C', self.number, f'"ts":{us(self.now)},"cat":"queue",'
                         f'"name":"core {self.number} queue","args":{{"colors":{depth}}}')

    def pause(self, steals):
        """Poll, then sleep or steal."""
        rng, writer, scale = self.rng, self.writer, self.options.event_ns
        length = rng.randint(200, 2000)
        writer.slice(self.number, self.now, length, 'poll', 'poll',
                     f'{{"found":{rng.randrange(4)}}}')
        self.now += length + 10
        if steals and self.options.cores > 1 and rng.random() < 0.5:
            length = rng.randint(150, 900)
            victim = rng.choice([c for c in range(self.options.cores) if c != self.number])
            color = self.color(rng.randrange(4))
            writer.slice(self.number, self.now, length, 'steal', 'steal',
                         f'{{"victim":{victim},{color},"reason":"idle"}}')
            writer.slice(victim, self.now, 1, 'stolen', 'stolen',
                         f'{{"thief":{self.number},{color}}}', late=True)
            writer.arrow('steal', victim, self.now, self.number, self.now)
        else:
            length = int(rng.expovariate(1 / (20 * scale))) + 1000
            writer.slice(self.number, self.now, length, 'sleep', 'sleep', '{}')
        self.now += length + 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    for name, default in (('seed', 1), ('events', 200), ('cores', 2), ('handlers', 5),
                          ('colors', 20), ('event-ns', 3000), ('lost', 0)):
        parser.add_argument('--' + name, type=int, default=default)
    parser.add_argument('--name', default='synthetic')
    options = parser.parse_args()
    rng = random.Random(options.seed)
    out = sys.stdout
    writer = Writer(out)
    out.write('{"displayTimeUnit":"ns",\n"traceEvents":[\n')
    writer.line('{"ph":"M","pid":4242,"name":"process_name","args":{"name":'
                f'{json.dumps(options.name)}}}}}')
    for row in range(options.cores + 1):
        name = f'core {row}' if row < options.cores else 'outside'
        writer.event('M', row, f'"name":"thread_name","args":{{"name":"{name}"}}')
        writer.event('M', row, f'"name":"thread_sort_index","args":{{"sort_index":{row}}}')
    length = 0
    for number in range(options.cores):
        core = Core(number, options, rng, writer)
        share = options.events // options.cores + (number < options.events % options.cores)
        while core.ran < share:
            core.batch(share - core.ran)
            # The first core is busy, the others search for work.
            if rng.random() < (0.02 if number == 0 else 0.15):
                core.pause(steals=number > 0)
        length = max(length, core.now)
    writer.finish()
    lost = [options.lost if row == 0 else 0 for row in range(options.cores + 1)]
    out.write('\n],\n"otherData":' + json.dumps({
        'producer': 'mely 0.0.0', 'cores': options.cores, 'sample': 1, 'end': 'stop',
        'start_ns': 1000000, 'length_ns': length, 'lost': lost, 'posts_open': 0,
        'events_unposted': 0}) + '}\n')


if __name__ == '__main__':
    main()
