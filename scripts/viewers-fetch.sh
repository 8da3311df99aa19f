#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: viewers-fetch.sh DIRECTORY
#
# Fetches the programs of tests/viewers/downloads and unpacks each of them to DIRECTORY/NAME. Run in
# the environment with scripts/packages-viewers.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
dir=$1
work=$dir.new

# fetch REGISTRY PACKAGE VERSION SUM: fetches one package, compares its sum, and unpacks it.
fetch() {
	name=${2##*/}
	rm -rf "$work/archive"
	mkdir -p "$work/archive" "$work/$name"
	cd "$work/archive"
	case $1 in
	npm) npm pack --silent "$2@$3" ;;
	# A wheel for any processor: only the files for browsers are used.
	pip) pip download --quiet --no-deps --only-binary :all: --python-version 3.13 \
		--platform manylinux2014_x86_64 "$2==$3" ;;
	esac
	file=$(ls)
	echo "$4  $file" | sha256sum --check --quiet
	case $1 in
	npm) tar -x -C "$work/$name" --strip-components=1 -f "$file" ;;
	pip) python3 -m zipfile -e "$file" "$work/$name" ;;
	esac
	cd "$top"
}

rm -rf "$work"
mkdir -p "$work"
steps "$(grep -c '^[^#]' "$top/tests/viewers/downloads")" viewers
while read -r registry package version sum; do
	case $registry in
	'' | '#'*) continue ;;
	esac
	step "fetching $package $version" fetch "$registry" "$package" "$version" "$sum"
done <"$top/tests/viewers/downloads"
rm -rf "$work/archive"
mv "$work" "$dir"
