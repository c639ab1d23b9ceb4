#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT
"""Write the description of the driver for syzkaller from the headers beside.

    generate.py            after a change of the headers
    generate.py --check    fail if the description is not what the headers say

nvdla.txt has every ioctl and every field of every structure that goes in, nvdla.txt.const the
values of all names in it. Most fields follow from their type and their comment ("enum x",
"zero", "1..32"); what does not is said below.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = [HERE.parent / "drm" / name for name in ("nvdla_layer.h", "nvdla_accel.h")]
LICENCE = "# SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT\n"

# Structures that only come out of the kernel, or that have a template instead.
OUT = {"nvdla_error", "nvdla_layer_stats", "drm_nvdla_device_info", "drm_nvdla_limits"}
TEMPLATES = {"drm_nvdla_array"}

# Sets of flags by the prefix of their names.
FLAGS = {
    "nvdla_slot_access": r"NVDLA_SLOT_",
    "nvdla_conv_flags": r"NVDLA_CONV_",
    "nvdla_sdp_x_flags": r"NVDLA_SDP_(ENABLE|RELU)$",
    "nvdla_sdp_y_flags": r"NVDLA_SDP_(ENABLE|LUT|CONVERT_\w+)$",
    "nvdla_sdp_flags": r"NVDLA_SDP_NAN",
    "nvdla_pdp_flags": r"NVDLA_PDP_",
    "nvdla_cdp_flags": r"NVDLA_CDP_",
    "nvdla_lut_flags": r"NVDLA_LUT_",
    "drm_nvdla_bo_flags": r"DRM_NVDLA_BO_(?!SYNC|WAIT)",
    "drm_nvdla_bo_sync_flags": r"DRM_NVDLA_BO_SYNC_",
    "drm_nvdla_bo_wait_flags": r"DRM_NVDLA_BO_WAIT_",
    "drm_nvdla_program_flags": r"DRM_NVDLA_PROGRAM_",
    "drm_nvdla_sync_flags": r"DRM_NVDLA_SYNC_",
}

# Fields whose comment does not say enough, as STRUCT.FIELD; "*" is any structure.
FIELDS = {
    "*.slot": "int32[0:8]",
    "nvdla_slot.access": "flags[nvdla_slot_access, int32]",
    "nvdla_conv.flags": "flags[nvdla_conv_flags, int32]",
    "nvdla_sdp_x.flags": "flags[nvdla_sdp_x_flags, int32]",
    "nvdla_sdp_y.flags": "flags[nvdla_sdp_y_flags, int32]",
    "nvdla_sdp.flags": "flags[nvdla_sdp_flags, int32]",
    "nvdla_pdp.flags": "flags[nvdla_pdp_flags, int32]",
    "nvdla_cdp.flags": "flags[nvdla_cdp_flags, int32]",
    "nvdla_lut.flags": "flags[nvdla_lut_flags, int32]",
    "nvdla_layer.lut": "int32[0:4]",
    "nvdla_layer.num_waits": "int32[0:NVDLA_MAX_WAITS]",
    "nvdla_layer.waits": "array[int32[0:8], NVDLA_MAX_WAITS]",
    "drm_nvdla_query.pointer": "ptr64[out, array[int8]]",
    "drm_nvdla_query.size": "bytesize[pointer, int32]",
    "drm_nvdla_context_create.context": "nvdla_context (out)",
    "drm_nvdla_context_destroy.context": "nvdla_context",
    "drm_nvdla_context_query.context": "nvdla_context",
    "drm_nvdla_bo_create.size": "int64[0:0x100000]",
    "drm_nvdla_bo_create.flags": "flags[drm_nvdla_bo_flags, int32]",
    "drm_nvdla_bo_create.handle": "nvdla_bo (out)",
    "*.handle": "nvdla_bo",
    "drm_nvdla_bo_sync.flags": "flags[drm_nvdla_bo_sync_flags, int32]",
    "drm_nvdla_bo_wait.flags": "flags[drm_nvdla_bo_wait_flags, int32]",
    "drm_nvdla_program_create.error": "ptr64[out, array[int8]]",
    "drm_nvdla_program_create.error_bytes": "bytesize[error, int32]",
    "drm_nvdla_program_create.flags": "flags[drm_nvdla_program_flags, int32]",
    "drm_nvdla_program_create.program": "nvdla_program (out)",
    "drm_nvdla_program_create.control": "drm_nvdla_array[int8, 1]",
    "drm_nvdla_program_destroy.program": "nvdla_program",
    "drm_nvdla_sync.handle": "nvdla_syncobj",
    "drm_nvdla_sync.flags": "flags[drm_nvdla_sync_flags, int32]",
    "drm_nvdla_submit.error": "ptr64[out, array[int8]]",
    "drm_nvdla_submit.error_bytes": "bytesize[error, int32]",
    "drm_nvdla_submit.stats_handle": "nvdla_bo",
    "drm_nvdla_submit.stats_stride": "int32[0:4096, 8]",
    "drm_nvdla_submit.context": "nvdla_context",
    "drm_nvdla_submit.program": "nvdla_program",
}

# Calls that are not the driver's own: a name, the file that it is for, the command, which way its
# argument goes, and the structure of that. SYNCOBJ_EVENTFD is not in Debian 12's headers.
CORE = [
    ("GEM_CLOSE", "fd_nvdla", "DRM_IOCTL_GEM_CLOSE", "in", "gem_close"),
    ("PRIME_HANDLE_TO_FD", "fd_nvdla", "DRM_IOCTL_PRIME_HANDLE_TO_FD", "inout", "prime_export"),
    ("PRIME_FD_TO_HANDLE", "fd_nvdla", "DRM_IOCTL_PRIME_FD_TO_HANDLE", "inout", "prime_import"),
    ("DMA_BUF_SYNC", "fd_nvdla_dma_buf", "DMA_BUF_IOCTL_SYNC", "in", "dma_buf_sync"),
    ("DMA_BUF_EXPORT_SYNC_FILE", "fd_nvdla_dma_buf", "DMA_BUF_IOCTL_EXPORT_SYNC_FILE", "inout",
     "dma_buf_export_sync_file"),
    ("DMA_BUF_IMPORT_SYNC_FILE", "fd_nvdla_dma_buf", "DMA_BUF_IOCTL_IMPORT_SYNC_FILE", "in",
     "dma_buf_import_sync_file"),
    ("SYNC_MERGE", "fd_nvdla_sync_file", "SYNC_IOC_MERGE", "inout", "sync_merge"),
    ("SYNC_FILE_INFO", "fd_nvdla_sync_file", "SYNC_IOC_FILE_INFO", "inout", "sync_file_info"),
    ("SYNCOBJ_CREATE", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_CREATE", "inout", "syncobj_create"),
    ("SYNCOBJ_DESTROY", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_DESTROY", "in", "syncobj_destroy"),
    ("SYNCOBJ_EXPORT", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD", "inout", "syncobj_export"),
    ("SYNCOBJ_IMPORT", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE", "inout", "syncobj_import"),
    ("SYNCOBJ_EXPORT_SYNC_FILE", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD", "inout",
     "syncobj_export_sync_file"),
    ("SYNCOBJ_IMPORT_SYNC_FILE", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE", "in",
     "syncobj_import_sync_file"),
    ("SYNCOBJ_WAIT", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_WAIT", "inout", "syncobj_wait"),
    ("SYNCOBJ_TIMELINE_WAIT", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT", "inout",
     "syncobj_timeline_wait"),
    ("SYNCOBJ_RESET", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_RESET", "in", "syncobj_array"),
    ("SYNCOBJ_SIGNAL", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_SIGNAL", "in", "syncobj_array"),
    ("SYNCOBJ_TIMELINE_SIGNAL", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL", "in",
     "syncobj_timeline_array"),
    ("SYNCOBJ_QUERY", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_QUERY", "in", "syncobj_query"),
    ("SYNCOBJ_TRANSFER", "fd_nvdla", "DRM_IOCTL_SYNCOBJ_TRANSFER", "in", "syncobj_transfer"),
]

HEAD = LICENCE + """#
# What syzkaller needs to know of the driver, made by generate.py.

