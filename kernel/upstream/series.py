#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the driver as a series of patches against a kernel's source.

    series.py SOURCE OUT

SOURCE is an unpacked kernel, OUT a directory for the patches and for the repository that
they are made in. There is no second copy of the driver: all files are those of this tree.
Which belong to it Kbuild says, and the headers that they include. kernel/ becomes
drivers/accel/nvdla/, firmware/ lies below it, uapi/ becomes include/uapi/. What only other
kernels need (NVDLA_HAVE_*), or only the module beside a kernel (NVDLA_OUT_OF_TREE), is left out.

The driver cannot be chosen before the patch that completes it; until then its Makefile
has what is there, and CONFIG_DRM_ACCEL_NVDLA=m on make's command line compiles that.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path("kernel/upstream")
DRIVER = pathlib.Path("drivers/accel/nvdla")
BINDING = "Documentation/devicetree/bindings/npu/nvidia,nvdla.yaml"

# What only the module beside the kernel has, such as deprecated names.
OUT_OF_TREE = "NVDLA_OUT_OF_TREE"

COVER = "accel: Add a driver for NVIDIA's NVDLA"

# What the first patch changes in the kernel, as a patch of its own.
MASTER = "master.patch"
MASTER_FILES = ("drivers/gpu/drm/drm_auth.c", "drivers/gpu/drm/drm_ioctl.c")

# What a patch may have of lines that somebody wrote by hand, and the headers that nobody did.
MAX_LINES = 1500
GENERATED = ("firmware/registers/nvdla_regs.h", "firmware/registers/nvdla_reg_table.inc")

