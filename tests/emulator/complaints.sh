#!/bin/sh
# SPDX-License-Identifier: MIT
#
#   complaints.sh LOG     prints what a kernel complained about in it, fails if it did
#
# A log of a guest, where a line of the kernel starts with the time, perhaps behind what
# a program had written. Allocations that fail print their callers, too: that is no
# complaint, and neither is what DMA-API says of itself at the start.
set -eu

patterns='BUG:|BUG [^ ]+ \(|WARNING:|KASAN:|UBSAN:|ODEBUG:|Oops|DMA-API: [^pd]
INFO: (task|rcu|possible|trying|suspicious)|rcu: INFO|soft lockup
refcount_t:|list_(add|del) corruption|still has objects'
! grep -E "\[ *[0-9]+\.[0-9]{6}\].*($(echo "$patterns" | paste -sd'|'))" "$1"