include <uapi/drm/drm.h>
include <uapi/drm/nvdla_accel.h>
include <uapi/linux/dma-buf.h>
include <uapi/linux/sync_file.h>

resource fd_nvdla[fd]
resource fd_nvdla_dma_buf[fd]
resource fd_nvdla_sync_file[fd]
resource fd_nvdla_syncobj[fd]
resource nvdla_context[int32]
resource nvdla_program[int32]
resource nvdla_bo[int32]
resource nvdla_syncobj[int32]

openat$nvdla(fd const[AT_FDCWD], file ptr[in, string["/dev/accel/accel0"]], flags const[O_RDWR], \
mode const[0]) fd_nvdla
mmap$nvdla(addr vma, len len[addr], prot flags[mmap_prot], flags flags[mmap_flags], fd fd_nvdla, \
offset fileoff)
mmap$nvdla_dma_buf(addr vma, len len[addr], prot flags[mmap_prot], flags flags[mmap_flags], \
fd fd_nvdla_dma_buf, offset fileoff)
""" + "".join(
    f"ioctl$NVDLA_{name}(fd {fd}, cmd const[{cmd}], arg ptr[{way}, nvdla_{struct}])\n"
    for name, fd, cmd, way, struct in CORE) + """
nvdla_gem_close {
\thandle\tnvdla_bo
\tpad\tconst[0, int32]
}

