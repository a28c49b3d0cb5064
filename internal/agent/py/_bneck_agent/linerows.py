"""The rows in which --lines counts: one for each statement of a function, which has the number of the line where it starts.

A row is [seconds, hits, next]: next has the row for each line that may follow. Within a statement of several lines, next leads to a row of
the same statement that counts no hit, so that counting asks nothing and a statement is still hit once each time that it runs.
"""

import ast
import dis
import tokenize

TIME, HITS, NEXT = range(3)
MAX_CELLS = 200_000  # of all maps of one function

files = {}  # path -> {line: line where its statement starts}, of statements of several lines


def lines_of(code):
    """The lines of a function's own code."""
    if hasattr(code, "co_lines"):
        return {line for _, _, line in code.co_lines() if line}
    return {line for _, line in dis.findlinestarts(code) if line}


def line_at(code):
    """{offset of an instruction: its line}; 3.10 and later."""
    return {offset: line for first, end, line in code.co_lines() if line for offset in range(first, end, 2)}


def new_rows(code):
    """Rows of a function for one thread: the one in which nothing is counted, and {line where a statement starts: its rows}."""
    starts, first = first_lines(code.co_filename), code.co_firstlineno
    statements = {}
    for line in sorted(lines_of(code)):
        statements.setdefault(max(starts.get(line, line), first), []).append(line)
    if len(statements) * sum(len(lines) > 1 for lines in statements.values()) > MAX_CELLS:
        statements = {line: [line] for lines in statements.values() for line in lines}
    plain, rows = {}, {}
    for start, lines in statements.items():
        row = [0.0, 0, plain]
        rows[start] = [row]
        plain.update((line, row) for line in lines)
    for start, lines in statements.items():
        if len(lines) > 1 or lines[0] != start:
            within = [0.0, 0, dict(plain)]
            within[NEXT].update((line, within) for line in lines)
            rows[start][0][NEXT] = within[NEXT]
            rows[start].append(within)
    return [0.0, 0, plain], rows


def first_lines(path):
    """{line: line where its statement starts} of a file's statements of several lines."""
    if path not in files:
        try:
            with tokenize.open(path) as file:
                tree = ast.parse(file.read())
            files[path] = dict(continued(tree))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            files[path] = {}  # each line stands for itself
    return files[path]


def continued(tree):
    """(line, line where its statement starts) of what goes over several lines; of one that holds others, its head."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.stmt, ast.excepthandler)):
            continue
        first = min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", ())])
        last = node.end_lineno
        if isinstance(getattr(node, "body", None), list):
            head = [child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.stmt, ast.excepthandler))]
            head = [child for child in head if type(child).__name__ != "match_case"]
            ends = [getattr(part, "end_lineno", None) or 0 for child in head for part in ast.walk(child)]
            last = max(ends + [node.lineno])
        for line in range(first, last + 1) if last > first else ():
            yield line, first
