# SPDX-License-Identifier: MIT
"""How each command of the documentation is run, page by page, and what it has to print.

Keys are commands, or a section and a command where that is run otherwise than elsewhere.
"""

from readme_commands import MODEL, Copy, Run, dry

PICTURE = "runtime/examples/digits/images/five-dejavu-serif-sheared.png"
PATH = "export PATH=$PWD/build/bin:$PATH"


class Guest:
    """Run it in a guest (GUESTS): a line of its output as grep -E has it, the status, words that
    stand for others, and a command that comes before."""

    def __init__(self, line="", status=0, instead=(), before=""):
        self.line, self.status, self.instead, self.before = line, status, instead, before


class Ctest:
    """The command of a test that is called so."""

    def __init__(self, name):
        self.name = name


def picture(line):
    return Run(line, instead=(("PICTURE.png", PICTURE),))


def serving(command):
    """A simulator in the background, until it listens; it ends with the page."""
    return Run(r"", instead=((command, command.replace("/tmp/nvdla", "nvdla.socket")[:-1] +
                              " 2>/dev/null >/dev/null & echo $! >server.pid; "
                              "until [ -S nvdla.socket ]; do sleep 0.1; done"),))


def simulated(line):
    return Run(line, instead=(("/tmp/nvdla", "nvdla.socket"),))


# An emulated device is about as fast as one of a thousandth of the clock that nobody names.
SLOW = (("mmio:0000:00:04.0", "mmio:0000:00:04.0,clock=1000"),)
# Another program's word in the place of a path that a user chooses.
BLOB = (("board.dtb", "tests/fuzz/corpus/dt/sram"),)
NET = (("net.nvdla", "digits.nvdla"),)
# A byte of the last buffer.
SPOIL = ("cp board.record spoiled.record; printf '\\125' | dd of=spoiled.record bs=1 conv=notrunc "
         "seek=$(($(stat -c %s board.record) - 4096))")
# A function that nobody has, before it is bound in another way; and who has it.
LOOSE = ("echo 0000:00:04.0 > /sys/bus/pci/drivers/nvdla/unbind && "
         "echo 1234 d1a6 > /sys/bus/pci/drivers/nvdla/remove_id")
FREE = "echo > /sys/bus/pci/devices/0000:00:04.0/driver_override"
BOUND = "readlink /sys/bus/pci/devices/0000:00:04.0/driver"
HANG = ("fault block 1; ! nvdla run digits.nvdla --device kernel && "
        "until [ -e /sys/class/devcoredump/devcd1/data ]; do sleep 1; done")

ANYWHERE = {
    "make build": dry(r"cmake --build build --parallel \d+ --target product"),
    PATH: Run(r""),
    "digits --save digits.nvdla": Run(r""),
}