nvdla_prime_export {
\thandle\tnvdla_bo
\tflags\tflags[nvdla_prime_flags, int32]
\tfd\tfd_nvdla_dma_buf (out)
}

nvdla_prime_import {
\thandle\tnvdla_bo (out)
\tflags\tconst[0, int32]
\tfd\tfd_nvdla_dma_buf
}

nvdla_dma_buf_sync {
\tflags\tflags[nvdla_dma_buf_sync_flags, int64]
}

nvdla_dma_buf_export_sync_file {
\tflags\tflags[nvdla_dma_buf_sync_file_flags, int32]
\tfd\tfd_nvdla_sync_file (out)
}

nvdla_dma_buf_import_sync_file {
\tflags\tflags[nvdla_dma_buf_sync_file_flags, int32]
\tfd\tfd_nvdla_sync_file
}

nvdla_sync_merge {
\tname\tarray[int8, 32]
\tfd2\tfd_nvdla_sync_file
\tfence\tfd_nvdla_sync_file (out)
\tflags\tconst[0, int32]
\tpad\tconst[0, int32]
}

nvdla_sync_file_info {
\tname\tarray[const[0, int8], 32]
\tstatus\tconst[0, int32]
\tflags\tconst[0, int32]
\tnum_fences\tlen[sync_fence_info, int32]
\tpad\tconst[0, int32]
\tsync_fence_info\tptr64[out, array[nvdla_sync_fence_info]]
}

nvdla_sync_fence_info {
\tbytes\tarray[int8, SIZEOF_sync_fence_info]
}

nvdla_syncobj_create {
\thandle\tnvdla_syncobj (out)
\tflags\tflags[nvdla_syncobj_create_flags, int32]
}

nvdla_syncobj_destroy {
\thandle\tnvdla_syncobj
\tpad\tconst[0, int32]
}

nvdla_syncobj_export {
\thandle\tnvdla_syncobj
\tflags\tconst[0, int32]
\tfd\tfd_nvdla_syncobj (out)
\tpad\tconst[0, int32]
}

nvdla_syncobj_import {
\thandle\tnvdla_syncobj (out)
\tflags\tconst[0, int32]
\tfd\tfd_nvdla_syncobj
\tpad\tconst[0, int32]
}

nvdla_syncobj_export_sync_file {
\thandle\tnvdla_syncobj
\tflags\tconst[DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, int32]
\tfd\tfd_nvdla_sync_file (out)
\tpad\tconst[0, int32]
}

nvdla_syncobj_import_sync_file {
\thandle\tnvdla_syncobj
\tflags\tconst[DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, int32]
\tfd\tfd_nvdla_sync_file
\tpad\tconst[0, int32]
}

nvdla_syncobj_wait {
\thandles\tptr64[in, array[nvdla_syncobj]]
\ttimeout_nsec\tint64
\tcount_handles\tlen[handles, int32]
\tflags\tflags[nvdla_syncobj_wait_flags, int32]
\tfirst_signaled\tconst[0, int32]
\tpad\tconst[0, int32]
}

nvdla_syncobj_timeline_wait {
\thandles\tptr64[in, array[nvdla_syncobj]]
\tpoints\tptr64[in, array[int64[0:8]]]
\ttimeout_nsec\tint64
\tcount_handles\tlen[handles, int32]
\tflags\tflags[nvdla_syncobj_wait_flags, int32]
\tfirst_signaled\tconst[0, int32]
\tpad\tconst[0, int32]
}

nvdla_syncobj_array {
\thandles\tptr64[in, array[nvdla_syncobj]]
\tcount_handles\tlen[handles, int32]
\tpad\tconst[0, int32]
}

