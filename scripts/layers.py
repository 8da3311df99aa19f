#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that imports in src/ point down the layers, and never in a circle.

Usage: layers.py <LIST

scripts/check.sh calls it with the list of the project's files. docs/layers.txt has the layers,
from the top down. Each line is one layer: its name, and the files that it consists of, as patterns
of the shell, less `src/` and `.rs`; a header of C counts as the `.c` file of its name. The first
line whose pattern matches counts.

An import is a `use` or a path in Rust, also of what another module re-exports; an `#include "..."`;
and a call from one file to a function of C that another file defines. Comments do not count, nor do
`mod` declarations. Calls of C to functions that Rust defines are callbacks, and no imports.

Files of a layer may import those of the layers below, and each other, but never in a circle of
files or of folders. Prints each import that breaks this; exits with 1 if there is one.

Each type of src/ has a name that no other one has, and each function of C is declared once in Rust.
"""

import fnmatch
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LAYERS = TOP / "docs/layers.txt"

COMMENTS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<string>b?c?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])')""", re.DOTALL
)


INCLUDE = re.compile(r'^#\s*include\s+"([^"]+)"', re.MULTILINE)
# Of a function that is not static; a weak one only takes the place of a callback.
DEFINITION = re.compile(
    r"^(?!static|extern|#|\s|[^\n]*__weak)[\w *]*?\b(\w+)\([^;{}]*\)\s*\n\{", re.MULTILINE
)


# Not indented, so not of an inner module, an implementation or a macro.
TYPE = re.compile(
    r"^(?:pub(?:\([\w: ]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|type) (\w+)", re.MULTILINE
)


def without_comments(text: str) -> str:
    return COMMENTS.sub(lambda match: '""' if match["string"] else " ", text)


def node_of(name: str) -> str:
    """The node of a file: its path below src/, less `.rs`. A module's folder is one with mod.rs."""
    path = pathlib.PurePath(name).relative_to("src")
    if path.suffix != ".rs":
        return str(path.with_suffix(".c"))
    return str(path.parent if path.name == "mod.rs" else path.with_suffix(""))


