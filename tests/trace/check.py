#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do Perfetto and Chrome show this trace correctly?

usage: check.py [--any] [--summary] FILE...
       check.py --canaries FILE

Both programs read almost anything without an error, and drop or change what does not fit. So this
checker is strict: a trace that breaks a rule below loses a slice, a name, a counter or an arrow in
one of the two.

  form       the fields that a phase must have, and their types
  nesting    two slices of a row are disjoint, or one contains the other
  arrows     each id has one start and one end, not earlier than the start; each lies on a slice
             that is open there when the events are sorted by time, as the readers do
  counters   numbers, and a different name for each row: counters belong to the process

and the rules of docs/internals/trace.md, which --any skips:

  rows       cores from 0 up, then "outside"; the kinds of slices that each may have
  steals     an arrow from a slice of the victim to one of the thief, of one color
  exclusion  events of one color do not overlap in time, on any core
  the rest   otherData, and its counts

With --canaries, the program breaks FILE in many ways, one at a time, and must refuse each.
"""
import copy
import json
import sys
from collections import defaultdict
from decimal import Decimal

LINES_SHOWN = 20
FLOWS = {'s', 't', 'f'}
# The phases of the format; Mely writes M X i C s f.
PHASES = set('BEXiICbneSTpFstfNODMVvRcP')
SIDE_BY_SIDE = {'event', 'sleep', 'poll', 'steal'}
CATEGORIES = SIDE_BY_SIDE | {'stolen', 'post'}


class Findings:
    """The faults found; only the first lines are shown."""

    def __init__(self):
        self.lines = []

    def add(self, where, what):
        self.lines.append(f'{where}: {what}')


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return is_int(value) or isinstance(value, Decimal)


def nanoseconds(value):
    """Microseconds as whole nanoseconds; None where they are not whole."""
    ns = Decimal(value) * 1000
    return int(ns) if ns == int(ns) else None


class Trace:
    """The events, with `at` (ns), `end` (slices, ns) and `where` (a name for messages)."""

    def __init__(self, path, whole, found):
        self.path = path
        self.found = found
        self.other = {}
        self.events = []
        self.tracks = defaultdict(list)
        if isinstance(whole, dict):
            events = whole.get('traceEvents')
            self.other = whole.get('otherData', {})
            if whole.get('displayTimeUnit', 'ms') not in ('ms', 'ns'):
                found.add(path, 'displayTimeUnit is neither ms nor ns')
        else:
            events = whole
        if not isinstance(events, list):
            found.add(path, 'no array of events')
            return
        for number, event in enumerate(events):
            self.one(number, event)

    def one(self, number, event):
        where = f'{self.path}: event {number}'
        if not isinstance(event, dict):
            self.found.add(where, 'is not an object')
            return
        where = f'{where} ({event.get("ph")} {event.get("cat", "")} {event.get("name")!r})'
        event = dict(event, where=where, number=number)
        wrong = form(event)
        if wrong:
            self.found.add(where, wrong)
            return
        self.events.append(event)
        if event['ph'] != 'M':
            self.tracks[event['pid'], event['tid']].append(event)

    def of(self, phases, category=None):
        return [e for e in self.events if e['ph'] in phases
                and (category is None or e.get('cat') == category)]


def form(event):
    """Check the fields of one event; returns the fault, or None. Adds at and end."""
    phase = event.get('ph')
    if not isinstance(phase, str) or phase not in PHASES or len(phase) != 1:
        return 'no known phase'
    if not isinstance(event.get('name'), str) or not event['name']:
        return 'no name'
    if not is_int(event.get('pid')) or not 0 <= event['pid'] < 1 << 31:
        return 'no pid'
    if 'args' in event and not isinstance(event['args'], dict):
        return 'args is not an object'
    if phase == 'M':
        return form_of_metadata(event)
    if not is_int(event.get('tid')) or not 0 <= event['tid'] < 1 << 31:
        return 'no tid'
    if not isinstance(event.get('cat'), str) or not event['cat']:
        return 'no category'
    # A number in quotes, or below 0, is dropped by one of the readers.
    if not is_number(event.get('ts')) or event['ts'] < 0:
        return 'no time (ts)'
    event['at'] = nanoseconds(event['ts'])
    if event['at'] is None:
        return 'a time (ts) that is not a whole nanosecond'
    if phase == 'X':
        if not is_number(event.get('dur')) or event['dur'] < 0:
            return 'no duration (dur)'
        ns = nanoseconds(event['dur'])
        if ns is None:
            return 'a duration (dur) that is not a whole nanosecond'
        event['end'] = event['at'] + ns
    elif phase in FLOWS:
        return form_of_flow(event)
    elif phase == 'C':
        args = event.get('args')
        if not args or not all(is_number(v) for v in args.values()):
            return 'a counter without numbers'
    elif phase == 'i' and event.get('s') not in ('g', 'p', 't'):
        return 'an instant without a scope (s)'
    return None


def form_of_metadata(event):
    args = event.get('args', {})
    if event['name'] in ('thread_name', 'thread_sort_index') and not is_int(event.get('tid')):
        return 'no tid'
    if event['name'] in ('process_name', 'thread_name'):
        if not isinstance(args.get('name'), str) or not args['name']:
            return 'no args.name'
    elif event['name'] in ('thread_sort_index', 'process_sort_index'):
        if not is_int(args.get('sort_index')):
            return 'no args.sort_index'
    else:
        return 'metadata that no program reads'
    return None


def form_of_flow(event):
    key = event.get('id')
    if isinstance(key, str):
        try:
            key = int(key, 16)
        except ValueError:
            return 'an id that is not a number'
    if not is_int(key) or not 0 <= key < 1 << 64:
        return 'no id'
    event['key'] = (event['cat'], event['name'], key)
    if event['ph'] != 'f' and 'bp' in event:
        return 'a binding point (bp) where no arrow ends'
    if event['ph'] == 'f' and event.get('bp') != 'e':
        return 'an end that binds to the next slice, not to its own (bp is not "e")'
    return None


def sorted_by_time(events):
    """As the readers do: equal times keep the order of the file."""
    return sorted(events, key=lambda e: e['at'])


def check_rows(trace):
    """Nesting, and the slice that each flow event binds to (added as `slice`)."""
    for track in trace.tracks.values():
        stack = []
        for event in sorted_by_time(track):
            while stack and stack[-1]['end'] <= event['at'] and event['ph'] == 'X':
                stack.pop()
            if event['ph'] == 'X':
                # Both begin at once, the longer later in the file: the readers nest it wrongly.
                if stack and event['end'] > stack[-1]['end']:
                    trace.found.add(event['where'], 'sticks out of the slice that it begins in, '
                                    f'event {stack[-1]["number"]}')
                    continue
                stack.append(event)
            elif event['ph'] in FLOWS:
                # A short slice inside, over by now, is not what the arrow is meant for. (Perfetto
                # takes it all the same: the arrow then ends some pixels from where it should.)
                while stack and stack[-1]['end'] < event['at']:
                    stack.pop()
                event['slice'] = stack[-1] if stack else None
                if not stack:
                    trace.found.add(event['where'], 'is on no slice')


def check_flows(trace):
    flows = defaultdict(list)
    for event in sorted_by_time(trace.of(FLOWS)):
        flows[event['key']].append(event)
    for events in flows.values():
        phases = ''.join(e['ph'] for e in events)
        if phases == 'fs':
            trace.found.add(events[0]['where'], 'the arrow ends before it starts')
        elif not (phases[0] == 's' and phases[-1] == 'f' and set(phases[1:-1]) <= {'t'}
                  and len(phases) > 1):
            trace.found.add(events[0]['where'], f'an arrow of the parts {phases}')
    return flows


def check_counters_and_names(trace):
    owners = {}
    for event in trace.of('C'):
        key = event['pid'], event['name'], event.get('id')
        if owners.setdefault(key, event['tid']) != event['tid']:
            trace.found.add(event['where'], 'two rows count in one counter of the process')
    names = {}
    for event in trace.of('M'):
        if event['name'] == 'thread_name':
            key = event['pid'], event['tid']
            if key in names:
                trace.found.add(event['where'], 'names a row again')
            names[key] = event['args']['name']
    for key in trace.tracks:
        if key not in names:
            trace.found.add(trace.path, f'no name for row {key[1]} of process {key[0]}')
    return names


# ---- what docs/internals/trace.md promises -----------------------------------------------------

def other_data(trace):
    other, found = trace.other, trace.found
    where = f'{trace.path}: otherData'
    for key in ('cores', 'sample', 'start_ns', 'length_ns', 'posts_open', 'events_unposted'):
        if not is_int(other.get(key)) or other[key] < 0:
            found.add(where, f'no {key}')
            return None
    if not str(other.get('producer', '')).startswith('mely '):
        found.add(where, 'no producer')
    if not isinstance(other.get('end'), str):
        found.add(where, 'no end')
    lost = other.get('lost')
    if not isinstance(lost, list) or not all(is_int(n) and n >= 0 for n in lost) \
            or len(lost) != other['cores'] + 1:
        found.add(where, 'lost is not an array with a number for each row')
        return None
    for event in trace.events:
        if event.get('end', event.get('at', 0)) > other['length_ns']:
            found.add(event['where'], 'after the end of the trace')
    return other


def mely_rows(trace, cores, names):
    found = trace.found
    for core in range(cores + 1):
        wanted = f'core {core}' if core < cores else 'outside'
        if [n for (_, tid), n in names.items() if tid == core] != [wanted]:
            found.add(trace.path, f'row {core} is not named {wanted!r}')
    if len(names) != cores + 1:
        found.add(trace.path, f'{len(names)} rows, not {cores} cores and one')
    for event in trace.events:
        if event['ph'] != 'X':
            continue
        where, category, args = event['where'], event['cat'], event.get('args', {})
        if category not in CATEGORIES:
            found.add(where, 'a slice of no known category')
        elif event['tid'] == cores and category != 'post':
            found.add(where, 'on the row of threads that are not cores')
        elif category in ('event', 'steal', 'stolen') and not isinstance(args.get('color'), str):
            found.add(where, 'no color')
        elif category == 'poll' and not is_int(args.get('found')):
            found.add(where, 'does not say what was found')
        elif category not in ('event',) and event['name'] != category:
            found.add(where, 'its name is not its category')
    for track in trace.tracks.values():
        last = None
        for event in sorted_by_time([e for e in track if e['ph'] == 'X'
                                     and e['cat'] in SIDE_BY_SIDE]):
            if last is not None and event['at'] < last['end']:
                found.add(event['where'], f'overlaps event {last["number"]}')
            if last is None or event['end'] > last['end']:
                last = event


def mely_steals(trace, flows):
    arrows = 0
    for events in flows.values():
        if events[0]['cat'] != 'steal' or len(events) != 2:
            continue
        start, end = events
        arrows += 1
        victim, thief = start.get('slice'), end.get('slice')
        if not victim or not thief or victim['cat'] != 'stolen' or thief['cat'] != 'steal':
            trace.found.add(start['where'], 'a steal that does not lead from stolen to steal')
        elif victim['args'].get('thief') != end['tid'] \
                or thief['args'].get('victim') != start['tid']:
            trace.found.add(start['where'], 'a steal whose ends name other cores')
        elif victim['args']['color'] != thief['args']['color']:
            trace.found.add(start['where'], 'a steal whose ends have two colors')
    for category in ('steal', 'stolen'):
        slices = len(trace.of('X', category))
        if slices != arrows:
            trace.found.add(trace.path, f'{slices} slices {category}, {arrows} arrows')


def mely_posts(trace, flows):
    for events in flows.values():
        if events[0]['cat'] != 'post' or len(events) != 2:
            continue
        ran = events[1].get('slice')
        if ran is not None and (ran['cat'] != 'event' or ran['at'] != events[1]['at']):
            trace.found.add(events[1]['where'], 'does not end where an event begins')


def mely_exclusion(trace):
    last = {}
    for event in sorted_by_time(trace.of('X', 'event')):
        color = event['args'].get('color')
        before = last.get(color)
        if before is not None and event['at'] < before['end']:
            trace.found.add(event['where'], f'runs while color {color} runs on row '
                            f'{before["tid"]}, event {before["number"]}')
        if before is None or event['end'] > before['end']:
            last[color] = event


def summary(trace):
    counts = {'events': len(trace.of('X', 'event')), 'steals': len(trace.of('X', 'steal')),
              'polls': len(trace.of('X', 'poll')), 'sleeps': len(trace.of('X', 'sleep')),
              'posts': len(trace.of('s', 'post')), 'wakes': len(trace.of('i', 'wake')),
              'depths': len(trace.of('C')), 'lost': sum(trace.other.get('lost', [])),
              'cores': trace.other.get('cores'),
              'handlers': sorted({e['name'] for e in trace.of('X', 'event')}),
              'colors': len({e['args'].get('color') for e in trace.of('X', 'event')})}
    return counts


def check(path, whole, any_writer):
    """All rules; the findings and the trace."""
    found = Findings()
    trace = Trace(path, whole, found)
    check_rows(trace)
    flows = check_flows(trace)
    names = check_counters_and_names(trace)
    if not any_writer:
        other = other_data(trace)
        if other is not None:
            mely_rows(trace, other['cores'], names)
        mely_steals(trace, flows)
        mely_posts(trace, flows)
        mely_exclusion(trace)
    return found, trace


# ---- canaries ----------------------------------------------------------------------------------

def canaries(whole):
    """The trace broken in one way each, with what must be said of it."""
    def first(events, ph, cat=None, last=False):
        which = [e for e in events if e['ph'] == ph and cat in (None, e.get('cat'))]
        return which[-1 if last else 0]

    def broken(saying, change):
        copied = copy.deepcopy(whole)
        change(copied['traceEvents'], copied)
        return saying, copied

    def field(ph, cat, key, value):
        def change(events, _):
            event = first(events, ph, cat)
            if value is None:
                del event[key]
            else:
                event[key] = value
        return change

    def reverse_arrow(events, _):
        start = first(events, 's', 'steal')
        start['ts'] = first(events, 'X', 'steal')['ts'] + Decimal('0.5')
        first(events, 'X', 'stolen')['ts'] = start['ts']

    def stick_out(events, _):
        event = first(events, 'X', 'event')
        events.append(dict(event, ts=event['ts'] + event['dur'] / 2))

    def other(key, value):
        return lambda _, top: top['otherData'].__setitem__(key, value)

    return [
        broken('no known phase', field('X', 'event', 'ph', 'x')),
        broken('no name', field('X', 'event', 'name', None)),
        broken('no pid', field('X', 'event', 'pid', '1')),
        broken('no tid', field('X', 'event', 'tid', None)),
        broken('no category', field('s', 'post', 'cat', None)),
        broken('no time', field('X', 'event', 'ts', Decimal('-1.5'))),
        broken('no time', field('X', 'event', 'ts', '12.000')),
        broken('whole nanosecond', field('X', 'event', 'ts', Decimal('12.0005'))),
        broken('no duration', field('X', 'event', 'dur', None)),
        broken('args is not an object', field('X', 'event', 'args', 7)),
        broken('no id', field('s', 'post', 'id', None)),
        broken('that is not a number', field('s', 'post', 'id', 'post 7')),
        broken('binds to the next', field('f', 'post', 'bp', None)),
        broken('no arrow ends', field('s', 'post', 'bp', 'e')),
        broken('without numbers', field('C', None, 'args', {'colors': '2'})),
        broken('without a scope', field('i', 'wake', 's', None)),
        broken('no args.name', field('M', None, 'args', {})),
        broken('ends before it starts', reverse_arrow),
        broken('an arrow of the parts s', lambda e, _: e.remove(first(e, 'f', 'post'))),
        broken('an arrow of the parts f', lambda e, _: e.remove(first(e, 's', 'post'))),
        broken('is on no slice', lambda e, _: e.remove(first(e, 'X', 'post'))),
        broken('sticks out', stick_out),
        broken('two rows count', lambda e, _: e.append(dict(first(e, 'C'), tid=1))),
        broken('names a row again', lambda e, _: e.append(copy.deepcopy(e[1]))),
        broken('no name for row', lambda e, _: e.remove(e[1])),
        broken('is not named', lambda e, _: e[1].update(args={'name': 'corn 0'})),
        broken('no cores', other('cores', None)),
        broken('lost is not an array', other('lost', [0])),
        broken('after the end', other('length_ns', 1000)),
        broken('of no known category', field('X', 'poll', 'cat', 'look')),
        broken('that are not cores', field('X', 'sleep', 'tid', 2)),
        broken('no color', field('X', 'event', 'args', {})),
        broken('overlaps event', lambda e, _: e.append(dict(first(e, 'X', 'event'),
                                                            dur=Decimal('0.5')))),
        broken('name other cores', field('X', 'steal', 'args', {'victim': 1, 'color': '7'})),
        broken('have two colors', field('X', 'steal', 'args', {'victim': 0, 'color': '8'})),
        broken('slices steal', lambda e, _: e.append(dict(first(e, 'X', 'steal'),
                                                          ts=Decimal('19.05'),
                                                          dur=Decimal('0.01')))),
        broken('runs while color 7', lambda e, _: first(e, 'X', 'event')['args'].update(
            color='7') or first(e, 'X', 'event', True).update(ts=Decimal('12.500'))),
    ]


def run_canaries(path, whole):
    found, _ = check(path, whole, False)
    failures = [f'{path} itself is refused: {line}' for line in found.lines]
    cases = canaries(whole)
    for saying, case in cases:
        found, _ = check('canary', case, False)
        if not any(saying in line for line in found.lines):
            failures.append(f'accepted: a trace of which must be said: {saying}; said: '
                            f'{found.lines[:3]}')
    print('\n'.join(failures) if failures else f'{len(cases)} broken traces: all refused')
    return 1 if failures else 0


def main(arguments):
    options = {a for a in arguments if a.startswith('--')}
    files = [a for a in arguments if not a.startswith('--')]
    if options - {'--any', '--summary', '--canaries'} or not files:
        print(__doc__)
        return 0 if '--help' in options else 2
    status = 0
    for path in files:
        try:
            with open(path, encoding='utf-8') as file:
                whole = json.load(file, parse_float=Decimal)
        except (OSError, ValueError) as error:
            print(f'{path}: {error}')
            status = 1
            continue
        if '--canaries' in options:
            status |= run_canaries(path, whole)
            continue
        found, trace = check(path, whole, '--any' in options)
        for line in found.lines[:LINES_SHOWN]:
            print(line)
        if found.lines:
            print(f'{path}: {len(found.lines)} faults in {len(trace.events)} events')
            status = 1
        elif '--summary' in options:
            print(json.dumps(summary(trace)))
        else:
            print(f'{path}: {len(trace.events)} events: well')
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
