# SPDX-License-Identifier: MIT
#
# Debian's packages for arm64, without adding that architecture to this machine: lists and
# archives of their own, from where the machine's apt has its packages.

# arm64_apt DIRECTORY: leaves the configuration for it in $arm64_config, to be given as
# APT_CONFIG, with lists that are not older than a day where a registry answers.
arm64_apt() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	arm64_state=$(cd "$1" && pwd)
	arm64_config=$arm64_state/apt.conf
	: >"$arm64_state/installed"
	cat >"$arm64_config" <<-EOF
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; };
		APT::Sandbox::User "root";
		Dir::State::lists "$arm64_state/lists";
		Dir::State::status "$arm64_state/installed";
		Dir::Cache "$arm64_state/cache";
		Acquire::Languages "none";
		Acquire::Retries "1";
		Acquire::http::Timeout "10";
		Acquire::https::Timeout "10";
	EOF
	[ -z "$(find "$arm64_state/updated" -mtime -1 2>/dev/null)" ] || return 0
	if APT_CONFIG=$arm64_config apt-get -q update >"$arm64_state/update.log" 2>&1; then
		: >"$arm64_state/updated"
	fi
}

# arm64_download FOLDER PACKAGE: unless it is there.
arm64_download() {
	set -- "$1" "$2" "$1/$2"_*.deb
	[ ! -f "$3" ] || return 0
	said=$(cd "$1" && APT_CONFIG=$arm64_config apt-get download -qq "$2" 2>&1) || {
		echo "$said" >&2
		echo "cannot download $2 for arm64 (offline?); it can be put into $1 by hand" >&2
		return 1
	}
}
