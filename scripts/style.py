#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks the English of the project, the length of its lines, and the subjects of its commits.

Usage: style.py language|columns|subjects <LIST

scripts/check.sh calls it, with a list of files, or of commits (`git log --format='%h %s'`). Prints
each finding; exits with 1 if there is one.

  language  phrases that break the rules of docs/style.md: in Markdown and HTML, in comments, in
            the docstrings of Python, and in the strings that users read
  columns   lines of more than 100 columns, of Markdown more than 120; tables, addresses and
            messages of a program may be longer
  subjects  commits: `subsystem: imperative verb ...`, at most 75 characters
"""

import ast
import html
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# What is wrong, and what to write. Matched in any case, in text whose lines are joined.
PHRASES = [
    (r"\b(?:tells?|told|untold)\b",
     "return, show, report, notify, distinguish, in the correct form"),
    (r"\bwhoever\b|\bwhom\b", "name the task, the reader, the caller"),
    (r"(?:^|[.;:,(] ?|\b(?:for|of|to|by|from|than|and|or|but|what|if|when|where|as|with|after|"
     r"before) )who\b(?!\?)",
     "name the task, the reader, the caller"),
    (r"\b(?:no|some|every|any)body\b|\b(?:every|any|no )one\b", "no reader, no task, each task"),
    (r"\b(?:stands?|stood|lies|lie)\b", "is stored, is located, precedes"),
    (r"\bso (?:many|much|long|deep|few)\b", "the number, the length"),
    (r"\bbeside\b", "next to, in addition to"),
    (r"\banew\b", "again"),
    (r"\bmeanwhile\b", "in between, concurrently"),
    (r"\bgo(?:es)? on\b|\bwent on\b|\bgoing on\b", "continue"),
    (r"\bc[oa]mes? (?:to|upon)\b", "reach, happen"),
    (r"\bfor want of\b|\bbut for\b|\botherwise than\b|\bmend(?:s|ed)?\b",
     "without, except, unlike, fix"),
    (r"\b(?:is|are|was|were) to be\b", "must be"),
    (r"\bthe same (?:where|when|as (?:there|for)|if|for|of|in)\b", "repeat what it is"),
    (r"\b(?:as|see) above\b|\bas there\b", "repeat what it is"),
    (r"\bverdicts?\b", "filter decision, result"),
]
# These are about a whole comment.
COMMENTS = [
    (r"^(?:another one|what it is)\b", "name it"),
    (r"^what [^?]*$", "a complete sentence, that begins with its subject"),
    (r"^SAFETY: (?:by the (?:precondition|invariant)s?|as above)\.$", "name the precondition"),
]
PHRASES = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in PHRASES]
COMMENTS = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in COMMENTS]

HASH_COMMENTS = {".sh", ".tc", ".py", ".toml", ".txt", ".list", ".pin", ".kbuild", ""}
C_COMMENTS = {".rs", ".c", ".h"}
JS_COMMENTS = {".js", ".mjs", ".css"}
MARKUP = {".html", ".svg"}


def files() -> list[str]:
    names = sys.stdin.read().split("\n")
    return sorted(name for name in names if name and (TOP / name).is_file())


def kind_of(name: str) -> str:
    suffix = pathlib.Path(name).suffix
    if suffix in {".md"} | HASH_COMMENTS | C_COMMENTS | JS_COMMENTS | MARKUP:
        return suffix
    return "" if suffix in {".config"} else "?"


def markdown(lines: list[str]) -> list[tuple[int, str]]:
    """The paragraphs outside code blocks, each with the number of its first line."""
    texts, fenced = [], False
    block: list[str] = []
    first = 1
    for number, line in enumerate(lines + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or line.startswith("    ") and not block:
            continue
        if line.strip() and not line.lstrip().startswith("|"):
            if not block:
                first = number
            block.append(line.strip())
            continue
        if block:
            texts.append((first, " ".join(block)))
            block = []
        if line.strip():
            texts.append((number, line))
    # What is quoted as code is not English.
    return [(number, re.sub(r"`[^`]*`", "`code`", text)) for number, text in texts]


TOKENS = re.compile(
    r"""(?P<line>//[!/]?[^\n]*)|(?P<block>/\*.*?\*/)|"""
    r"""(?P<string>"(?:\\.|[^"\\])*")|'(?:\\.|[^'\\\n])'""",
    re.DOTALL,
)


