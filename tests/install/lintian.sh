#!/usr/bin/env bash
# lintian.sh - Debian's own check of a package: lintian.sh SUITE DEB. Neither errors nor warnings. Needs root.
set -euo pipefail
suite=$1 deb=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. packaging/roots.sh
root=$(build_root "$suite" "$suite-lintian" lintian)
cp "$deb" "$root/rememberd.deb"
in_root "$root" lintian --allow-root --fail-on error,warning /rememberd.deb
echo "1 passed, 0 failed"
