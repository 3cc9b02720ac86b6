#!/usr/bin/env bash
# api.sh - API tests on a program of another machine: api.sh FILE PREFIX TEST…, as api.sh rememberd-…-arm64 qemu-aarch64-static chat.
set -euo pipefail
file=$(realpath "$1") prefix=$2; shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexec %s %s "$@"\n' "$prefix" "$file" >"$work/rememberd"
chmod +x "$work/rememberd"
for name; do
  began=$SECONDS
  if REMEMBERD_BIN=$work/rememberd tools/node-test "tests/api/$name.test.js" >"$work/said" 2>&1; then
    echo "ok    $name, $((SECONDS - began)) s: $(tail -n 1 "$work/said")"
  else
    failed=1; echo "FAIL  $name"; grep -A 12 '^FAIL' "$work/said" | head -60
  fi
done
exit $failed
