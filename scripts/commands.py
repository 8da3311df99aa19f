#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Extracts the commands of documents, so that a test can run them.

Usage: commands.py check
       commands.py extract DIRECTORY

The documents are those in DOCUMENTS. Their commands are

  - blocks of lines with four spaces before them; the block of three backticks that follows such
    a block is its output;
  - transcripts: blocks of this kind whose first line is a command after `# `. The lines below a
    command, up to the next one, are its output;
  - code in the text that begins with one of PROGRAMS and has at least two words.

tests/clients/commands.txt lists the commands that the test does not run as they are, each with a
reason: a command that cannot be run there, and is not listed, makes the test fail.

`check` prints the entries of this list that match no command, code in the text that begins with
a program not in PROGRAMS, and the targets of `make` that the Makefile does not have; exits with 1
if there are any. `extract` writes for each document, to a directory with its name:

  NN.sh           the blocks of a section; each writes its output to $BLOCKS/NN-MM.actual
  NN-MM.expected  the output of such a block in the document, with the wrapped lines joined
  inline          the commands in the text, one a line
  listed          what is not run, or run in another form, with the reason
"""

import pathlib
import re
import shutil
import sys
import typing

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", "docs/tutorial.md", "docs/troubleshooting.md"]
LIST = TOP / "tests/clients/commands.txt"
PROGRAMS = set(
    "cat cd chmod cp dd depmod dmesg echo ferrotrace grep head insmod install kill killall make "
    "mkdir modprobe mokutil mount nice openssl perf printf ps rm rmdir rmmod scripts/env.sh sed "
    "sleep sudo sysctl tail trace-cmd umount usermod wc workload".split()
)


class Block(typing.NamedTuple):
    """Commands that are run together, and their output in the document."""

    commands: list[str]
    output: list[str]


class Section:
    """A section of a document: its title, its blocks of commands, and all code in its text."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.blocks: list[Block] = []
        self.spans: list[str] = []


class Entry:
    """An entry of the list: a command, what to run instead (empty: nothing), and the reason.

    $COMMAND in what is run instead is the command itself.
    """

    def __init__(self, line: int, fields: dict[str, str]) -> None:
        self.line = line
        self.command = fields["command"]
        self.instead = fields.get("instead", "")
        self.reason = fields["reason"]
        self.matched = False


def starts_with_program(text: str) -> bool:
    words = text.split()
    return len(words) > 1 and words[0] in PROGRAMS


def joined(lines: list[str]) -> list[str]:
    """Commands, of which those with a backslash at the end of a line are in one line."""
    commands: list[str] = []
    open_line = False
    for line in lines:
        if open_line:
            commands[-1] = commands[-1][:-1].rstrip() + " " + line.lstrip()
        else:
            commands.append(line)
        open_line = line.endswith("\\")
    return commands


def unwrapped(lines: list[str]) -> list[str]:
    """Output without the breaks of long lines: in a comment, and before a field `name=`."""
    output: list[str] = []
    for line in lines:
        last = output[-1] if output else ""
        in_comment = "/*" in last and "*/" not in last
        if in_comment or re.match(r"\s{4,}\w+=", line):
            output[-1] += " " + line.lstrip()
        else:
            output.append(line)
    return output


def transcript(lines: list[str]) -> list[Block]:
    blocks: list[Block] = []
    for line in lines:
        if line.startswith("# ") and starts_with_program(line[2:]):
            if not blocks or blocks[-1].output:
                blocks.append(Block([], []))
            blocks[-1].commands.append(line[2:])
        else:
            blocks[-1].output.append(line)
    return blocks


