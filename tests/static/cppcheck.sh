#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/static/sources.sh
sources 'firmware/*.c' | xargs cppcheck --quiet --error-exitcode=1 --std=c11 \
	--enable=warning,performance,portability --inline-suppr \
	--suppress=missingIncludeSystem --platform=unix64 -I uapi -I firmware