PAGES = {
    "ARCHITECTURE.md": {
        "make check ROOM=packing": dry(r"--target 'check-packing'"),
    },
    "docs/testing.md": {
        "make test": dry(r"\.ci/stages\.sh *$"),
        'make test STAGES="static release"': dry(r"\.ci/stages\.sh static release$"),
        "make test CHANGED=HEAD~1": dry(r"\.ci/stages\.sh --changed 'HEAD~1' *$"),
        "make test-all": dry(r"\.ci/stages\.sh --all"),
        "make emulate": dry(r"tests/emulator/suite\.sh 6\.12 build"),
        "make emulate INTERACTIVE=1": dry(r"tests/emulator/emulate\.sh 6\.12 --interactive"),
        "make bench": dry(r"bench\.py build/tests/bench_compare --json build/bench\.json"),
        "make check ROOM=packing": dry(r"-L '\^room:packing\$'"),
        "cmake --preset release && cmake --build build": Run(
            r"Build files have been written to: .*/build", tree=True,
            instead=(("--build build", "--build build -- -n"),)),
        "ctest --test-dir build -L unit": Run(r"Total Tests: \d{3,}", tree=True,
                                              instead=(("-L unit", "-L unit -N"),)),
        "tests/static/format.sh --fix": Copy("wrong.cpp", "int  main( ){}\n", "int main() {}\n"),
        "NVDLA_SEED=7 build/tests/model": Run(
            r"PASSED.* [1-9]\d* test", environment={"GTEST_FILTER": "PropertyOfLayers.*"}),
        "NVDLA_LAYERS=all build/tests/model": Run(
            r"PASSED.* [1-9]\d* test", environment={"GTEST_FILTER": "PropertyOfLayers.*"}),
        'RC_PARAMS="seed=7 max_success=100000" build/tests/model': Run(
            r"PASSED.* [1-9]\d* test", environment={"GTEST_FILTER": "PropertyOfLayers.*"}),
    },
    "docs/commands.md": {
        "make build": Run(r"", tree=True),
        "build/bin/nvdla info": Run(r"nv_medium_1024_full"),
        "build/bin/nvdla regs CDMA.D_BANK 0x2000b": Run(r"WEIGHT_BANK.*\b2\b"),
        "build/bin/nvdla replay tests/golden": Run(r"2\d passed, 0 failed, 0 skipped"),
        "build/bin/nvdla measure --device model:nv_full,latency=50,bandwidth=20": Run(
            r"^model:nv_full,latency=50,bandwidth=20$"),
        "build/bin/nvdla selftest --device model:nv_small": Run(
            r"model:nv_small: 15 passed, 0 failed, 2 left out"),
        "build/bin/nvdla dt node --address 0x10000000 --interrupt 7": Run(
            r'compatible = "nvidia,nvdla-nv-small";'),
        "build/bin/digits --save digits.nvdla": Run(r""),
        "build/bin/nvdla dump digits.nvdla": Run(r"conv1"),
        "build/bin/nvdla dump digits.nvdla --schedule": Run(r"^layer 0 "),
        "build/bin/nvdla dump digits.nvdla --svg network.svg": Run(r""),
        "build/bin/nvdla compile MODEL.onnx --check": Run(
            r"^y +Relu +device", instead=(("MODEL.onnx", MODEL),)),
        "build/bin/nvdla compile MODEL.onnx --output model.nvdla --report model.txt": Run(
            r"1 node for nv_full: 1 device", instead=(("MODEL.onnx", MODEL),)),
        "build/bin/nvdla compile MODEL.onnx -o model.nvdla -d model:nv_small --samples FOLDER "
        "--resize crop": Run(r"nodes for nv_small", instead=(
            ("MODEL.onnx", "runtime/examples/digits/digits.onnx"),
            ("FOLDER", "runtime/examples/digits/images"))),
        "build/bin/nvdla run MODEL.onnx": Run(r"y: ", instead=(("MODEL.onnx", MODEL),)),
        "build/bin/network": Run(r"^resnet50 +56 "),
        "build/bin/network resnet18 --device model:nv_small": Run(
            r"resnet18: 23 tensors, 2685928 elements, 0 differ"),
        "build/bin/nvdla run digits.nvdla --record run.record": Run(r"scores: 10x1x1 int8"),
        "build/bin/nvdla diff run.record model:nv_full": Run(r"no difference in 1 job"),
        "build/bin/nvdla run digits.nvdla --input PICTURE.png --stats": Run(
            r"conv1", instead=(("PICTURE.png", PICTURE),)),
        "build/bin/nvdla run digits.nvdla --compare model --dump-layers layers": Run(
            r"5 layers are as on model"),
        "build/bin/nvdla profile digits.nvdla --svg profile.svg": Run(r"conv1"),
        "build/bin/nvdla run digits.nvdla --profile --profile-trace trace.json": Run(r"conv1.*%"),
        "build/bin/nvdla lut plot sigmoid --svg sigmoid.svg": Run(r"largest error: .* LSB"),
        "build/bin/nvdla run digits.nvdla --input PICTURE.png --repeat 100": picture(
            r"100 runs: median .*, 90% .*, 99% "),
    },
    "docs/guide-pytorch.md": {
        "make build": Run(r"", tree=True),
        PATH: Run(r""),
        "nvdla compile runtime/examples/digits/digits.onnx --check": Run(r"^conv1 +Conv +device"),
        "nvdla compile runtime/examples/digits/digits.onnx --output digits16.nvdla --mean 128 "
        "--std 128": Run(r"nodes for nv_full"),
        "nvdla run digits16.nvdla --input " + PICTURE: Run(r"classes: 10x1x1 fp16"),
        "nvdla compile runtime/examples/digits/digits.onnx --output digits8.nvdla --device "
        "model:nv_small --samples runtime/examples/digits/images --mean 128 --std 128 --report "
        "digits8.txt": Run(r"nodes for nv_small"),
        "nvdla run digits8.nvdla --input " + PICTURE: Run(r"classes: 10x1x1 int8"),
        "nvdla compile runtime/examples/digits/digits.onnx --output digits-wide.nvdla --precision int16 "
        "--samples runtime/examples/digits/images --mean 128 --std 128": Run(r"output classes: 1x10 float"),
        "nvdla run digits-wide.nvdla --input " + PICTURE: Run(r"classes: 10x1x1 int16"),
        "digits_onnx --device model:nv_small": Run(r"int8 +99\.\d"),
        "nvdla run runtime/examples/digits/digits.onnx --input " + PICTURE + " --mean 128 "
        "--std 128": Run(r"classes: 10x1x1 fp16"),
    },
    "docs/driver.md": {
        "make modules": dry(r"build-module\.sh"),
        "make emulate": dry(r"tests/emulator/suite\.sh 6\.12 build"),
        "make emulate INTERACTIVE=1": dry(r"tests/emulator/emulate\.sh 6\.12 --interactive"),
        "sudo make dkms && sudo dkms install nvdla/0.1.0": Run(
            r"now: dkms install nvdla/0\.1\.0$", tree=True,
            instead=(("sudo make dkms && sudo dkms install nvdla/0.1.0",
                      "make dkms DESTDIR={scratch}/dkms"),)),
        "make packages": dry(r"debian/build\.sh build/packages"),
        "sudo apt install build/packages/*_0.1.0_*.deb": Run(
            r"nvdla VERSION 0\.1\.0 ", tree=True,
            instead=(("sudo apt install build/packages/*_0.1.0_*.deb",
                      "grep '^project(' CMakeLists.txt"),)),
        "make upstream-series": dry(r"tests/upstream/check\.sh build"),
        "make install PREFIX=...": Run(r"Installing: .*/share/doc/nvdla/README.md", tree=True,
                                       instead=(("...", "{scratch}/prefix"),)),
        "make docs": dry(r"docs/reference/build\.py build/docs"),
    },
    "docs/guide-application.md": {
        **ANYWHERE,
        "nvdla info": Run(r"nv_medium_1024_full"),
        "nvdla dump digits.nvdla": Run(r"conv1"),
        f"nvdla run digits.nvdla --input {PICTURE}": Run(r"scores: 10x1x1 int8"),
        f"nvdla run digits.nvdla --input {PICTURE} --json": Run(r'^\{.*"scores"'),
        f"nvdla run digits.nvdla --input {PICTURE} --output scores.dimg": Run(r""),
        "nvdla run digits.nvdla --stats": Run(r"conv1"),
        "nvdla profile digits.nvdla --svg profile.svg": Run(r"conv1"),
        "nvdla run digits.nvdla --compare model --dump-layers layers": Run(
            r"5 layers are as on model"),
        "cmake --install build --prefix prefix": Run(r"Installing: .*/prefix/bin/nvdla"),
        "cmake -S tests/examples/package -B consumer -DCMAKE_PREFIX_PATH=$PWD/prefix": Run(
            r"Build files have been written to: .*/consumer"),
        "cmake --build consumer": Run(r"Built target consumer"),
        "consumer/consumer": Run(r""),
    },
    "docs/guide-ci.md": {
        **ANYWHERE,
        "nvdla run digits.nvdla --record good.record": Run(r"scores: 10x1x1 int8"),
        "nvdla diff good.record model:nv_full": Run(r"no difference in 1 job"),
        "nvdla replay good.record": Run(r"1 passed, 0 failed, 0 skipped"),
        "nvdla replay --json good.record tests/golden": Run(r'^\{.*"failed": ?0\b'),
        "nvdla-device-server --device model:nv_small --simulator nvdla.socket &": serving(
            "nvdla-device-server --device model:nv_small --simulator nvdla.socket &"),
        "nvdla selftest --device sim:nvdla.socket": Run(
            r"sim:nvdla.socket: 15 passed, 0 failed, 2 left out"),
        'make test STAGES="static freestanding"': dry(r"\.ci/stages\.sh static freestanding$"),
        "make test": dry(r"\.ci/stages\.sh *$"),
        "make emulate KERNEL=6.12": dry(r"tests/emulator/suite\.sh 6\.12 build"),
        "make test-all": dry(r"\.ci/stages\.sh --all"),
    },
    "docs/bring-up.md": {
        "digits --device model:nv_small --save digits.nvdla": Run(r""),
        # What this machine was started with is not ours to say.
        "nvdla dt check": Run(r"(started with a device tree|no node is an NVDLA|device)",
                              status=None),
        ("On the board", "nvdla dt check"): Guest("npu@c000000: nv_small, .*0xc000000"),
        "export NVDLA_DEVICE=mmio:0xc000000,memory=64M@0x50000000,config=nv_small,clock=1000":
            Guest(),
        "nvdla regs --live GLB": Guest("GLB.S_NVDLA_HW_VERSION = 0x00303031"),
        "nvdla selftest --step identify --step copy": Guest("2 passed, 0 failed, 0 left out"),
        "nvdla selftest --step conv": Guest("1 passed, 0 failed, 0 left out"),
        "nvdla selftest": Guest("12 passed, 0 failed, 5 left out"),
        "nvdla run digits.nvdla --compare model": Guest("5 layers are as on model"),
        "modprobe nvdla": Guest(),
        "nvdla selftest --device kernel": Guest(r"kernel: 10 passed, 0 failed, 7 left out"),
        "nvdla run digits.nvdla --device kernel --compare model": Guest(
            "5 layers are as on model"),
        "modprobe nvdla pci_configuration=nv_small": Guest(before=FREE),
        "echo 1234 d1a6 > /sys/bus/pci/drivers/nvdla/new_id": Guest(
            "/nvdla$", instead=(("new_id", f"new_id && {BOUND}"),)),
        "echo 1234 d1a6 ffffffff ffffffff 0 0 7 > /sys/bus/pci/drivers/nvdla/new_id": Guest(
            "/nvdla$", instead=(("new_id", f"new_id && {BOUND}"),), before=LOOSE),
        "echo nvdla > /sys/bus/pci/devices/0000:00:04.0/driver_override": Guest(before=LOOSE),
        "echo 0000:00:04.0 > /sys/bus/pci/drivers_probe": Guest(
            "/nvdla$", instead=(("drivers_probe", f"drivers_probe && {BOUND}"),)),
        'nvdla dt node --address 0xc000000 --interrupt "0 112 4" --clock-rate 600MHz': Run(
            r"clock-frequency = <600000000>;"),
        "nvdla dt node --config nv_full --address 0xc000000 --interrupt 7 --overlay npu.dtbo":
            Run(r""),
        "nvdla dt check board.dtb": Run(r"1 device, 0 wrong", instead=BLOB),
        "nvdla selftest --device model:nv_small": Run(
            r"model:nv_small: 15 passed, 0 failed, 2 left out"),
        "nvdla selftest --list": Run(r"^left-over "),
    },
    "docs/extending.md": {
        "patch -p1 -i docs/nv_mini.patch": Run(r"patching file firmware/nvdla_hw.c"),
        "tests/static/configurations.py": Run(r""),
        "cmake --preset release": Run(r"Build files have been written to: .*/build"),
        "cmake --build build --target nvdla-cli convolution": Run(r""),
        "build/bin/nvdla info --device model:nv_mini": Run(
            r"^MAC array +16 channels x 8 kernels"),
        "build/bin/nvdla selftest --device model:nv_mini": Run(
            r"model:nv_mini: 15 passed, 0 failed, 2 left out"),
        "build/bin/convolution model:nv_mini": Run(
            r"nv_mini: 24576 of 24576 elements are as expected"),
        "build/bin/nvdla dt node --config nv_mini --address 0x10000000 --interrupt 7": Run(
            r'compatible = "nvidia,nvdla-nv-mini";'),
    },
    "docs/layers.md": {
        "build/bin/digits --save digits.nvdla": Run(r""),
        "build/bin/nvdla dump digits.nvdla --svg network.svg": Run(r""),
        "build/bin/nvdla run digits.nvdla --input PICTURE.png --compare model": picture(
            r"5 layers are as on model"),
        "build/bin/nvdla run digits.nvdla --input PICTURE.png --dump-layers layers": picture(
            r"scores: 10x1x1 int8"),
        "build/bin/nvdla dump digits.nvdla --svg steps.svg --hardware": Run(r""),
        "build/bin/nvdla profile digits.nvdla --svg profile.svg": Run(r"conv1"),
        "build/bin/nvdla run digits.nvdla --profile --profile-trace trace.json": Run(
            r"conv1.*%"),
        "build/bin/nvdla lut plot sigmoid --svg sigmoid.svg": Run(r"largest error: .* LSB"),
        "build/bin/nvdla lut plot tanh --precision fp16 --range -4:4": Run(
            r"largest error: .* LSB"),
    },
    "docs/mmio.md": {
        "nvdla regs --device mmio:0000:00:04.0 --live GLB": Guest(
            "GLB.S_NVDLA_HW_VERSION = 0x00303031"),
        "nvdla selftest --device mmio:0000:00:04.0": Guest(
            "15 passed, 0 failed, 2 left out", instead=SLOW),
        "nvdla run digits.nvdla --device mmio:0000:00:04.0": Guest("nv_small on mmio"),
        "echo 0000:00:04.0 > /sys/bus/pci/devices/0000:00:04.0/driver/unbind": Guest(),
        "sysctl vm.nr_hugepages=32": Guest("32"),
        "modprobe uio_pci_generic": Guest(),
        "echo uio_pci_generic > /sys/bus/pci/devices/0000:00:04.0/driver_override": Guest(),
        "echo 0000:00:04.0 > /sys/bus/pci/drivers_probe": Guest(),
        "modprobe vfio enable_unsafe_noiommu_mode=1": Guest(),
        "modprobe vfio-pci": Guest(),
        "echo vfio-pci > /sys/bus/pci/devices/0000:00:04.0/driver_override": Guest(),
        "nvdla selftest --device mmio:0xc000000,memory=64M@0x50000000,config=nv_small,clock=1000":
            Guest("12 passed, 0 failed, 5 left out"),
        "modprobe uio_pdrv_genirq of_id=nvidia,nvdla-nv-small": Guest(),
        "modprobe -r uio_pdrv_genirq": Guest(),
        "nvdla selftest --device mmio:/dev/uio0,memory=64M@0x50000000,clock=1000": Guest(
            "12 passed, 0 failed, 5 left out"),
    },
    "docs/networks.md": {
        "make build": ANYWHERE["make build"],
        "build/bin/network": Run(r"^resnet50 +56 "),
        "build/bin/network resnet18": Run(r"resnet18: 23 tensors, 2685928 elements, 0 differ"),
        "build/bin/network googlenet --device model:nv_small": Run(
            r"googlenet: 83 tensors, 6684056 elements, 0 differ"),
        "build/bin/network lenet5 --precision fp16 --device model:nv_full": Run(
            r"lenet5: 7 tensors, 8094 elements, 0 differ"),
        "build/bin/network resnet50 --layers stage2.2.reduce..stage2.2.expand": Run(
            r"resnet50: 3 tensors, 602112 elements, 0 differ"),
        "build/bin/network lenet5 --save lenet5.nvdla": Run(r"^  nvdla run lenet5.nvdla --input "),
        "build/bin/nvdla run lenet5.nvdla --input lenet5.nvdla.image "
        "--output lenet5.nvdla.found": Run(r""),
        "cmp lenet5.nvdla.found lenet5.nvdla.result": Run(r"^$"),
    },
    "docs/performance.md": {
        "make bench": dry(r"bench\.py build/tests/bench_compare --json build/bench\.json"),
        "make bench BENCH='resnet50.*threads:1/warm'": dry(r"--filter 'resnet50\.\*threads:1/warm'"),
        "make bench BENCH='^unit/' SETS='avx512'": dry(r"--filter '\^unit/' --sets 'avx512'"),
        "make bench QUICK=1": dry(r"--quick"),
        "make bench-cycles": dry(r"bench_cycles --rules .*/rules\.json"),
        "make bench-cycles BENCH='resnet50.*nv_full'": dry(r"--only 'resnet50\.\*nv_full'"),
        "make bench BENCH='^(trained|served)/' SETS=free":
            dry(r"--filter '\^\(trained\|served\)/' --sets 'free'"),
        # npm and minutes: trained_bench tests the script.
        "tests/benchmarks/trained/trained_bench.py build/tests/bench_trained build/bin/nvdla "
        "build/trained --profile --threads 1":
            Run(r"", instead=((" build/tests/bench_trained build/bin/nvdla build/trained --profile "
                               "--threads 1", " --help"),)),
        "build/bin/network resnet50 --device model:nv_full --save /tmp/resnet50.nvdla":
            Run(r"0 differ", instead=(("/tmp/", ""),)),
        "build/tests/bench_open /tmp/resnet50.nvdla": Run(r"", instead=(("/tmp/", ""),)),
        "cmake --preset release": Run(r"Build files have been written to: .*/build", tree=True),
        "cmake --build build --target bench_resnet50": Run(r"", tree=True),
        "build/tests/bench_resnet50 21 1 x": Run(r"", instead=((" 21 ", " 1 "),)),
        "build/tests/bench_resnet50 21 1 y": Run(r"", instead=((" 21 ", " 1 "),)),
        "make test-all STAGES=arm64": dry(r"\.ci/stages\.sh --all arm64$"),
        "cmake --build build --target bench_mac": Run(r"", tree=True),
        "build/tests/bench_mac --benchmark_min_time=0.1": Run(r"", instead=(("0.1", "0.001"),)),
    },
    "docs/seeing.md": {
        "cp /sys/class/devcoredump/devcd1/data hang.devcoredump": Guest(before=HANG),
        "echo 0 > /sys/class/devcoredump/devcd1/data": Guest(),
        "nvdla replay -v hang.devcoredump": Guest("all layers end here; on the device layer 0"),
        "nvdla run net.nvdla --device kernel --record board.record": Guest(
            "scores: 10x1x1 int8", instead=NET),
        "NVDLA_RECORD=board.record application": Guest(
            "scores: 10x1x1 int8",
            instead=(("application", "nvdla run digits.nvdla --device kernel"),)),
        "nvdla replay board.record": Guest("1 passed, 0 failed, 0 skipped"),
        "nvdla diff board.record model:nv_small": Guest("no difference in 1 job"),
        "nvdla replay --reduce layer.record board.record": Guest(
            "layer.record: 1 of 5 layers", status=1, before=SPOIL,
            instead=(("board.record", "spoiled.record"),)),
        "nvdla regs layer.record SDP": Guest("SDP.D_DATA_CUBE_WIDTH"),
        "echo 1 > /sys/kernel/tracing/events/nvdla/enable": Guest(),
        # It goes on for ever.
        "cat /sys/kernel/tracing/trace_pipe": Guest(
            "nvdla_layer_end", before="nvdla run digits.nvdla --device kernel",
            instead=(("cat", "grep -m 1 nvdla_layer_end"),)),
        "echo 0 > /sys/kernel/tracing/events/nvdla/enable": Guest(),
    },
    "docs/simulator.md": {
        "build/bin/nvdla-device-server --device model:nv_small --simulator /tmp/nvdla &": serving(
            "build/bin/nvdla-device-server --device model:nv_small --simulator /tmp/nvdla &"),
        "build/bin/nvdla info --device sim:/tmp/nvdla": simulated(r"^configuration +nv_small"),
        "build/bin/convolution sim:/tmp/nvdla": simulated(r"24576 of 24576 elements"),
        "build/bin/nvdla replay --device sim:/tmp/nvdla,config=nv_small tests/golden": simulated(
            r"[1-9]\d* passed, 0 failed"),
        "build/bin/nvdla replay --device sim:/tmp/nvdla,config=nv_small --memory-only tests/golden":
            simulated(r"[1-9]\d* passed, 0 failed"),
    },
    "tests/emulator/README.md": {
        "tests/emulator/emulate.sh 6.12 -- build/bin/nvdla info": Run(
            r"status 0, .* from start to power off", tree=True),
        "tests/emulator/suite.sh 6.12 build acpi": Ctest("emulator.6.12.acpi"),
        "tests/emulator/suite.sh 6.12-arm64 build": Ctest("emulator.6.12-arm64"),
        "tests/emulator/get-arm64.sh build/arm64": Run(r"", tree=True),
        "cmake --preset arm64 && cmake --build build/arm64/build --target guest_programs": Run(
            r"Build files have been written to: .*/build/arm64/build", tree=True,
            instead=(("guest_programs", "guest_programs -- -n"),)),
        "make emulate KERNEL=uml": dry(r"tests/emulator/suite\.sh uml build"),
        "tests/emulator/emulate.sh 6.12 --server --stale --append nvdla_machine.noncoherent=1 "
        "--module build/modules/6.12/machine/nvdla_machine.ko "
        "--module build/modules/6.12/nvdla.ko "
        "-- build/tests/test_misbehaviour --gtest_filter='Noncoherent.*'": Run(
            r"PASSED.* [1-9]\d* test", tree=True),
        "tests/emulator/emulate.sh 6.12 --append \"preempt=full NVDLA_HOSTILE_SEED=5\" "
        "-- build/tests/test_hostile --gtest_filter='Fuzz.*'": Run(
            r"PASSED.* [1-9]\d* test", tree=True),
    },
    "runtime/examples/digits/README.md": {
        "build/bin/digits": Run(r"14 pictures in .*each"),
        "build/bin/digits --device model:nv_small": Run(r"14 pictures in .*each"),
        "build/bin/digits my_digit.png": Run(r"five-dejavu.* 5 ",
                                             instead=(("my_digit.png", PICTURE),)),
        "build/bin/digits --held-out": Run(r"99\.\d"),
        "build/bin/digits_onnx": Run(r"int8 +99\.\d"),
        # These take NumPy, and minutes.
        "sudo apt-get install $(grep -v '^#' packages-train.txt)": Run(
            r"^python3-numpy$", instead=(("sudo apt-get install $(", "cd runtime/examples/digits; "),
                                         ("txt)", "txt"))),
        "./train.py": Run(r"", instead=(("./", "test -x runtime/examples/digits/"),)),
        "./reference.py": Run(r"", instead=(("./", "test -x runtime/examples/digits/"),)),
    },
}

# Pages whose commands boot guests: emulator.commands.
GUEST_PAGES = ("tests/emulator/README.md",)

# Pages whose commands change the tree and build it: frontdoor.extending, in a copy.
COPY_PAGES = ("docs/extending.md",)

# Sections of pages in a guest, in the order in which they run there; suite.sh has the guests.
GUESTS = {
    "binding": [("docs/bring-up.md", "On PCI")],
    "board": [("docs/mmio.md", "An address"), ("docs/mmio.md", "A UIO device"),
              ("docs/bring-up.md", "On the board")],
    "pci": [("docs/mmio.md", "PCI"), ("docs/mmio.md", "Registers from user space"),
            ("docs/mmio.md", "VFIO")],
    "seeing": [("docs/seeing.md", "When a job fails: device core dumps"),
               ("docs/seeing.md", "When a result is wrong: records"),
               ("docs/seeing.md", "When it happens: trace points")],
}