# JavaScript also has strings in single quotes and templates.
JS_TOKENS = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|"""
    r"""'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)""",
    re.DOTALL,
)


def c_like(text: str, tokens: re.Pattern = TOKENS) -> list[tuple[int, str]]:
    """Comments, adjacent lines of which are joined, and strings, of Rust, C or JavaScript."""
    texts: list[tuple[int, str]] = []
    last_line = -1
    last_mark = ""
    for token in tokens.finditer(text):
        number = text.count("\n", 0, token.start()) + 1
        if token["line"] is not None:
            mark = re.match(r"//[!/]?", token["line"])[0]
            words = token["line"][len(mark):].strip()
            if number == last_line + 1 and mark == last_mark and words and texts[-1][1]:
                texts[-1] = (texts[-1][0], f"{texts[-1][1]} {words}")
            else:
                texts.append((number, words))
            last_line, last_mark = number, mark
        elif token["block"] is not None:
            inner = token["block"][2:-2]
            for offset, part in enumerate(re.split(r"\n\s*\*?\s*\n", inner)):
                words = " ".join(
                    re.sub(r"^\s*\*?\s?", "", line).strip() for line in part.split("\n")
                )
                texts.append((number + offset, words.strip()))
        elif token["string"] is not None:
            texts.append((number, token["string"][1:-1].replace("\\n", "\n")))
    return [(number, re.sub(r"`[^`]*`", "`code`", text)) for number, text in texts if text]


def hash_like(lines: list[str]) -> list[tuple[int, str]]:
    """Comments of a script, adjacent lines of which are joined."""
    texts: list[tuple[int, str]] = []
    last = -1
    for number, line in enumerate(lines, 1):
        match = re.match(r"\s*#(?!!) ?(.*)", line)
        if not match:
            match = re.search(r'(?:echo|printf|print|say|die|fail|tell|exit_[a-z]+) [\'"](.*)[\'"]',
                              line)
            if match:
                texts.append((number, match[1]))
            continue
        words = match[1].strip()
        if number == last + 1 and words and texts[-1][1] and not re.match(r"[a-z]+:", words):
            texts[-1] = (texts[-1][0], f"{texts[-1][1]} {words}")
        else:
            texts.append((number, re.sub(r"^description: ", "", words)))
        last = number
    return [(number, text) for number, text in texts if text]


def python(text: str) -> list[tuple[int, str]]:
    """The paragraphs of docstrings, and the other strings, which include all messages."""
    texts, docstrings, parts = [], set(), set()
    for node in ast.walk(ast.parse(text)):
        first = node.body[0] if isinstance(getattr(node, "body", None), list) and node.body else 0
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            docstrings.add(first.value)
        if isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            words = "".join(
                part.value if isinstance(part, ast.Constant) else "`code`" for part in node.values
            )
            texts.append((node.lineno, words))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node in docstrings:
                number = node.lineno
                for part in re.split(r"\n\s*\n", node.value):
                    texts.append((number, " ".join(part.split())))
                    number += part.count("\n") + 2
            elif node not in parts:
                texts.append((node.lineno, node.value))
    return [(number, re.sub(r"`[^`]*`", "`code`", text)) for number, text in texts if text]


MARKUP_TOKENS = re.compile(
    r"""\{#-?(?P<note>.*?)-?#\}|<!--(?P<comment>.*?)-->|\{%.*?%\}|\{\{(?P<code>.*?)\}\}|"""
    r"""<script\b[^>]*>(?P<script>.*?)</script>|<style\b.*?</style>|"""
    r"""<code\b[^>]*>(?P<quoted>.*?)</code>|<(?P<tag>[^<>]+)>""",
    re.DOTALL,
)
# These do not end a sentence.
INLINE = set("a b br em i kbd small span strong td th".split())


def markup(text: str) -> list[tuple[int, str]]:
    """Comments, scripts, visible texts, and attributes that are shown, of a template for HTML."""
    texts: list[tuple[int, str]] = []
    block, first, end = "", 1, 0

    def flush() -> None:
        nonlocal block
        texts.append((first, html.unescape(" ".join(block.split()))))
        block = ""

    for token in list(MARKUP_TOKENS.finditer(text)) + [None]:
        words = text[end:token.start() if token else len(text)]
        if not block.strip():
            start = end + len(words) - len(words.lstrip())
            first = text.count("\n", 0, start) + 1
        block += words
        if not token:
            break
        end = token.end()
        number = text.count("\n", 0, token.start()) + 1
        if token["note"] is not None or token["comment"] is not None:
            texts.append((number, " ".join((token["note"] or token["comment"] or "").split())))
        elif token["script"] is not None:
            texts += [(number + line - 1, part) for line, part in
                      c_like(token["script"], JS_TOKENS)]
        elif token["code"] is not None or token["quoted"] is not None:
            block += "`code`"
        elif token["tag"] is not None:
            shown = re.findall(r'\b(?:title|alt|placeholder|aria-label)="([^"]*)"', token["tag"])
            texts += [(number, words) for words in shown]
            block += " "
            if re.match(r"/?(\w*)", token["tag"])[1] not in INLINE:
                flush()
    flush()
    return [(number, words) for number, words in texts if words]