# The patches: a name for the code, subject, text, and which objects of Kbuild it adds. A header
# comes with the first object that includes it. What no pattern names comes with the core.
PATCHES = [
    ("master", "drm: Refuse to authenticate files without a master",
     "Files of accel nodes have no master. DRM_IOCTL_GET_MAGIC and\n"
     "DRM_IOCTL_GET_UNIQUE of such a file dereference a null pointer and leave\n"
     "master_mutex locked for good: any user who may open the node can bring\n"
     "the kernel to an oops. Neither call makes sense there, so refuse both.",
     None),
    ("binding", "dt-bindings: npu: Add NVIDIA NVDLA",
     "NVDLA is an accelerator for inference that NVIDIA published as\n"
     "synthesizable logic. Which of its configurations a device is cannot be\n"
     "read from it, so each has a compatible string.", None),
    ("layers", "drm/uapi: Add the layers of NVDLA",
     "User space describes layers, the kernel works out registers. So what a\n"
     "program does can be checked completely when it is created, and a program\n"
     "cannot contradict itself. The layers have a header without any DRM, as\n"
     "they are the same wherever layers are run.", None),
    ("uapi", "drm/uapi: Add the ioctls of NVDLA",
     "Contexts, buffers, programs and their submission.", None),
    ("registers", "accel/nvdla: Add the registers",
     "Those of both generations, generated from a description.", None),
    ("configurations", "accel/nvdla: Add the configurations",
     "The build parameters of all that were published. The driver cannot be\n"
     "chosen yet.", r"firmware/[^/]*\.o$"),
    ("checks", "accel/nvdla: Add the checks of programs",
     "Each rule that the hardware documents, and each byte that a layer may\n"
     "touch, is checked once, on a copy that user space cannot change, when a\n"
     "program is created.", r"firmware/compile/(binding|check|claim|emit|error|window)\.o$"),
    ("programs", "accel/nvdla: Compile programs",
     "A program is a list of layers, the slots of memory that they use and\n"
     "look-up tables. Layers become images of registers, in which only the\n"
     "addresses of buffers are missing.",
     r"firmware/compile/(bdma|layer|lut|program|rubik|rubik_regs)\.o$"),
    ("convolution", "accel/nvdla: Compile convolutions",
     "The convolution buffer decides whether a layer ends: what it needs, and\n"
     "what it leaves for the next one, is worked out here.",
     r"firmware/compile/conv(_buffer|_regs|_reuse)?\.o$"),
    ("weights", "accel/nvdla: Compile images, Winograd and compressed weights",
     "The other ways in which input and weights reach the multipliers.",
     r"firmware/compile/conv_(compressed|image|winograd)\.o$"),
    ("elements", "accel/nvdla: Compile operations on elements",
     "SDP, alone or behind a convolution.", r"firmware/compile/sdp\w*\.o$"),
    ("pooling", "accel/nvdla: Compile pooling and normalisation",
     "PDP and CDP.", r"firmware/compile/[pc]dp\w*\.o$"),
    ("engine", "accel/nvdla: Add the engine",
     "It writes images of registers to the hardware, two groups for each unit,\n"
     "and follows interrupts. It knows no DRM and allocates nothing.",
     r"firmware/engine/(engine|groups)\.o$"),
    ("deadlines", "accel/nvdla: Let the engine start, watch and count",
     "It takes over a device, knows when a layer should have ended, loads\n"
     "look-up tables and reads statistics.",
     r"firmware/engine/(bdma|deadline|image|irq|lut|start|stats)\.o$"),
    ("memory", "accel/nvdla: Add buffers",
     "Of pages or of memory that is reserved for the device, contiguous for it,\n"
     "mapped in the kernel and zeroed.", r"kernel/nvdla_(bo_memory|gem)\.o$"),
    ("mapping", "accel/nvdla: Map buffers, and move them between caches",
     "Processes map a buffer page by page, so that its memory can be taken away\n"
     "when the device goes. Memory of the device's own is one more place that\n"
     "buffers come from.", r"kernel/nvdla_(bo_mmap|bo_sync|region)\.o$"),
    ("users", "accel/nvdla: Add users and clients",
     "Users share the device, and are charged for what the driver keeps for\n"
     "them; a client is an open file, with its contexts and statistics.",
     r"kernel/nvdla_user\.o$"),
    ("programs-kept", "accel/nvdla: Add programs and shared buffers",
     "Programs are copied and checked when they are created. Buffers are\n"
     "exported and imported as dma-bufs.", r"kernel/nvdla_(prime|program)\.o$"),
    ("fences", "accel/nvdla: Add fences and reservations",
     "What users and other drivers see of a job: a fence that outlives all else,\n"
     "and where it lies in the reservations of the job's buffers.",
     r"kernel/nvdla_(fence|resv)\.o$"),
    ("contexts", "accel/nvdla: Add contexts and jobs",
     "A context is a queue of jobs. The scheduler of DRM resolves what they\n"
     "depend on; fences of a context signal in order.",
     r"kernel/nvdla_(context|job|submit)\.o$"),
    ("scheduling", "accel/nvdla: Share the device between users",
     "Users take turns, the contexts of a user share its time, and a job gives\n"
     "way between two layers.", r"kernel/nvdla_sched\.o$"),
    ("recovery", "accel/nvdla: Recover from hangs, sleep and wake up",
     "A layer that misses its deadline is isolated, the device reset without\n"
     "harm to others, and the fence signalled when nothing writes to its\n"
     "buffers any more.", r"kernel/nvdla_(power|reset)\.o$"),
    ("dump", "accel/nvdla: Dump jobs that fail",
     "Registers at once, the program and its buffers behind the fence, for the\n"
     "framework of device coredumps.", r"kernel/nvdla_(dump|register)\.o$"),
    ("tracing", "accel/nvdla: Add debugfs and trace points",
     "They show what runs, what waits, who has which memory, and which memory\n"
     "each layer may touch.", r"kernel/nvdla_(debugfs|trace)\.o$"),
    ("core", "accel/nvdla: Add the device",
     "The life of a device from its probe to its removal, and the table of\n"
     "ioctls.", r"kernel/"),
    ("kunit", "accel/nvdla: Test programs, buffers and fences by KUnit",
     "What the compiler refuses, what reservations and imports promise.",
     r"kernel/tests/nvdla_test_(fence|prime|program|submit)\.o$"),
    ("kunit-jobs", "accel/nvdla: Test the life of jobs by KUnit",
     "Scheduling, ownership and recovery, on a device of a few registers that\n"
     "each test moves by hand.", r"kernel/tests/nvdla_test_(fake|power|sched|user)\.o$"),
    ("pci", "accel/nvdla: Find devices on PCI",
     "NVDLA as a PCI function: an FPGA, or an emulator.", r"kernel/nvdla_pci\.o$"),
    ("platform", "accel/nvdla: Find devices of systems on chip",
     "NVDLA in a system on chip, found by device tree or ACPI. With it the\n"
     "driver is complete, so it can be chosen.", r"kernel/nvdla_platform\.o$"),
    ("documentation", "Documentation/accel: Describe NVDLA",
     "What the hardware is, what its driver promises and how it is tested.", None),
    ("maintainers", "MAINTAINERS: Add an entry for NVDLA",
     "The driver, its user-space API, its binding and its documentation.", None),
]


