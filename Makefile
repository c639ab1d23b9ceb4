# SPDX-License-Identifier: MIT
#
# The front door. It installs what packages.txt lists, then hands over to
# CMake (presets in CMakePresets.json) and to .ci/stages.sh.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
# Series of Debian kernels for `make emulate`; INTERACTIVE=1 gives a prompt.
KERNEL ?= 6.12
KERNELS ?= 6.1 6.12 newest
INTERACTIVE ?=
# Stages of `make test`, all of them unless given.
STAGES ?=
# `make test` and `make test-all` run only what the changes since this commit can affect.
CHANGED ?=
# The room of `make check`, as ARCHITECTURE.md lists them, without its folder.
ROOM ?=
# Where `make install` puts things, /usr/local unless given. Libraries go where
# Debian has them if it is /usr, into lib elsewhere.
PREFIX ?=
# `make bench`: a regular expression of cases, names of instruction sets, QUICK=1 for a
# round of each.
BENCH ?=
SETS ?=
QUICK ?=
# Warnings as errors: ON in CI.
NVDLA_WERROR ?= OFF
export JOBS NVDLA_WERROR

# Debian's tools, whatever else comes first in PATH.
export PATH := /usr/bin:/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help run build check test test-all modules emulate install clean configure dkms docs packages \
	bench bench-cycles upstream-series

help:
	@echo 'make run       classify the shipped pictures of digits on the model, and compile digits.onnx'
	@echo 'make test      all checks and tests that take minutes; STAGES="static release": only those;'
	@echo '               CHANGED=COMMIT: what the changes since then can affect'
	@echo 'make check ROOM=packing  the tests of one room, which take seconds'
	@echo 'make modules   the kernel module, for the kernels of Debian in KERNELS'
	@echo 'make emulate   the driver in a Debian kernel under QEMU; INTERACTIVE=1: a prompt there'
	@echo 'make build     libraries, command (build/bin/nvdla) and examples'
	@echo 'make bench     how fast the model is, beside its peers; BENCH=EXPRESSION: only such cases'
	@echo 'make bench-cycles  what the choices of the compiler gain, in predicted cycles; BENCH='
	@echo 'make test-all  also what is slow'
	@echo 'make docs      reference of the C++ interface and the ioctls, in build/docs/html'
	@echo 'make packages  Debian packages, in build/packages'
	@echo 'make dkms      sources of the driver for DKMS, into $$(DESTDIR)/usr/src'
	@echo 'make upstream-series  the driver as patches against a kernel, in build/upstream/series'
	@echo 'make install   into PREFIX, /usr/local unless given; DESTDIR works'
	@echo 'make clean     remove build/'

configure:
	@.ci/packages.sh build
	@mkdir -p build
	@cmake --preset release -DNVDLA_WERROR=$(NVDLA_WERROR) \
		-DCMAKE_INSTALL_PREFIX:PATH='$(or $(PREFIX),/usr/local)' > build/configure.log 2>&1 || \
		{ cat build/configure.log; exit 1; }

build: configure
	@cmake --build build --parallel $(JOBS) --target product

run: configure
	@cmake --build build --parallel $(JOBS) --target first_steps
	@build/bin/digits
	@if test -x build/bin/digits_onnx; then echo; build/bin/digits_onnx; fi

# What is slow is left to `make test-all`. A build that is configured stays as it is.
check:
	@test -f build/rooms.txt || $(MAKE) --no-print-directory configure
	@grep -qx -e '$(ROOM)' build/rooms.txt || { echo "make check: no room '$(ROOM)' has tests; \
	ROOM is one of" $$(cat build/rooms.txt) >&2; exit 2; }
	@cmake --build build --parallel $(JOBS) --target 'check-$(ROOM)'
	@ctest --test-dir build --parallel $(JOBS) --output-on-failure --no-tests=error \
		-L '^room:$(ROOM)$$' -LE slow

CHOICE = $(if $(CHANGED),--changed '$(CHANGED)' )$(STAGES)
test:
	@sections=$$(.ci/stages.sh --packages $(CHOICE)) && .ci/packages.sh $$sections
	@.ci/stages.sh $(CHOICE)

test-all:
	@sections=$$(.ci/stages.sh --packages --all $(CHOICE)) && .ci/packages.sh $$sections
	@.ci/stages.sh --all $(CHOICE)

# Installs before it configures, as `make emulate`.
bench:
	@.ci/packages.sh build bench
	@$(MAKE) --no-print-directory configure
	@cmake --build build --parallel $(JOBS) --target bench_compare bench_trained nvdla-cli
	@tests/benchmarks/compare/bench.py build/tests/bench_compare --json build/bench.json \
		--filter '$(BENCH)' --sets '$(SETS)' $(if $(QUICK),--quick) \
		--trained build/bin/nvdla build/trained

bench-cycles:
	@.ci/packages.sh build bench test
	@$(MAKE) --no-print-directory configure
	@cmake --build build --parallel $(JOBS) --target bench_cycles
	@build/tests/bench_cycles --rules tests/benchmarks/cycles/rules.json \
		--json build/bench-cycles.json $(if $(BENCH),--only '$(BENCH)')

modules:
	@.ci/packages.sh build emulate
	@for series in $(KERNELS); do tests/emulator/build-module.sh $$series build || exit 1; done

# Installs before it configures: CMake leaves out tests whose libraries are not there.
emulate:
	@.ci/packages.sh build emulate
	@test -f Kbuild || { echo 'No Kbuild: the driver is not part of this tree'; exit 1; }
	@$(MAKE) --no-print-directory configure
	@cmake --build build --parallel $(JOBS) --target guest_tests
ifeq ($(INTERACTIVE),1)
	@tests/emulator/build-module.sh $(KERNEL) build > build/module.log 2>&1 || \
		{ cat build/module.log; exit 1; }
	@tests/emulator/emulate.sh $(KERNEL) --interactive \
		--run build/tests/test_ioctl --run build/tests/test_misbehaviour
else
	@tests/emulator/suite.sh $(KERNEL) build
endif

# Only what Kbuild needs: DKMS copies all of it for each kernel.
DKMS = $(DESTDIR)/usr/src/nvdla-$(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
dkms:
	@rm -rf '$(DKMS)' && mkdir -p '$(DKMS)'
	@cp -r dkms.conf Kbuild LICENSES kernel firmware uapi '$(DKMS)'
	@echo 'now: dkms install nvdla/$(patsubst nvdla-%,%,$(notdir $(DKMS)))'

docs:
	@.ci/packages.sh docs
	@/usr/bin/python3 docs/reference/build.py build/docs

packages:
	@.ci/packages.sh build packages
	@debian/build.sh build/packages

# Also checks it: that takes some minutes.
upstream-series:
	@.ci/packages.sh build test static emulate test-all
	@tests/upstream/check.sh build

install: build
	@cmake --install build

clean:
	rm -rf build
