"""HTML for tests: is a page well-formed and self-contained, which rows do its tables hold, what does it say."""
from html.parser import HTMLParser

VOID = {'meta', 'br', 'hr', 'img', 'input', 'link', 'col'}
ALLOWED = {'html', 'head', 'meta', 'title', 'style', 'body', 'main', 'footer', 'h1', 'h2', 'h3', 'p', 'ul', 'li', 'dl',
           'dt', 'dd', 'div', 'table', 'caption', 'thead', 'tbody', 'tr', 'th', 'td', 'figure', 'figcaption',
           'svg', 'line', 'rect', 'circle', 'path', 'text', 'tspan'}
ATTRIBUTES = {'lang', 'charset', 'name', 'content', 'http-equiv', 'class', 'scope', 'role', 'tabindex', 'aria-label',
              'viewbox', 'xmlns', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'd', 'width', 'height',
              'text-anchor', 'transform'}


class Page(HTMLParser):
    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.stack, self.faults, self.said, self.table_rows = [], [], [], []
        self.columns = self.captions = self.tables = 0
        self.cell = None
        self.feed(page)
        self.close()
        if self.stack:
            self.faults.append(f'not closed: {self.stack}')

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.faults.append(f'element {tag}')
        for key, value in attrs:
            if key not in ATTRIBUTES or key.startswith('on'):
                self.faults.append(f'attribute {key} of {tag}')
            if 'http' in (value or '') and key != 'xmlns':
                self.faults.append(f'address in {key} of {tag}: {value}')
            if key in ('x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'width', 'height'):
                try:
                    float(value)
                except (TypeError, ValueError):
                    self.faults.append(f'{key}={value}')
            if 'nan' in (value or '').lower().split() or 'inf' in (value or '').lower().split():
                self.faults.append(f'{key}={value}')
        names = dict(attrs)
        if tag == 'svg' and not (names.get('role') == 'img' and names.get('aria-label')):
            self.faults.append('a picture without a name')
        if tag == 'table':
            self.tables += 1
        if tag == 'caption':
            self.captions += 1
        if tag == 'th' and names.get('scope') not in ('col', 'row'):
            self.faults.append('a heading cell without scope')
        if tag == 'tr':
            self.table_rows.append([])
        if tag in ('td', 'th'):
            self.cell = ''
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            self.faults.append(f'</{tag}> inside {self.stack[-3:]}')
            return
        self.stack.pop()
        if tag in ('td', 'th'):
            self.table_rows[-1].append(self.cell)
            self.cell = None
        if tag == 'thead':
            self.columns = len(self.table_rows[-1])
        if tag == 'tr' and 'tbody' in self.stack and len(self.table_rows[-1]) != self.columns:
            self.faults.append(f'{len(self.table_rows[-1])} cells below {self.columns} headings')

    def handle_data(self, data):
        if self.stack and self.stack[-1] == 'style':
            for word in ('@import', 'url(', 'http'):
                if word in data:
                    self.faults.append(f'{word} in the style sheet')
            return
        self.said.append(data)
        if self.cell is not None:
            self.cell += data

    def handle_comment(self, data):
        self.faults.append(f'comment {data!r}')


def problems(page):
    """What is wrong with a report's page; empty when nothing is."""
    p = Page(page)
    if not page.startswith('<!DOCTYPE html>\n<html lang="'):
        p.faults.append('no doctype or language')
    if p.tables != p.captions:
        p.faults.append(f'{p.tables} tables, {p.captions} captions')
    for needed in ('<meta charset="utf-8">', "default-src 'none'", '@page', '@media print', 'prefers-color-scheme:dark',
                   '<title>', '<main>', '<h1>'):
        if needed not in page:
            p.faults.append(f'{needed} is missing')
    return p.faults


def rows(page):
    return Page(page).table_rows


def text(page):
    return ''.join(Page(page).said)