nvdla_syncobj_timeline_array {
\thandles\tptr64[in, array[nvdla_syncobj]]
\tpoints\tptr64[inout, array[int64[0:8]]]
\tcount_handles\tlen[handles, int32]
\tflags\tconst[0, int32]
}

nvdla_syncobj_query {
\thandles\tptr64[in, array[nvdla_syncobj]]
\tpoints\tptr64[out, array[int64]]
\tcount_handles\tlen[handles, int32]
\tflags\tflags[nvdla_syncobj_query_flags, int32]
}

nvdla_syncobj_transfer {
\tsrc_handle\tnvdla_syncobj
\tdst_handle\tnvdla_syncobj
\tsrc_point\tint64[0:8]
\tdst_point\tint64[0:8]
\tflags\tflags[nvdla_syncobj_wait_flags, int32]
\tpad\tconst[0, int32]
}

nvdla_prime_flags = DRM_CLOEXEC, DRM_RDWR
nvdla_dma_buf_sync_flags = DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE, DMA_BUF_SYNC_END
nvdla_dma_buf_sync_file_flags = DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE
nvdla_syncobj_create_flags = DRM_SYNCOBJ_CREATE_SIGNALED
nvdla_syncobj_wait_flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, \
DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE
nvdla_syncobj_query_flags = DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED

