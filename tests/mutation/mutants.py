# SPDX-License-Identifier: MIT
"""Mutants of C: a source cut into tokens, and the small errors that can be made in it."""
import dataclasses
import re

TOKEN = re.compile(
    r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|\#(?:\\\n|[^\n])*|\s+)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|[0-9][0-9']*)(?:\.[0-9]+f?)?[uUlL]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|.)
    """,
    re.VERBOSE | re.DOTALL,
)

OPERATORS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "<<": ">>",
    ">>": "<<",
    "*": "+",
    "/": "*",
    "%": "/",
    "+": "-",
    "-": "+",
    "&": "|",
    "|": "&",
    "+=": "-=",
    "-=": "+=",
    "|=": "&=",
    "&=": "|=",
    "*=": "+=",
}
UNARY_TOO = {"+", "-", "*", "&"}
# After these names an operator has one operand.
WORDS = {"return", "case", "sizeof", "else"}
NO_STATEMENT = WORDS | {
    "if", "for", "while", "do", "switch", "default", "break", "continue", "goto", "static", "const",
    "struct", "enum", "union", "typedef", "using", "throw", "constexpr", "auto", "template",
}  # fmt: skip
OPEN = {"(": ")", "[": "]", "{": "}"}
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+$")


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """An error: bytes `start`..`end` of the file become `text`."""

    path: str
    kind: str
    start: int
    end: int
    text: str
    line: int
    old: str
    new: str

    @property
    def key(self):
        """Says which error it is, wherever in the file its lines come to lie."""
        return (self.path, self.old, self.new)


def tokens_of(source):
    return [
        Token(m.lastgroup, m.group(), m.start())
        for m in TOKEN.finditer(source)
        if m.lastgroup != "skip"
    ]


def squeeze(text):
    return " ".join(text.split())


class Finder:
    def __init__(self, path, source):
        self.path = path
        self.source = source
        self.tokens = tokens_of(source)
        self.closing = {}
        self.depth = []
        opened = []
        for i, t in enumerate(self.tokens):
            if t.kind == "sign" and t.text in OPEN:
                opened.append(i)
            self.depth.append(len(opened))
            if t.kind == "sign" and t.text in OPEN.values() and opened:
                self.closing[opened.pop()] = i
        self.found = []

    def add(self, kind, start, end, text):
        source = self.source
        begin = source.rfind("\n", 0, start) + 1
        stop = source.find("\n", end)
        stop = len(source) if stop < 0 else stop
        old = squeeze(source[begin:stop])
        new = squeeze(source[begin:start] + text + source[end:stop])
        line = source.count("\n", 0, start) + 1
        self.found.append(Mutant(self.path, kind, start, end, text, line, old, new))

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_binary(self, i):
        before = self.tokens[i - 1] if i else None
        if before is None:
            return False
        if before.kind in ("number", "text"):
            return True
        if before.kind == "name":
            return before.text not in WORDS
        return before.text in (")", "]")

    # Operators of two operands.
    def operators(self):
        for i, t in enumerate(self.tokens):
            if t.kind != "sign" or t.text not in OPERATORS:
                continue
            if t.text in UNARY_TOO and not self.is_binary(i):
                continue
            self.add("operator", t.start, t.end, OPERATORS[t.text])

    # Numbers, one more and one less.
    def numbers(self):
        for i, t in enumerate(self.tokens):
            if t.kind != "number" or "." in t.text:
                continue
            # All that is not 0 is a refusal.
            if self.text(i - 1) == "-" and self.text(i - 2) == "return":
                continue
            digits = t.text.rstrip("uUlL")
            suffix = t.text[len(digits) :]
            plain = digits.replace("'", "")
            octal = len(plain) > 1 and plain.isdigit() and plain[0] == "0"
            value = int(plain, 8 if octal else 0)
            form = hex if plain[:2] in ("0x", "0X") else str
            self.add("number", t.start, t.end, form(value + 1) + suffix)
            if value:
                self.add("number", t.start, t.end, form(value - 1) + suffix)

    # Conditions turned around, and never true.
    def conditions(self):
        for i, t in enumerate(self.tokens):
            if t.kind != "name" or t.text != "if" or self.text(i + 1) != "(":
                continue
            end = self.closing.get(i + 1)
            if end is None:
                continue
            start, stop = self.tokens[i + 1].start, self.tokens[end].end
            inner = self.source[start:stop]
            self.add("negated", start, stop, "(!" + inner + ")")
            self.add("never", start, stop, "(0 && " + inner + ")")

    # One operand of && and || left out.
    def operands(self):
        stops = {"&&", "||", ",", ";", "?", ":", "=", "{", "}"}
        for i, t in enumerate(self.tokens):
            if t.text not in ("&&", "||") or t.kind != "sign":
                continue
            neutral = "1" if t.text == "&&" else "0"
            depth = self.depth[i]
            first = i - 1
            while first > 0 and not (
                self.depth[first] < depth
                or (self.depth[first] == depth and self.text(first) in ("(", "["))
                or (self.depth[first] == depth and self.text(first) in stops | {"return"})
            ):
                first -= 1
            last = i + 1
            while last < len(self.tokens) and not (
                (self.depth[last] == depth and self.text(last) in stops)
                or (self.depth[last] == depth and self.text(last) in (")", "]"))
            ):
                last += 1
            left, right = self.tokens[first + 1], self.tokens[i - 1]
            self.add("operand", left.start, right.end, neutral)
            if last < len(self.tokens) and self.text(last) not in ("&&", "||"):
                left, right = self.tokens[i + 1], self.tokens[last - 1]
                self.add("operand", left.start, right.end, neutral)

    def is_start(self, i):
        before = self.text(i - 1)
        if before == ")":
            opening = next((a for a, b in self.closing.items() if b == i - 1), 0)
            return self.text(opening - 1) in ("if", "for", "while", "switch")
        return before in (";", "{", "}", "else", ":")

    # Statements and returns left out; results of checks that are handed on forgotten.
    def statements(self):
        for i, t in enumerate(self.tokens):
            if t.kind != "name" or self.depth[i] == 0:
                continue
            if not self.is_start(i):
                continue
            end = i
            while end < len(self.tokens) and not (
                self.text(end) == ";" and self.depth[end] <= self.depth[i]
            ):
                end += 1
            if end >= len(self.tokens):
                continue
            stop = self.tokens[end].start
            if t.text == "return":
                following = self.text(i + 1)
                if following == ";":
                    self.add("deleted", t.start, stop, "")
                elif following != "0" or end != i + 2:
                    self.add("return 0", t.start, stop, "return 0")
                continue
            if t.text in ("break", "continue"):
                self.add("deleted", t.start, stop, "")
                continue
            if t.text in NO_STATEMENT:
                continue
            # Two names in a row are a declaration.
            following = self.tokens[i + 1]
            if following.kind == "name" or following.text in ("*", ":", "::", "{"):
                continue
            self.add("deleted", t.start, stop, "")

    # A constant taken for its neighbour: another of its family in the same file.
    def constants(self):
        def family(name):
            return "_".join(name.split("_")[:2])

        named = [
            t
            for i, t in enumerate(self.tokens)
            if t.kind == "name" and CONSTANT.match(t.text) and self.text(i + 1) != "("
        ]
        order = list(dict.fromkeys(t.text for t in named))
        for t in named:
            others = [name for name in order if family(name) == family(t.text)]
            if len(others) > 1:
                other = others[(others.index(t.text) + 1) % len(others)]
                self.add("constant", t.start, t.end, other)

    # A field of an error taken for its neighbour.
    def fields(self):
        places = []
        for i, t in enumerate(self.tokens):
            if t.text in ("FIELD", "NVDLA_FIELD") and self.text(i + 1) == "(":
                end = self.closing.get(i + 1)
                if end is not None:
                    start, stop = self.tokens[i + 1].end, self.tokens[end].start
                    places.append((start, stop, self.source[start:stop]))
        order = list(dict.fromkeys(text for _, _, text in places))
        for start, stop, text in places:
            if len(order) > 1:
                self.add("field", start, stop, order[(order.index(text) + 1) % len(order)])


def find(path, source):
    """All mutants of the C file `path`, in the order of their places."""
    finder = Finder(path, source)
    for part in (
        finder.operators,
        finder.numbers,
        finder.conditions,
        finder.operands,
        finder.statements,
        finder.constants,
        finder.fields,
    ):
        part()
    unique = {(m.start, m.end, m.text): m for m in finder.found}
    return sorted(unique.values(), key=lambda m: (m.start, m.end, m.text))