def code_spans(text: str) -> list[str]:
    return [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", text)]


def sections(document: str) -> list[Section]:
    found = [Section("introduction")]
    indented: list[str] = []
    fence: list[str] | None = None
    language = ""
    text: list[str] = []

    def end_text() -> None:
        # A command may be broken at the end of a line.
        found[-1].spans += code_spans(" ".join(text))
        text.clear()

    def end_block() -> None:
        while indented and not indented[-1]:
            indented.pop()
        if indented and indented[0].startswith("# ") and starts_with_program(indented[0][2:]):
            found[-1].blocks += transcript(indented)
        elif indented:
            found[-1].blocks.append(Block(joined(indented), []))
        indented.clear()

    for line in (TOP / document).read_text().split("\n"):
        if fence is not None:
            if line.startswith("```"):
                if not language and found[-1].blocks:
                    found[-1].blocks[-1].output.extend(fence)
                fence = None
            else:
                fence.append(line)
        elif line.startswith("```"):
            end_text()
            end_block()
            fence, language = [], line[3:]
        elif line.startswith("    ") and not text:
            indented.append(line[4:])
        elif not line:
            end_text()
            if indented:
                indented.append("")
        else:
            end_block()
            if line.startswith("## "):
                found.append(Section(line[3:]))
            if line.startswith("|"):
                found[-1].spans += code_spans(line)
            else:
                text.append(line.strip())
    end_text()
    end_block()
    return found


def read_list() -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    fields: dict[str, str] = {}
    for number, line in enumerate(LIST.read_text().split("\n") + [""], 1):
        if line.startswith("#"):
            continue
        if line:
            name, _, text = line.partition(": ")
            fields[name] = text
            continue
        if fields:
            if set(fields) | {"instead"} != {"command", "instead", "reason"}:
                sys.exit(f"{LIST.name}:{number}: expected the lines command, reason and instead")
            entries[fields["command"]] = Entry(number - len(fields), fields)
        fields = {}
    return entries


def without_comment(command: str) -> str:
    return re.sub(r"(?:^|\s+)#\s.*", "", command).rstrip()


class Extraction:
    """The commands of all documents, and the entries of the list that they match."""

    def __init__(self) -> None:
        self.entries = read_list()
        self.commands: list[str] = []
        self.spans: list[str] = []
        self.listed: list[str] = []

    def run_as(self, command: str) -> str:
        """Returns what to run for a command: the command itself, or what the list has instead."""
        command = without_comment(command)
        self.commands.append(command)
        entry = self.entries.get(command)
        if not entry:
            return command
        entry.matched = True
        what = f"run as '{entry.instead}'" if entry.instead else "not run"
        self.listed.append(f"{command}: {what}: {entry.reason}")
        return entry.instead.replace("$COMMAND", command)

    def extract(self, document: str, directory: pathlib.Path | None) -> None:
        self.listed = []
        files: dict[str, str] = {"inline": ""}
        for number, section in enumerate(sections(document)):
            script = ""
            for n, block in enumerate(section.blocks, 1):
                name = f"{number:02}-{n:02}"
                lines = [self.run_as(command) for command in block.commands]
                if not any(lines):
                    continue
                body = "\n".join(lines)
                script += f'{{\n{body}\n}} >"$BLOCKS/{name}.actual" 2>&1\n'
                if block.output:
                    files[f"{name}.expected"] = "\n".join(unwrapped(block.output)) + "\n"
            if script:
                files[f"{number:02}.sh"] = f"# {section.title}\n{script}"
            self.spans += section.spans
            inline = [span for span in section.spans if starts_with_program(span)]
            lines = [self.run_as(command) for command in inline]
            files["inline"] += "".join(f"{line}\n" for line in lines if line)
        files["listed"] = "".join(f"{line}\n" for line in self.listed)
        if directory:
            target = directory / pathlib.Path(document).stem
            target.mkdir(parents=True)
            for name, text in files.items():
                (target / name).write_text(text)


def check(extraction: Extraction) -> bool:
    found = [
        f"{LIST.relative_to(TOP)}:{entry.line}: no document has the command: {entry.command}"
        for entry in extraction.entries.values()
        if not entry.matched
    ]
    for span in extraction.spans:
        program, *words = span.split()
        if words and program not in PROGRAMS and shutil.which(program):
            found.append(f"{pathlib.Path(__file__).name}: PROGRAMS lacks that of: {span}")
    targets = set(re.findall(r"^([a-z][a-z-]*):", (TOP / "Makefile").read_text(), re.MULTILINE))
    for command in extraction.commands:
        program, *words = command.split() or [""]
        for word in words if program == "make" else []:
            if re.fullmatch(r"[a-z-]+", word) and word not in targets | {"modules_prepare"}:
                found.append(f"the Makefile has no target for the command: {command}")
    for line in found:
        print(line)
    return not found


def main() -> None:
    extraction = Extraction()
    match sys.argv[1:]:
        case ["check"]:
            directory = None
        case ["extract", name]:
            directory = pathlib.Path(name)
        case _:
            sys.exit(__doc__)
    for document in DOCUMENTS:
        extraction.extract(document, directory)
    sys.exit(0 if directory or check(extraction) else 1)


if __name__ == "__main__":
    main()
