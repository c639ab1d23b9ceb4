# SPDX-License-Identifier: MIT
#
# sources PATTERN...: files of the tree, committed or about to be.
sources() {
	git ls-files --cached --others --exclude-standard --deduplicate -- "$@" |
		while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}
