#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Show a trace with docs/trace-view.html in a browser without a screen.

usage: show.py FILE.json OUT.png [--size WxH] [--hash TEXT] [--dark]
       show.py --test

The page gets the trace put into it, so that nothing is fetched. --hash is what follows # in its
address: from=NS&to=NS&by=color&row=N&select=NS. With --test, what the page says of some traces is
compared with what is in them. $CHROMIUM is the browser.
"""
import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, '..', '..', 'docs', 'trace-view.html')


def browser(page, arguments, fragment=''):
    """Run the browser on a page until its scripts rest; returns what it prints."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, 'view.html')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(page)
        command = [os.environ.get('CHROMIUM', 'chromium'), '--headless=new', '--disable-gpu',
                   '--hide-scrollbars', '--no-first-run', '--virtual-time-budget=4000',
                   f'--user-data-dir={folder}/profile', *arguments, f'file://{path}#{fragment}']
        if os.geteuid() == 0:
            command.insert(1, '--no-sandbox')
        done = subprocess.run(command, capture_output=True, check=True, timeout=300)
        return done.stdout.decode()


def page_of(trace):
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    # "</" would end the element.
    data = trace.replace('</', '<\\/')
    where = page.index('<script>')
    return f'{page[:where]}<script id="trace" type="text/plain">{data}</script>\n{page[where:]}'


def said(page, name):
    found = re.search(rf'<(\w+) id="{name}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    return html.unescape(re.sub(r'<[^>]*>', '', found[2]))


def test():
    def equal(is_, wanted):
        if is_ != wanted:
            sys.exit(f'FAIL: the page says {is_!r}, not {wanted!r}')

    with open(os.path.join(HERE, 'example.json'), encoding='utf-8') as file:
        example = file.read()
    page = browser(page_of(example), ['--dump-dom'], 'row=1&select=19200')
    equal(said(page, 'title'), 'example')
    equal(said(page, 'about'), '2 cores, 100 µs, 4 events, 1 steals')
    equal(said(page, 'lost'), '')
    equal(said(page, 'said').split('\n'), [
        'compute, color 7', '30.9 µs, at 19.1 µs on core 1',
        'posted 3.98 µs before, by accept on core 0', 'posted 1: compute'])
    for name in ('compute', 'read "a"', 'accept', 'sleep', 'poll', 'steal'):
        if f'{name}<span>' not in html.unescape(page):
            sys.exit(f'FAIL: no {name} in the legend')
    made = json.loads(example)
    made['otherData']['lost'] = [7000, 1, 0]
    made['traceEvents'][2]['args']['name'] = '</script><b>'
    page = browser(page_of(json.dumps(made)), ['--dump-dom'])
    equal(said(page, 'lost'), '7,001 records lost')
    page = browser(page_of('{"traceEvents":[]}'), ['--dump-dom'])
    equal(said(page, 'dropsay'), 'trace: no slices in it')
    print('the viewer page: well')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('files', nargs='*')
    parser.add_argument('--test', action='store_true')
    parser.add_argument('--size', default='1200x420')
    parser.add_argument('--hash', default='')
    parser.add_argument('--dark', action='store_true')
    options = parser.parse_args()
    if options.test:
        test()
        return
    source, picture = options.files
    with open(source, encoding='utf-8') as file:
        page = page_of(file.read())
    arguments = [f'--window-size={options.size.replace("x", ",")}',
                 f'--screenshot={os.path.abspath(picture)}']
    if options.dark:
        arguments.append('--blink-settings=preferredColorScheme=0')
    browser(page, arguments, options.hash)


if __name__ == '__main__':
    main()
