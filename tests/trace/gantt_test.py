#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gantt_test.py PROGRAM: mely-gantt draws the contents of a trace, and refuses bad input."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else 'mely-gantt'
SVG = '{http://www.w3.org/2000/svg}'
EXAMPLE = os.path.join(HERE, 'example.json')
RAW = os.path.join(HERE, '..', 'fuzz', 'corpus-trace', 'raw-coloring')
LEFT, RIGHT = 92, 18  # of the plot, as drawn
# Longest trace that the test makes; a picture must not grow with it.
LONG_EVENTS = 30000
# An instrumented program is slow.
PARTS = 4 if os.environ.get('INSTRUMENT_FLAGS') else 1


def run(*arguments, stdin=None):
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, check=False)


def generated(**options):
    arguments = [f'--{key.replace("_", "-")}={value}' for key, value in options.items()]
    done = subprocess.run([sys.executable, os.path.join(HERE, 'gen.py'), *arguments],
                          capture_output=True, check=True)
    return done.stdout


def draw(trace, *arguments):
    """The picture of a trace (bytes, or a path) as an element tree."""
    if isinstance(trace, bytes):
        done = run('-', *arguments, stdin=trace)
    else:
        done = run(trace, *arguments)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f'status {done.returncode}: {done.stderr.decode()}')
    return ET.fromstring(done.stdout)


def trace_of(events, **other):
    return json.dumps({'traceEvents': events, 'otherData': other}).encode()


def slice_of(ts, dur, name='work', tid=0, cat='event', **args):
    return {'ph': 'X', 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur, 'cat': cat, 'name': name,
            'args': args}


def title(element):
    found = element.find(f'{SVG}title')
    return '' if found is None else found.text


def rects(picture):
    """(class, x, y, width, tooltip) of each slice drawn by itself, without the legend."""
    return [(r.get('class'), float(r.get('x')), float(r.get('y')), float(r.get('width')), title(r))
            for r in picture.iter(f'{SVG}rect') if title(r)]


def texts(picture):
    return [''.join(t.itertext()) for t in picture.iter(f'{SVG}text')]


def arrows(picture):
    return [title(g) for g in picture.iter(f'{SVG}g') if g.get('class') == 'a']


def merged(picture):
    """The number of slices that the merged columns represent, by name."""
    counts = {}
    for path in picture.iter(f'{SVG}path'):
        found = re.fullmatch(r'(.*)\n([\d,]+) too short for this picture.*', title(path) or '')
        if found:
            counts[found[1]] = counts.get(found[1], 0) + int(found[2].replace(',', ''))
    return counts