def use_paths(tree: str, prefix: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """The paths of a `use` tree, each with the name that it has here."""
    tree = tree.strip()
    parts: list[str] = []
    depth = begin = 0
    for at, char in enumerate(tree):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(tree[begin:at])
            begin = at + 1
    parts.append(tree[begin:])
    found = []
    for part in (part.strip() for part in parts):
        if not part:
            continue
        group = re.match(r"((?:\w+::)*)\{(.*)\}$", part, re.DOTALL)
        if group:
            words = tuple(word for word in group[1].split("::") if word)
            found += use_paths(group[2], prefix + words)
            continue
        path, _, alias = part.partition(" as ")
        words = prefix + tuple(path.strip().split("::"))
        if words[-1] == "self":
            words = words[:-1]
        found.append((words, alias.strip() or words[-1]))
    return found


class Rust:
    """The modules of the crate, and what each of them imports."""

    def __init__(self, names: list[str]):
        self.nodes: dict[tuple[str, ...], str] = {(): "lib"}
        self.text: dict[tuple[str, ...], str] = {}
        self.uses: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        for name in names:
            node = node_of(name)
            module = () if node == "lib" else tuple(node.split("/"))
            self.nodes[module] = node
            self.text[module] = without_comments((TOP / name).read_text())
        for module, text in self.text.items():
            self.uses[module] = {}
            for match in re.finditer(r"\buse\s+([^;]+);", text):
                for path, name in use_paths(match[1]):
                    self.uses[module][name] = self.absolute(module, path)

    def absolute(self, module: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
        if path[0] == "crate":
            return path[1:]
        if path[0] == "self":
            return module + path[1:]
        here = module
        while path and path[0] == "super":
            here, path = here[:-1], path[1:]
            if not path or path[0] != "super":
                return here + path
        if module + path[:1] in self.nodes:
            return module + path
        return ("extern",) + path

    def target(self, path: tuple[str, ...], seen: frozenset = frozenset()) -> str | None:
        """The node that a path leads to, behind any re-export."""
        # A glob is of a module within the file.
        if path[:1] == ("extern",) or path in seen or path[-1:] == ("*",):
            return None
        for length in range(len(path), -1, -1):
            module = path[:length]
            if module not in self.nodes or not module and len(path) > 1:
                continue
            rest = path[length:]
            if rest and rest[0] in self.uses.get(module, {}):
                behind = self.uses[module][rest[0]] + rest[1:]
                if behind != path and behind[:1] != ("extern",):
                    return self.target(behind, seen | {path})
            return self.nodes[module]
        return None

    def imports(self):
        for module, text in self.text.items():
            here = self.nodes[module]
            paths = list(self.uses[module].values())
            body = re.sub(r"\b(?:pub(?:\([^)]*\))?\s+)?use\s+[^;]+;", " ", text)
            for match in re.finditer(r"(?<![\w:$])((?:\w+::)+\w+)", body):
                path = tuple(match[1].split("::"))
                if path[0] in ("crate", "super", "self"):
                    paths.append(self.absolute(module, path))
                elif path[0] in self.uses[module]:
                    paths.append(self.uses[module][path[0]] + path[1:])
                elif module + path[:1] in self.nodes:
                    paths.append(module + path)
            for path in paths:
                target = self.target(path)
                if target is not None and target != here:
                    yield here, target


def c_imports(names: list[str], rust: Rust):
    """Returns the includes and calls of C files, and the calls of Rust files to C functions."""
    text = {name: without_comments((TOP / name).read_text()) for name in names}
    defined: dict[str, str] = {}
    for name, code in text.items():
        for match in DEFINITION.finditer(code):
            defined[match[1]] = node_of(name)
    for name in names:
        for match in INCLUDE.finditer((TOP / name).read_text()):
            included = str(pathlib.PurePath(name).parent / match[1])
            if included in text:
                yield node_of(name), node_of(included)
        # A header declares what others define.
        for match in re.finditer(r"\b(\w+)\s*\(", text[name]):
            if match[1] in defined and name.endswith(".c"):
                yield node_of(name), defined[match[1]]
    for module, code in rust.text.items():
        for match in re.finditer(r"\bfn\s+(\w+)", code):
            if match[1] in defined and re.search(r'extern\s+""\s*\{', code):
                yield rust.nodes[module], defined[match[1]]


def read_layers() -> list[tuple[str, list[str]]]:
    layers = []
    for line in LAYERS.read_text().split("\n"):
        if line.strip() and not line.startswith("#"):
            name, *patterns = line.split()
            layers.append((name, patterns))
    return layers


def layer_of(node: str, layers) -> int | None:
    for at, (_, patterns) in enumerate(layers):
        if any(fnmatch.fnmatchcase(node, pattern) for pattern in patterns):
            return at
    return None


def circles(edges: dict[str, set[str]]) -> dict[str, int]:
    """The number of the circle of each node that is in one (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circle: dict[str, int] = {}

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while not members or members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                circle.update((member, len(index)) for member in members)

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return circle


def folder_of(node: str) -> str:
    """The folder of src/ or of src/ktrace/ that a file belongs to, or the file itself."""
    parts = node.split("/")
    return "/".join(parts[: 2 if parts[0] == "ktrace" else 1])


def declared_twice(names: list[str]) -> dict[str, list[str]]:
    """The functions of C that several Rust files declare, with these files."""
    declared: dict[str, list[str]] = {}
    for name in names:
        text = without_comments((TOP / name).read_text())
        for block in re.findall(r'extern "" \{\n(.*?)^\}', text, re.MULTILINE | re.DOTALL):
            for function in re.findall(r"\bfn (\w+)\(", block):
                declared.setdefault(function, []).append(name)
    return {function: files for function, files in declared.items() if len(files) > 1}


def named_twice(names: list[str]) -> dict[str, list[str]]:
    """The names of types that several files define, with these files."""
    defined: dict[str, list[str]] = {}
    for name in names:
        text = without_comments((TOP / name).read_text())
        for match in TYPE.finditer(text):
            defined.setdefault(match[1], []).append(name)
    return {type_: files for type_, files in defined.items() if len(files) > 1}


def main() -> None:
    names = sorted(name for name in sys.stdin.read().split("\n") if name.startswith("src/"))
    names = [name for name in names if (TOP / name).is_file()]
    rust = Rust([name for name in names if name.endswith(".rs")])
    imports = set(rust.imports())
    imports |= set(c_imports([name for name in names if name.endswith((".c", ".h"))], rust))
    imports = {(here, there) for here, there in imports if here != there}
    layers = read_layers()
    good = True
    nodes = {node_of(name) for name in names if name.endswith((".rs", ".c", ".h"))}
    for node in sorted(nodes):
        if layer_of(node, layers) is None:
            good = False
            print(f"src/{node}: is in no layer of docs/layers.txt")
    for type_, files in sorted(named_twice([n for n in names if n.endswith(".rs")]).items()):
        good = False
        print(f"{type_}: is defined in {', '.join(files)}")
    twice = declared_twice([name for name in names if name.endswith(".rs")])
    for function, files in sorted(twice.items()):
        good = False
        print(f"{function}(): is declared in {', '.join(files)}")
    edges: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for here, there in imports:
        edges.setdefault(here, set()).add(there)
        if folder_of(here) != folder_of(there):
            folders.setdefault(folder_of(here), set()).add(folder_of(there))
    circle, folder_circle = circles(edges), circles(folders)
    for here, there in sorted(imports):
        reasons = []
        if (layer_of(here, layers) or 0) > (layer_of(there, layers) or 0):
            reasons.append("points up")
        if circle.get(here, -1) == circle.get(there, -2):
            reasons.append("is part of a circle of files")
        if folder_of(here) != folder_of(there) and folder_circle.get(
            folder_of(here), -1
        ) == folder_circle.get(folder_of(there), -2):
            reasons.append("is part of a circle of folders")
        if reasons:
            good = False
            print(f"{here} -> {there}: {', '.join(reasons)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
