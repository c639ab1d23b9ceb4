#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""reference_test.py PROGRAM...: manual pages and completions against what --help says.

Every command and option that --help shows has to be in the manual page, which groff and
mandoc read without a word, and has to be offered by bash, fish and zsh. Each shell is
asked, not its script searched. A complaint is a line; the exit status is 1 if there was any.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile


def said(*command, **options):
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Command:
    """What --help says of a command: names of commands and options."""

    def __init__(self, program, words):
        self.words = words
        text = said(program, *words[1:], "--help")
        section = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        self.commands = re.findall(r"^  ([\w-]+)", section, re.M)
        self.options = [name for names in re.findall(r"^  (-[^\s[]+)", text, re.M)
                        for name in names.split(",")]
        self.choices = re.findall(r"^  (?:-\w,)?(--[\w-]+) [A-Z]+:\{([\w,-]+)\}", text, re.M)
        self.takes_device = re.search(r"--device NAME", text) is not None


def commands_of(program, words):
    command = Command(program, words)
    found = [command]
    for name in command.commands:
        found += commands_of(program, words + [name])
    return found


class Bash:
    """Calls the function as readline does; compopt works only inside of it."""

    SCRIPT = r'''
compopt() { :; }
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
"$(complete -p "$3" | sed 's/.*-F \([^ ]*\).*/\1/')"
printf '%s\n' "${COMPREPLY[@]}"'''

    def offers(self, script, line):
        return said("bash", "-c", self.SCRIPT, "bash", script, line, line.split()[0]).split("\n")


class Fish:
    def offers(self, script, line):
        with tempfile.TemporaryDirectory() as home:
            lines = said("fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"',
                         script, line, env={"HOME": home, "PATH": "/usr/bin:/bin"})
        return [each.partition("\t")[0] for each in lines.splitlines()]


class Zsh:
    """Runs on a terminal of its own; what is offered is caught where it is added.

    A shell spends most of its start on finding zsh's own functions; all of them share one list.
    """

    FIND = "autoload -Uz compinit && compinit -u -d $KNOWN"

    START = r"""
PS1= TERM=dumb
autoload -Uz compinit && compinit -C -d $KNOWN
source $SCRIPT
compadd() {
  local -a offered
  builtin compadd -O offered "$@"
  print -rl -- $offered >> $CAUGHT
  builtin compadd "$@"
}
capture() { _main_complete; compstate[insert]= compstate[list]= }
zle -C capture complete-word capture
finish() { print -r -- '-- end --' >> $CAUGHT }
zle -N finish
bindkey '^T' capture '^X' finish
"""
    # What the terminal shows has to be read, or the shell waits.
    TYPE = r"""
zmodload zsh/zpty
zpty shell zsh -d -i
zpty -w -n shell "$1"$'\x14\x18'
repeat 400; do
  zpty -r -t shell > /dev/null
  grep -q '^-- end --' $CAUGHT 2> /dev/null && break
  sleep 0.05
done
zpty -d shell
"""

    def __init__(self):
        self.known = None

    def prepare(self, folder):
        self.known = str(folder / "zcompdump")
        said("zsh", "-f", "-c", self.FIND, env={"PATH": "/usr/bin:/bin", "KNOWN": self.known})

    def offers(self, script, line):
        with tempfile.TemporaryDirectory() as folder:
            caught = pathlib.Path(folder) / "caught"
            (pathlib.Path(folder) / ".zshrc").write_text(self.START)
            said("zsh", "-f", "-c", self.TYPE, "zsh", line,
                 env={"HOME": folder, "ZDOTDIR": folder, "PATH": "/usr/bin:/bin",
                      "SCRIPT": script, "CAUGHT": str(caught), "KNOWN": self.known})
            offered = caught.read_text().splitlines() if caught.exists() else []
        if "-- end --" not in offered:
            raise SystemExit(f"zsh did not complete '{line}'")
        return offered


SHELLS = {"bash": Bash(), "fish": Fish(), "zsh": Zsh()}


def check_man(program, commands, page):
    complaints = []
    for tool in (["man", "--warnings", "-l"], ["mandoc", "-Tlint", "-Wwarning"]):
        done = subprocess.run(tool + [page], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        words = done.stderr + (done.stdout if tool[0] == "mandoc" else "")
        if words or done.returncode:
            complaints.append(f"{program.name}: {tool[0]} says of its page: {words}")
    text = said("mandoc", "-Tascii", page)
    text = re.sub(r".\x08", "", text)
    # Sections of the commands begin with their names, the program's with OPTIONS.
    parts = re.split(r"^ {3}(\w.*)$|^OPTIONS$", text, flags=re.M)
    sections = {name or "": body for name, body in zip(parts[1::2], parts[2::2])}
    for command in commands:
        name = " ".join(command.words) if len(command.words) > 1 else ""
        body = sections.get(name)
        if body is None:
            complaints.append(f"{program.name}: its page has no section '{name}'")
            continue
        complaints += [f"{program.name}: its page lacks {option} of '{name}'"
                       for option in command.options
                       if not re.search(rf"^ +(-\w, )?{re.escape(option)}\b", body, re.M)]
    return complaints


def expectations(shell, commands):
    """Lines before a tab, and words that have to be offered there."""
    found = []

    def expect(line, words):
        found.append((line, words))
    for command in commands:
        line = " ".join(command.words) + " "
        expect(line + "--", [name for name in command.options if name.startswith("--")])
        expect(line + "-", [name for name in command.options if not name.startswith("--")])
        if command.commands:
            expect(line, command.commands)
        for option, choices in command.choices:
            expect(f"{line}{option} ", choices.split(","))
        if command.takes_device:
            expect(line + "--device ", ["auto", "kernel", "model"])
            if shell == "bash":
                # What readline takes for the word is behind the colon.
                expect(line + "--device model:nv_sm", ["nv_small", "nv_small_256"])
                expect(line + "--device=model:nv_sm", ["nv_small", "nv_small_256"])
            else:
                expect(line + "--device model", ["model:nv_small", "model:nv_full"])
    return found


def check_shell(shell, commands, script):
    expected = expectations(shell, commands)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        offered = pool.map(lambda each: SHELLS[shell].offers(script, each[0]), expected)
    return [f"{shell}: '{line}' and a tab do not offer {word}"
            for (line, words), offer in zip(expected, offered)
            for word in words if word not in offer]


def check(program, folder):
    commands = commands_of(str(program), [program.name])
    if not commands[0].options:
        return [f"{program.name}: --help shows no option"]
    files = {}
    for form in ("man", "bash", "fish", "zsh"):
        files[form] = str(folder / f"{program.name}.{form}")
        pathlib.Path(files[form]).write_text(said(str(program), "--reference", form))
    complaints = check_man(program, commands, files["man"])
    for shell in SHELLS:
        complaints += check_shell(shell, commands, files[shell])
    print(f"{program.name}: {len(commands)} commands, "
          f"{sum(len(command.options) for command in commands)} options")
    return complaints


def main():
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        SHELLS["zsh"].prepare(pathlib.Path(folder))
        for program in sys.argv[1:]:
            complaints += check(pathlib.Path(program), pathlib.Path(folder))
    print(*complaints, sep="\n")
    return 1 if complaints or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
