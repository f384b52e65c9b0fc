#!/usr/bin/env bash
# The packages of a build, on a fresh machine of another or the same release: installed, used and removed by somebody who has
# not seen the source. usage: package_test.sh BUILD make        makes them, in BUILD/packages
#                             package_test.sh BUILD SUITE       takes them to a fresh SUITE
set -euo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1")
if [ "$2" = make ]; then
  rm -rf "$build/packages"
  exec "$here/../tools/package" --build "$build" --output "$build/packages"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/packages"
cp "$build"/packages/*.deb "$build"/packages/*x86_64.tar.gz "$work/packages"
rm "$work"/packages/weir-dbgsym_*
"$here/fresh" --user --with "$work/packages" --with "$here/package_user.sh" "$2" bash ../package_user.sh