def language(name: str) -> list[str]:
    kind = kind_of(name)
    # This file defines the phrases.
    if kind == "?" or name == "scripts/style.py":
        return []
    text = (TOP / name).read_text(errors="replace")
    if kind == "" and not text.startswith("#"):
        return []
    if kind == ".md":
        texts = markdown(text.split("\n"))
    elif kind in C_COMMENTS:
        texts = c_like(text)
    elif kind in JS_COMMENTS:
        texts = c_like(text, JS_TOKENS)
    elif kind in MARKUP:
        texts = markup(text)
    else:
        texts = hash_like(text.split("\n"))
    if kind == ".py" or kind == "" and re.match(r"#!.*python", text):
        texts += python(text)
    found = []
    for number, words in texts:
        for pattern, instead in PHRASES:
            for match in pattern.finditer(words):
                found.append(f"{name}:{number}: '{match[0].strip(' .;:,(')}' (write: {instead})")
        if kind != ".md":
            for pattern, instead in COMMENTS:
                if pattern.match(words):
                    found.append(f"{name}:{number}: '{words[:40]}' (write: {instead})")
    return found


# A line that only has a message of a program is not split, so that it can be searched for.
MESSAGE = re.compile(r"""^\s*(\w+: |print )?c?"[^"]*"[,;)]*$""")


def columns(name: str) -> list[str]:
    kind = kind_of(name)
    # Sources of web pages have long lines of tags and rules.
    if kind in {"?", ".txt", ".toml"} | JS_COMMENTS | MARKUP:
        return []
    most = 120 if kind == ".md" else 100
    found = []
    for number, line in enumerate((TOP / name).read_text(errors="replace").split("\n"), 1):
        width = len(line.expandtabs(8))
        if width <= most or "://" in line or kind == ".md" and line.lstrip().startswith("|"):
            continue
        if kind in (".rs", ".c", ".h") and MESSAGE.match(line):
            continue
        found.append(f"{name}:{number}: {width} columns")
    return found


def report(findings) -> bool:
    """Prints what `findings` finds in each file; succeeds if that is nothing."""
    found = [finding for name in files() for finding in findings(name)]
    for finding in found:
        print(finding)
    return not found


NOT_VERBS = set(
    "a an the it its this that these those who what whether which of in on at by for from to with "
    "without where when how why if no not none nor all each every some any one two both neither "
    "only also and or but as than".split()
)
# These are verbs, whatever they end in.
VERBS = set(
    "pass process access address bypass discuss express compress focus guess miss press stress "
    "cross need feed seed embed shed bring string".split()
)


def subjects() -> bool:
    good = True
    for line in sys.stdin.read().split("\n"):
        if not line:
            continue
        commit, subject = line.split(" ", 1)
        wrong = ""
        match = re.match(r"[A-Za-z0-9_./,+ -]+: (?:[a-z0-9_./-]+: )*(\S+)", subject)
        verb = match[1].lower().rstrip(",") if match else ""
        if len(subject) > 75:
            wrong = f"{len(subject)} characters, at most 75"
        elif not match:
            wrong = "does not begin with `subsystem: `"
        elif verb in NOT_VERBS or verb not in VERBS and re.search(r"(?:[^s]s|ed|ing)$", verb):
            wrong = f"'{match[1]}' is no imperative verb"
        if wrong:
            good = False
            print(f"{commit} {subject}: {wrong}")
    return good


def main() -> None:
    checks = {
        "language": lambda: report(language),
        "columns": lambda: report(columns),
        "subjects": subjects,
    }
    words = sys.argv[1:]
    if len(words) != 1 or words[0] not in checks:
        sys.exit(__doc__)
    sys.exit(0 if checks[words[0]]() else 1)


if __name__ == "__main__":
    main()
