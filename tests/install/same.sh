#!/usr/bin/env bash
# same.sh - the same commit gives the same bytes: the parts of ./dev dist, made again in another folder: same.sh [PART ARCH]…
# Without words: source, static amd64, image amd64. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -gt 0 ] || set -- source static amd64 image amd64
other=$(mktemp -d)/elsewhere failed=0 same=0
trap 'rm -rf --one-file-system "${other%/*}"' EXIT
git clone -q . "$other"
cp -r third_party/*/ "$other/third_party/"
mkdir -p "$other/.cache/roots"
cp -a --reflink=auto .cache/roots/{bookworm,trixie}* "$other/.cache/roots/" # bare folders and what builds in them
for here in "$PWD" "$other"; do
  (cd "$here" && rm -rf build-dist && packaging/dist "$@" >/dev/null)
done
for file in build-dist/*; do
  if cmp -s "$file" "$other/$file"; then same=$((same + 1)); else failed=$((failed + 1)); echo "FAIL $file differs"; fi
done
echo "$same passed, $failed failed"
[ "$failed" = 0 ]