class Picture(unittest.TestCase):
    def test_example(self):
        picture = draw(EXAMPLE)
        shown = [r[4] for r in rects(picture)]
        self.assertEqual(sum(t.startswith('compute, color 7') for t in shown), 2)
        self.assertIn('accept, color 0\n4.50 µs, at 12 µs', shown)
        self.assertIn('read "a", color 0x55d0c0ffee40 (conn 3)\n9.15 µs, at 16.6 µs', shown)
        self.assertEqual(arrows(picture), ['1 steal by core 1 from core 0, at 18.4 µs'])
        self.assertIn('2 cores, 100 µs, 4 events, 1 steal', texts(picture))
        self.assertIn('example', texts(picture))
        # Threads that are not cores have no slices, and no row.
        self.assertNotIn('outside', texts(picture))
        self.assertFalse([t for t in texts(picture) if 'lost' in t])

    def test_an_idle_core_has_a_row(self):
        def named(tid, name):
            return {'ph': 'M', 'pid': 1, 'tid': tid, 'name': 'thread_name', 'args': {'name': name}}
        picture = draw(trace_of([named(0, 'core 0'), named(1, 'core 1'), named(2, 'outside'),
                                 slice_of(0, 10)]))
        self.assertIn('2 cores, 10.0 µs, 1 event, 0 steals', texts(picture))

    def test_where_slices_are(self):
        """Positions and widths are those of the times."""
        width = 1000 + LEFT + RIGHT
        picture = draw(trace_of([slice_of(0, 100, 'a'), slice_of(100, 300, 'b', color='7'),
                                 slice_of(500, 500, 'c', tid=1)]), '--width', str(width))
        found = {t.split('\n')[0]: (x, w, y) for _, x, y, w, t in rects(picture)}
        self.assertEqual(found['a'][:2], (LEFT, 100))
        self.assertEqual(found['b, color 7'][:2], (LEFT + 100, 300))
        self.assertEqual(found['c'][:2], (LEFT + 500, 500))
        self.assertEqual(found['a'][2], found['b, color 7'][2])
        self.assertGreater(found['c'][2], found['a'][2])

    def test_part(self):
        trace = trace_of([slice_of(10 * i, 10, f'h{i}') for i in range(100)], start_ns=0)
        picture = draw(trace, '--from', '300us', '--to', '0.35ms')
        self.assertEqual({t.split('\n')[0] for *_, t in rects(picture)},
                         {'h30', 'h31', 'h32', 'h33', 'h34'})
        self.assertIn('1 core, 50.0 µs, 5 events, 0 steals', texts(picture))
        self.assertIn('No slices of these cores at these times.',
                      texts(draw(trace, '--cores', '7')))

    def test_times_of_other_writers_begin_at_zero(self):
        picture = draw(trace_of([slice_of(5e9, 10, 'a'), slice_of(5e9 + 50, 10, 'b')]))
        self.assertEqual([t for *_, t in rects(picture)],
                         ['a\n10.0 µs, at 0 ns', 'b\n10.0 µs, at 50 µs'])

    def test_every_slice_is_drawn_or_merged(self):
        for cores in (1, 3, 8):
            trace = generated(seed=cores, events=4000 // PARTS, cores=cores, handlers=4)
            picture = draw(trace, '--no-arrows')
            events = [e for e in json.loads(trace)['traceEvents'] if e['ph'] == 'X'
                      and e['cat'] not in ('stolen', 'post')]
            counts = merged(picture)
            for *_, tooltip in rects(picture):
                name = re.split(r', color |\n', tooltip)[0]
                counts[name] = counts.get(name, 0) + 1
            wanted = {}
            for event in events:
                wanted[event['name']] = wanted.get(event['name'], 0) + 1
            self.assertEqual(counts, wanted)

    def test_height_of_columns(self):
        """Many short slices fill a column in proportion to their time."""
        trace = trace_of([slice_of(i, 0.25, 'a') for i in range(100000 // PARTS)])
        picture = draw(trace)
        bar = max(float(r.get('height')) for r in picture.iter(f'{SVG}rect')
                  if r.get('class') == 'idle')
        path = next(p for p in picture.iter(f'{SVG}path') if p.get('class') == 'e c0')
        heights = {float(h) for h in re.findall(r'v([\d.]+)h', path.get('d'))}
        self.assertTrue(all(abs(h - bar / 4) <= 1 for h in heights), heights)
        self.assertIn('25 % busy', texts(picture))

    def test_long_trace_makes_no_long_picture(self):
        short = run('-', stdin=generated(events=3000 // PARTS, cores=4, handlers=15)).stdout
        long = run('-', stdin=generated(events=LONG_EVENTS // PARTS, cores=4, handlers=15)).stdout
        self.assertLess(len(long), 1500000)
        self.assertLess(len(long), 3 * len(short))
        self.assertTrue(merged(ET.fromstring(long)))

    def test_legend(self):
        """Ten handlers by name, the rest as other; shares of the cores' time."""
        events, at = [], 0
        for number in range(14):
            events.append(slice_of(at, 100 - number, f'h{number}', color=str(number % 2)))
            at += 100 - number
        lines = texts(draw(trace_of(events)))
        for number in range(10):
            self.assertIn(f'h{number} {100 * (100 - number) / at:.0f} %', lines)
        self.assertIn(f'other {100 * (90 + 89 + 88 + 87) / at:.0f} %', lines)
        self.assertFalse([t for t in lines if t.startswith('h10 ')])
        tiny = texts(draw(trace_of([slice_of(0, 100000), slice_of(100000, 1, 'b')])))
        self.assertIn('b < 0.1 %', tiny)
        by_color = texts(draw(trace_of(events), '--by', 'color'))
        self.assertIn('0 50 %', by_color)
        self.assertIn('1 50 %', by_color)

    def test_steals(self):
        def steal(number, at, victim, thief):
            return [{'ph': 's', 'pid': 1, 'tid': victim, 'ts': at, 'cat': 'steal',
                     'name': 'steal', 'id': number},
                    {'ph': 'f', 'pid': 1, 'tid': thief, 'ts': at, 'cat': 'steal',
                     'name': 'steal', 'id': number, 'bp': 'e'}]
        rows = [slice_of(0, 1000, 'w', tid=tid) for tid in range(3)]
        trace = trace_of(rows + steal(1, 100, 0, 1) + steal(2, 500, 2, 0)
                         # One end was overwritten: no arrow.
                         + steal(3, 700, 0, 2)[:1])
        self.assertEqual(sorted(arrows(draw(trace))),
                         ['1 steal by core 0 from core 2, at 500 µs',
                          '1 steal by core 1 from core 0, at 100 µs'])
        self.assertEqual(arrows(draw(trace, '--no-arrows')), [])
        self.assertEqual(arrows(draw(trace, '--cores', '0,1')),
                         ['1 steal by core 1 from core 0, at 100 µs'])
        close = trace_of(rows + [e for i in range(50) for e in steal(i, 500 + i / 100, 0, 1)])
        self.assertEqual(sum(int(t.split()[0]) for t in arrows(draw(close))), 50)
        self.assertLess(len(arrows(draw(close))), 5)

    def test_queue(self):
        def depth(at, value):
            return {'ph': 'C', 'pid': 1, 'tid': 0, 'ts': at, 'cat': 'queue', 'name': 'core 0 queue',
                    'args': {'colors': value}}
        width = 1000 + LEFT + RIGHT
        picture = draw(trace_of([slice_of(0, 1000), depth(0, 0), depth(250, 8), depth(500, 4)]),
                       '--width', str(width))
        curve = next(p.get('d') for p in picture.iter(f'{SVG}path') if p.get('class') == 'q')
        steps = [(float(x) - LEFT, float(y)) for x, y in re.findall(r'H([\d.]+)V([\d.]+)', curve)]
        floor = float(re.match(r'M[\d.]+ ([\d.]+)', curve)[1])
        self.assertEqual([x for x, _ in steps], [0, 250, 501, 1000])
        self.assertEqual([floor - y for _, y in steps], [0, 14, 7, 0])

    def test_lost(self):
        picture = draw(trace_of([slice_of(0, 1)], lost=[1000, 234, 0]))
        self.assertIn('1,234 records lost', texts(picture))
        self.assertIn('1 core, 1.00 µs, 1 event, 0 steals; one batch in 64 was traced',
                      texts(draw(trace_of([slice_of(0, 1)], sample=64))))

    def test_names_are_escaped(self):
        name = '<script>alert("a & b")</script>\u0001\ufffe'
        picture = draw(trace_of([slice_of(0, 10, name, color=']]>')]), '--title', '</title>&')
        self.assertEqual(rects(picture)[0][4].split('\n')[0],
                         '<script>alert("a & b")</script>??, color ]]>')
        self.assertEqual(title(picture), '</title>&')

    def test_sizes(self):
        for width, height in (('300', '100'), ('3000', '700')):
            picture = draw(EXAMPLE, '--width', width, '--height', height)
            self.assertEqual(picture.get('width'), width)
            box = [float(v) for v in picture.get('viewBox').split()]
            for rect in picture.iter(f'{SVG}rect'):
                self.assertLessEqual(float(rect.get('x')) + float(rect.get('width')), box[2])
                self.assertLessEqual(float(rect.get('y')) + float(rect.get('height')), box[3])
        self.assertEqual(picture.get('height'), '700')

    def test_axis(self):
        for length, labels in ((1000, ['0.0 ms', '0.1 ms', '1.0 ms']), (0.1, ['0 ns', '90 ns']),
                               (2.5e6, ['0.0 s', '0.2 s', '2.4 s'])):
            self.assertLessEqual(set(labels),
                                 set(texts(draw(trace_of([slice_of(0, length)])))), length)

    def test_array_without_its_end(self):
        events = ',\n'.join(json.dumps(slice_of(i * 10, 10, f'h{i}')) for i in range(3))
        for text in (f'[{events}]', f'[{events}', f'[{events},\n'):
            self.assertEqual(len(rects(draw(text.encode()))), 3)

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'x.svg')
            done = run('-o', path, EXAMPLE)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b'', b''))
            with open(path, 'rb') as file:
                self.assertEqual(file.read(), run(EXAMPLE).stdout)
        done = run('-o', '/nonexistent/x.svg', EXAMPLE)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b'mely-gantt: /nonexistent/x.svg: No such file or directory\n'))


class Refused(unittest.TestCase):
    def refused(self, text, where):
        """An error prints one line with the place, status 1, and no partial picture."""
        done = run('-', stdin=text)
        self.assertEqual(done.returncode, 1, text[:80])
        self.assertEqual(done.stdout, b'')
        line = done.stderr.decode()
        self.assertEqual(line.count('\n'), 1, line)
        self.assertTrue(line.startswith(f'mely-gantt: standard input:{where}'), line)

    def test_places(self):
        self.refused(b'', "1:1: the file ends where '{' or '[' must follow")
        self.refused(b'PK\x03', "1:1: 'P' where '{' or '[' must follow")
        self.refused(b'{}', '1:3: no "traceEvents" in it')
        self.refused(b'{"traceEvents":7}', "1:16: '7' where '[' must follow")
        self.refused(b'{"traceEvents":[{}', "1:17: an event without a phase (ph)")
        self.refused(b'{"traceEvents":[\n{"ph":"M"},\n{"ph":"X"}]}',
                     '3:1: a slice without a time (ts)')
        self.refused(b'{"traceEvents":[\n{"ph":"M"}\n{"ph":"M"}]}', "3:1: '{' where ',' or ']'")
        self.refused(b'{"traceEvents":[\n{"ph":"M"},]}', "2:12: ']' where an event")
        self.refused(b'{"traceEvents":[{"ph":"M"}', "1:27: the file ends where ',' or ']'")
        self.refused(b'{"traceEvents":[{"ph":"M"', '1:26: the file ends where the rest of a value')
        self.refused(b'{"traceEvents":[{"ph":"M"}]} x', "1:30: 'x' where the end of the file")
        self.refused(b'{"traceEvents":[{"ph":tru}]}', '1:')
        self.refused(b'{"traceEvents":[{"ph":"\xff"}]}', '1:')
        self.refused(b'{"traceEvents":[7]}', '1:17: an event that is not an object')
        self.refused(b'{"traceEvents":[],"x":' + b'[' * 100, '1:')
        self.refused(b'[{"ph":"X","ts":1,"dur":-1}]', '1:2: a slice without a duration')
        self.refused(b'[{"ph":"X","ts":1e300,"dur":1}]', '1:2: a slice without a time')
        self.refused(b'[{"ph":"X","ts":"1","dur":1}]', '1:2: a slice without a time')

    def test_raw(self):
        """Raw traces: docs/internals/trace.md. tests/unit/chrome.c has more of them."""
        with open(RAW, 'rb') as file:
            whole = file.read()
        self.assertEqual(json.loads(run('--chrome', RAW).stdout)['otherData']['end'], 'free')
        self.assertTrue(rects(draw(whole)))
        for end in range(1, len(whole), 17 * PARTS):
            self.refused(whole[:end], f' byte {end}: the file is cut off')
        self.refused(b'melytrace' + whole[9:], ' byte 192: not a trace')
        self.refused(whole + b'x', f' byte {len(whole)}: bytes behind the end')
        done = run('--chrome', EXAMPLE)
        self.assertEqual((done.returncode, done.stdout), (1, b''))
        self.assertIn(b'example.json is not a trace written by MELY_TRACE', done.stderr)

    def test_cut_anywhere(self):
        with open(EXAMPLE, 'rb') as file:
            text = file.read().rstrip()
        for end in range(0, len(text) - 1, 61 * PARTS):
            self.refused(text[:end], '')

    def test_file(self):
        done = run('/nonexistent')
        self.assertEqual((done.returncode, done.stderr),
                         (1, b'mely-gantt: /nonexistent: No such file or directory\n'))
        self.assertEqual(run('/').returncode, 1)
        if os.path.exists('/dev/full'):
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([PROGRAM, EXAMPLE], stdout=full, stderr=subprocess.PIPE,
                                      check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b'standard output', done.stderr)

    def test_usage(self):
        for arguments in ((), ('a', 'b'), ('--width', '1', EXAMPLE), ('--by', 'x', EXAMPLE),
                          ('--from', '1', EXAMPLE), ('--from', '1km', EXAMPLE),
                          ('--cores', '1,', EXAMPLE), ('--cores', '3-1', EXAMPLE),
                          ('--cores', '99999999999', EXAMPLE), ('--bogus', EXAMPLE),
                          ('--from', '2ms', '--to', '1ms', EXAMPLE)):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b''), arguments)
            self.assertIn(b'mely-gantt: ', done.stderr)
        self.assertTrue(run('--help').stdout.startswith(b'usage: mely-gantt'))
        self.assertRegex(run('--version').stdout.decode(), r'^mely-gantt \(mely\) \d+\.\d+')


if __name__ == '__main__':
    unittest.main()