def fail(text):
    sys.exit(f"series.py: {text}")


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def logical_lines(text):
    """Lines of a makefile, continued ones in one, without comments."""
    for line in text.replace("\\\n", " ").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield " ".join(line.split())


class Tree:
    """This tree, as it is for one kernel."""

    def __init__(self, source, work):
        self.kbuild = (ROOT / "Kbuild").read_text()
        self.unifdef = work / "unifdef"
        run("cc", "-w", "-o", str(self.unifdef), str(source / "scripts/unifdef.c"))
        self.flags = self.kernel_flags(source)
        self.objects = []
        for line in logical_lines(self.kbuild):
            if re.match(r"nvdla-\S+ [:+]?= ", line):
                self.objects += [word for word in line.split()[2:] if word.endswith(".o")]

    def kernel_flags(self, source):
        """What Kbuild finds in this kernel's headers, as arguments of unifdef."""
        # What its Kconfig selects is there.
        selected = "".join(f"CONFIG_{name} := y\n" for name in re.findall(
            r"^\tselect (\w+)", (ROOT / "kernel/upstream/Kconfig").read_text(), re.M))
        makefile = (f"comma := ,\nsrc := .\n{selected}all: ; @echo $(ccflags-y)\n"
                    f"srctree := {source}\ninclude {ROOT / 'Kbuild'}\n.DEFAULT_GOAL := all\n")
        said = run("make", "-s", "-f", "-", input=makefile, cwd=ROOT)
        have = set(re.findall(r"-D(NVDLA_HAVE_\w+)", said))
        names = set(re.findall(r"NVDLA_HAVE_\w+", self.kbuild))
        if not have <= names:
            fail(f"Kbuild defines {have - names} without naming it")
        return [("-D" if name in have else "-U") + name for name in sorted(names)] + [
            f"-U{OUT_OF_TREE}"]

    def sources(self, obj):
        """The source of an object and all headers of this tree that it includes."""
        todo, found = [(obj[:-2] + ".c")], []
        while todo:
            name = os.path.normpath(todo.pop())
            if name in found:
                continue
            if not (ROOT / name).is_file():
                fail(f"{name} is missing, which {obj} needs")
            found.append(name)
            for include in re.findall(r'^#include "([^"]+)"', (ROOT / name).read_text(), re.M):
                beside = pathlib.Path(name).parent / include
                # Others are the kernel's.
                if (ROOT / beside).is_file():
                    todo.append(str(beside))
        return found

    @staticmethod
    def target(name):
        """Where a file of this tree lies in the kernel."""
        if name.startswith("uapi/"):
            return pathlib.Path("include") / name
        return DRIVER / (name[len("kernel/"):] if name.startswith("kernel/") else name)

    def text(self, name):
        """A file as it is in the kernel."""
        text = (ROOT / name).read_text()
        if "NVDLA_HAVE_" in text or OUT_OF_TREE in text:
            done = subprocess.run([self.unifdef, *self.flags], input=text, text=True,
                                  capture_output=True, check=False)
            if done.returncode > 1:
                fail(f"{name}: {done.stderr}")
            # Blank lines on both sides of what went.
            text = re.sub(r"\n{3,}", "\n\n", done.stdout)
            if re.search(rf"NVDLA_HAVE_\w|{OUT_OF_TREE}", text):
                fail(f"{name}: a use of NVDLA_HAVE_* or {OUT_OF_TREE} that unifdef does not see")
        if name.startswith(("kernel/", "firmware/")):
            text = re.sub(r'^#include "(?:\.\./)+uapi/(\S+)"', r"#include <uapi/\1>", text,
                          flags=re.M)
        if name.startswith("kernel/tests/"):
            text = text.replace('#include "../../firmware/', '#include "../firmware/')
        elif name.startswith("kernel/"):
            text = text.replace('#include "../firmware/', '#include "firmware/')
        return text

    def makefile(self, present):
        """Kbuild with those of its objects that are there."""
        out = ["# SPDX-License-Identifier: GPL-2.0", ""]
        for line in logical_lines(self.kbuild):
            name, operator, *words = line.split()
            if operator not in ("=", ":=", "+=", "?="):
                fail(f"Kbuild: '{line}': only assignments can be taken over")
            if name == "obj-m":
                out += ["obj-$(CONFIG_DRM_ACCEL_NVDLA) := nvdla.o", ""]
            elif name.startswith("nvdla-"):
                objects = sorted(self.kernel_object(word) for word in words if word in present)
                if objects:
                    out += [f"{name} += \\", *[f"\t{word} \\" for word in objects[:-1]],
                            f"\t{objects[-1]}", ""]
            elif name.startswith("CFLAGS_"):
                if name[len("CFLAGS_"):] in present:
                    out.append(f"CFLAGS_{self.kernel_object(name[len('CFLAGS_'):])} := "
                               + " ".join(words).replace("/kernel", ""))
            elif name.startswith("ccflags-"):
                # Headers of user space are in every kernel's search path.
                if not ("NVDLA_HAVE_" in line or OUT_OF_TREE in line
                        or words == ["-I$(src)/uapi"]):
                    fail(f"Kbuild: '{line}' means nothing to a kernel's own driver")
            elif "NVDLA" in line:
                fail(f"Kbuild: cannot take over '{line}'")
        while not out[-1]:
            out.pop()
        return "\n".join(out) + "\n"

    @staticmethod
    def kernel_object(word):
        return word[len("kernel/"):] if word.startswith("kernel/") else word


