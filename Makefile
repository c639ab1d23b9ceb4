# SPDX-License-Identifier: MIT
#
# The front door. It installs what packages.txt lists, then hands over to
# CMake (presets in CMakePresets.json) and to .ci/stages.sh.

SHELL := /bin/bash
JOBS ?= $(shell nproc)
# Warnings as errors: ON in CI.
NVDLA_WERROR ?= OFF
export JOBS NVDLA_WERROR

# Debian's tools, whatever else comes first in PATH.
export PATH := /usr/bin:/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help run build test test-all install clean configure

help:
	@echo 'make run       classify the shipped pictures of digits on the model'
	@echo 'make test      all checks and tests that take minutes'
	@echo 'make build     library, command (build/bin/nvdla) and examples'
	@echo 'make test-all  also what is slow'
	@echo 'make install   into PREFIX, /usr/local unless given; DESTDIR works'
	@echo 'make clean     remove build/'

configure:
	@.ci/packages.sh build
	@mkdir -p build
	@cmake --preset release -DNVDLA_WERROR=$(NVDLA_WERROR) > build/configure.log 2>&1 || \
		{ cat build/configure.log; exit 1; }

build: configure
	@cmake --build build --parallel $(JOBS) --target product

run: configure
	@cmake --build build --parallel $(JOBS) --target digits
	@build/bin/digits

test:
	@.ci/packages.sh build test
	@.ci/stages.sh

test-all:
	@.ci/packages.sh build test test-all
	@.ci/stages.sh --all

install: build
	@cmake --install build --prefix $(or $(PREFIX),/usr/local)

clean:
	rm -rf build
