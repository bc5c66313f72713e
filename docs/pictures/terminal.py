#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py TITLE: a picture of a terminal, as SVG on standard output, from what
"tmux capture-pane -e -p" prints, on standard input. How docs/pictures/mely-top.svg was made:

    MELY_SOCKET=1 PROGRAM &
    tmux new-session -d -s top -x 100 -y 28 mely-top; sleep 5
    tmux capture-pane -e -p -t top | docs/pictures/terminal.py mely-top >docs/pictures/mely-top.svg
"""
import re
import sys
from html import escape

WIDTH, HEIGHT, MARGIN, BAR = 8.4, 18, 12, 26
BACK, FRONT = "#1b1f27", "#d5d9e0"
COLORS = ["#20242c", "#e06c75", "#8fc36b", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d5d9e0"]


def runs(line):
    """Pieces of a line that look alike: column, text, foreground, background, bold."""
    bold = reverse = False
    front, back, column = FRONT, None, 0
    for piece in re.split(r"(\x1b\[[0-9;]*m|\x1b\([AB0]|\x0e|\x0f)", line):
        match = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not match:
            if piece and piece[0] not in "\x1b\x0e\x0f":
                yield (column, piece, (back or BACK) if reverse else front,
                       front if reverse else back, bold)
                column += len(piece)
            continue
        for code in [int(n or 0) for n in match.group(1).split(";")]:
            if code == 0:
                bold, reverse, front, back = False, False, FRONT, None
            elif code == 1:
                bold = True
            elif code in (7, 27):
                reverse = code == 7
            elif 30 <= code <= 37:
                front = COLORS[code - 30]
            elif code == 39:
                front = FRONT
            elif 40 <= code <= 47:
                back = COLORS[code - 40]
            elif code == 49:
                back = None


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else "terminal"
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(sum(len(r[1]) for r in runs(line)) for line in lines)
    width = columns * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN + BAR
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" '
          'width="%.0f" height="%.0f" role="img">' % (width, height, width, height))
    print("<title>%s</title>" % escape(title))
    print('<rect width="100%%" height="100%%" rx="8" fill="%s"/>' % BACK)
    print('<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" '
          'style="white-space:pre">')
    print('<text x="50%%" y="18" fill="#8b93a1" text-anchor="middle">%s</text>' % escape(title))
    for row, line in enumerate(lines):
        top = BAR + MARGIN + row * HEIGHT
        pieces = list(runs(line))
        # What tmux leaves out at the end of a line.
        if pieces and pieces[-1][3]:
            column, text, *how = pieces[-1]
            pieces[-1] = (column, text.ljust(columns - column), *how)
        for column, text, front, back, bold in pieces:
            x = MARGIN + column * WIDTH
            if back:
                print('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>' %
                      (x, top, len(text) * WIDTH, HEIGHT, back))
            if text.strip():
                print('<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" '
                      'lengthAdjust="spacing">%s</text>' %
                      (x, top + 13.5, front, ' font-weight="bold"' if bold else "",
                       len(text) * WIDTH, escape(text).replace(" ", "\u00a0")))
    print("</g></svg>")


if __name__ == "__main__":
    main()