def insert_sorted(text, line, pattern):
    """`line` among those that match, in order."""
    lines = text.split("\n")
    places = [i for i, other in enumerate(lines) if re.match(pattern, other)]
    if not places:
        fail(f"nothing like '{line}' where it should stand")
    after = [i for i in places if lines[i] < line]
    lines.insert(after[-1] + 1 if after else places[0], line)
    return "\n".join(lines)


def insert_maintainers(text, entry):
    """Entries are sorted by their titles."""
    head, mark, entries = text.partition("Maintainers List\n")
    blocks = entries.split("\n\n")
    titles = [block.split("\n", 1)[0] for block in blocks]
    title = entry.split("\n", 1)[0]
    later = [i for i, other in enumerate(titles) if re.match("DRM ", other) and other > title]
    if not mark or not later:
        fail("MAINTAINERS has no entries of DRM drivers")
    blocks.insert(later[0], entry.rstrip("\n"))
    return head + mark + "\n\n".join(blocks)


class Series:
    """A repository with the files that the patches touch."""

    def __init__(self, source, work):
        self.source, self.work = source, work
        self.tree = Tree(source, work)
        ident = run("git", "var", "GIT_AUTHOR_IDENT", cwd=ROOT)
        self.name, self.mail = re.match(r"(.*) <(.*)>", ident).groups()
        date = run("git", "log", "-1", "--format=%cI", cwd=ROOT).strip()
        self.env = dict(os.environ, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date,
                        GIT_AUTHOR_NAME=self.name, GIT_AUTHOR_EMAIL=self.mail,
                        GIT_COMMITTER_NAME=self.name, GIT_COMMITTER_EMAIL=self.mail)
        self.repository = work / "repository"
        shutil.rmtree(self.repository, ignore_errors=True)
        self.repository.mkdir()
        self.git("init", "-q")
        for name in ("drivers/accel/Kconfig", "drivers/accel/Makefile", "MAINTAINERS",
                     "Documentation/accel/index.rst", *MASTER_FILES):
            self.write(name, (source / name).read_text())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")

    def git(self, *arguments):
        return run("git", *arguments, cwd=self.repository, env=self.env)

    def write(self, name, text):
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@MAINTAINER@", f"{self.name} <{self.mail}>"))

    def change(self, name, edit):
        self.write(name, edit((self.repository / name).read_text()))

    def add_own(self, name, target):
        self.write(target, (ROOT / HERE / name).read_text())

    def add_code(self, objects, present):
        for obj in objects:
            for name in self.tree.sources(obj):
                if not name.startswith("uapi/"):
                    self.write(self.tree.target(name), self.tree.text(name))
        present.update(objects)
        self.write(DRIVER / "Makefile", self.tree.makefile(present))

    def connect(self):
        """Into the build of drivers/accel, but not to be chosen yet."""
        text = (ROOT / HERE / "Kconfig").read_text()
        self.write(DRIVER / "Kconfig", re.sub(r'tristate ".*"', "tristate", text))
        self.change("drivers/accel/Kconfig", lambda old: insert_sorted(
            old, f'source "{DRIVER}/Kconfig"', "source "))
        self.change("drivers/accel/Makefile", lambda old: insert_sorted(
            old, "obj-$(CONFIG_DRM_ACCEL_NVDLA)\t\t+= nvdla/", r"obj-\$"))

    def check_size(self, name):
        """Fails if the last patch has more than a reviewer reads at once."""
        generated = [str(self.tree.target(path)) for path in GENERATED]
        lines = {path: int(added) for added, _, path in (
            line.split("\t") for line in self.git("show", "--numstat", "--format=").splitlines()
            if line)}
        written = {path: count for path, count in lines.items() if path not in generated}
        if sum(written.values()) > MAX_LINES or (name != "registers" and lines != written):
            fail(f"the patch '{name}' has {sum(written.values())} lines, {MAX_LINES} at most: "
                 f"{written}")

    def plan(self):
        """Which objects come with which patch: the last pattern that fits."""
        plan = {name: [] for name, *_ in PATCHES}
        for obj in self.tree.objects:
            fits = [name for name, _, _, pattern in PATCHES
                    if pattern and re.match(pattern, obj) and name != "core"]
            plan[fits[-1] if fits else "core"].append(obj)
        for name, _, _, pattern in PATCHES:
            if pattern and not plan[name]:
                fail(f"no object of Kbuild is left for the patch '{name}'")
        return plan

    def make(self):
        plan, present = self.plan(), set()
        for name, subject, text, pattern in PATCHES:
            if name == "master":
                self.git("apply", str(ROOT / HERE / MASTER))
            elif name == "binding":
                self.add_own("nvidia,nvdla.yaml", BINDING)
            elif name in ("layers", "uapi", "registers"):
                for path in {"layers": ("uapi/drm/nvdla_layer.h",),
                             "uapi": ("uapi/drm/nvdla_accel.h",), "registers": GENERATED}[name]:
                    self.write(self.tree.target(path), self.tree.text(path))
            elif name == "documentation":
                self.add_own("nvdla.rst", "Documentation/accel/nvdla.rst")
                self.change("Documentation/accel/index.rst",
                            lambda old: insert_sorted(old, "   nvdla", r"   [a-z]+(/index)?$"))
            elif name == "maintainers":
                self.change("MAINTAINERS", lambda old: insert_maintainers(
                    old, (ROOT / HERE / "MAINTAINERS").read_text()))
            if pattern:
                if not present:
                    self.connect()
                self.add_code(plan[name], present)
            if present == set(self.tree.objects) and pattern:
                self.add_own("Kconfig", DRIVER / "Kconfig")
            self.git("add", "-A")
            self.git("commit", "-q", "-s", "-m", f"{subject}\n\n{text}")
            self.check_size(name)
        if present != set(self.tree.objects):
            fail("patches do not add up to Kbuild")
        base = self.git("rev-list", "--max-parents=0", "HEAD").strip()
        self.git("format-patch", "-q", "--cover-letter", "--no-signature", "-o", str(self.work),
                 base)
        cover = self.work / "0000-cover-letter.patch"
        blurb = (ROOT / HERE / "cover.txt").read_text().rstrip("\n")
        cover.write_text(cover.read_text().replace("*** SUBJECT HERE ***", COVER)
                         .replace("*** BLURB HERE ***", blurb))


def main():
    if len(sys.argv) != 3:
        fail("usage: series.py SOURCE OUT")
    source, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    if not (source / "drivers/accel/Kconfig").is_file():
        fail(f"{source} is no kernel with drivers/accel")
    work.mkdir(parents=True, exist_ok=True)
    for old in work.glob("*.patch"):
        old.unlink()
    Series(source, work).make()
    print(f"{len(PATCHES)} patches in {work}")


main()