type drm_nvdla_array[ELEMENT, STRIDE] {
\tpointer\tptr64[in, array[ELEMENT]]
\tcount\tlen[pointer, int32]
\tstride\tconst[STRIDE, int32]
}
"""


def fail(text):
    sys.exit(f"generate.py: {text}")


class Headers:
    """What the headers declare."""

    def __init__(self):
        text = "".join(path.read_text() for path in HEADERS)
        bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.structs = {}
        for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M):
            self.structs[name] = re.findall(
                r"/\*\*\s*\*?\s*@(\w+):(.*?)\*/\s*([\w ]+?) (\w+)(?:\[(\w+)\])?;", body, re.S)
            plain = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
            members = re.findall(r"(\w+)(?:\[\w+\])?;", plain)
            if [row[3] for row in self.structs[name]] != members:
                fail(f"struct {name}: a field without a comment of its own")
        self.enums = {name: re.findall(r"^\s*(\w+)(?= =|,|$)", body, re.M)
                      for name, body in re.findall(r"^enum (\w+) \{(.*?)^\};", bare, re.S | re.M)}
        self.flags = re.findall(r"^#define (\w+)\s+\(1u << \d+\)", bare, re.M)
        self.ioctls = [(name, direction, struct) for name, direction, struct in re.findall(
            r"#define DRM_IOCTL_(NVDLA_\w+) \\\s+DRM_IO(WR|W|R)\([^,]*, \\\s+struct (\w+)\)", bare)]
        numbers = re.findall(r"#define DRM_IOCTL_(NVDLA_\w+)", bare)
        if [row[0] for row in self.ioctls] != numbers:
            fail("an ioctl that is not declared like the others")


def field_type(headers, struct, name, comment, base, count):
    """A field as syzkaller has it."""
    hint = FIELDS.get(f"{struct}.{name}") or FIELDS.get(f"*.{name}")
    if hint:
        return hint
    comment = " ".join(comment.replace("*", " ").split())
    out = " (out)" if comment.startswith("out:") else ""
    if base == "struct drm_nvdla_array":
        element = re.search(r"of struct (\w+)", comment)
        if not element:
            fail(f"{struct}.{name}: an array of what?")
        return f"drm_nvdla_array[{element[1]}, SIZEOF_{element[1]}]"
    if base.startswith("struct "):
        return base[len("struct "):] if not count else f"array[{base[len('struct '):]}, {count}]"
    bits = re.fullmatch(r"__[us](8|16|32|64)", base)
    if not bits:
        fail(f"{struct}.{name}: '{base}'")
    kind = f"int{bits[1]}"
    enum = re.match(r"(?:out: )?enum (\w+)", comment)
    limits = re.search(r"(?<!bits )\b(\d+)\.\.(\d+)\b", comment)
    if comment == "zero" or name.startswith("pad") and comment.startswith("zero"):
        kind = f"const[0, {kind}]"
    elif enum and not out:
        kind = f"flags[{enum[1]}, {kind}]"
    elif name == "flags":
        fail(f"{struct}.flags: which flags? (FIELDS)")
    elif limits and not count:
        kind = f"{kind}[{limits[1]}:{limits[2]}]"
    return (f"array[{kind}, {count}]" if count else kind) + out


def kinds(headers):
    """A layer of each kind: what it does not have is zero, which nobody would find by chance."""
    names = [kind[len("NVDLA_LAYER_"):] for kind in headers.enums["nvdla_layer_kind"]]
    out = ["\nnvdla_layer ["] + [f"\t{name.lower()}\tnvdla_layer_{name.lower()}" for name in names]
    out.append("]")
    for kind in names:
        out.append(f"\nnvdla_layer_{kind.lower()} {{")
        for _, comment, base, name, count in headers.structs["nvdla_layer"]:
            text = field_type(headers, "nvdla_layer", name, comment, base, count)
            sections = re.match(r"\s*kinds? ([\w, ]+)", comment)
            if name == "kind":
                text = f"const[NVDLA_LAYER_{kind}, int32]"
            elif base.startswith("struct ") and not sections:
                fail(f"nvdla_layer.{name}: of which kinds?")
            elif sections and kind not in sections[1].replace(",", " ").split():
                text = f"array[const[0, int8], SIZEOF_{base[len('struct '):]}]"
            out.append(f"\t{name}\t{text}")
        out.append("}")
    return out


def describe(headers):
    """The text of nvdla.txt."""
    out = [HEAD]
    for name, direction, struct in headers.ioctls:
        way = "in" if direction == "W" else "inout"
        out.append(f"ioctl${name}(fd fd_nvdla, cmd const[DRM_IOCTL_{name}], "
                   f"arg ptr[{way}, {struct}])")
    used = set()
    for struct, fields in headers.structs.items():
        if struct in OUT | TEMPLATES:
            continue
        if struct == "nvdla_layer":
            out += kinds(headers)
            continue
        out.append(f"\n{struct} {{")
        for _, comment, base, name, count in fields:
            kind = field_type(headers, struct, name, comment, base, count)
            used.update(re.findall(r"flags\[(\w+),", kind))
            out.append(f"\t{name}\t{kind}")
        out.append("}")
    out.append("")
    for name in sorted(used):
        members = headers.enums.get(name) or [
            flag for flag in headers.flags if name in FLAGS and re.match(FLAGS[name], flag)]
        if not members:
            fail(f"{name}: neither an enum nor a set of flags")
        out.append(f"{name} = {', '.join(members)}")
    text = "\n".join(out) + "\n"
    sizes = sorted(set(re.findall(r"\bSIZEOF_(\w+)", text)))
    defines = "".join(f"define SIZEOF_{name}\tsizeof(struct {name})\n" for name in sizes)
    return text.replace("\nresource fd_nvdla", f"\n{defines}\nresource fd_nvdla", 1)


def constants(text):
    """The text of nvdla.txt.const: values of all names, as the compiler has them."""
    names = sorted(set(re.findall(r"\b(?:[A-Z][A-Z0-9]*_\w+|SIZEOF_\w+)\b", text)) -
                   {"ELEMENT", "STRIDE"} - set(re.findall(r"ioctl\$(\w+)", text)))
    rows = "".join(
        f'printf("{name} = %lu\\n", (unsigned long)'
        + (f"sizeof(struct {name[7:]})" if name.startswith("SIZEOF_") else name) + ");\n"
        for name in names)
    program = ("#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n"
               "#include <drm/nvdla_accel.h>\n#include <linux/dma-buf.h>\n"
               "#include <linux/sync_file.h>\nint main(void) {\n" + rows + "return 0;\n}\n")
    drm = subprocess.run(["pkg-config", "--cflags", "libdrm"], check=True, capture_output=True,
                         text=True).stdout.split()
    binary = HERE.parents[1] / "build/syzkaller_constants"
    binary.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-xc", "-", "-I", HERE.parent, *drm, "-o", binary], input=program,
                   text=True, check=True)
    values = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    return LICENCE + "arches = amd64, arm64\n" + values


def main():
    headers = Headers()
    text = describe(headers)
    files = {"nvdla.txt": text, "nvdla.txt.const": constants(text)}
    if "--check" not in sys.argv[1:]:
        for name, content in files.items():
            (HERE / name).write_text(content)
        return
    stale = [name for name, content in files.items() if (HERE / name).read_text() != content]
    if stale:
        fail(f"{', '.join(stale)}: not what the headers say; run uapi/syzkaller/generate.py")
    fields = sum(len(fields) for name, fields in headers.structs.items() if name not in OUT)
    print(f"{len(headers.ioctls)} ioctls, {fields} fields")


main()
