#!/usr/bin/env bash
# bare.sh - README's two commands in a bare Debian: bare.sh SUITE. The commit is cloned there, its first command installs, builds
# and serves, and the second must show that a chat is remembered. Says packages, seconds and bytes. Needs root.
set -euo pipefail
suite=$1 here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$here"
. packaging/roots.sh
if command -v npm >/dev/null; then npm_config_registry=${npm_config_registry:-$(npm config get registry)}; fi
root=$(copy_root "$suite" "$suite-bare")
server=
leave() {
  if [ -n "$server" ]; then kill "$(program)" "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf --one-file-system "$root"
}
trap leave EXIT
program() {
  local pid
  for pid in $(pgrep -x rememberd); do
    if [ "$(readlink "/proc/$pid/root")" = "$root" ]; then echo "$pid"; fi
  done
}
packages() { in_root "$root" dpkg-query -W -f '${Status}\n' | grep -c 'ok installed'; }
kib() { du -skx "$root" | cut -f1; }

# block N: the commands of README's Nth block of code.
block() { awk -v n="$1" '/^```/ { inside = !inside; i += inside; next } inside && i == n' README.md; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
first=$(block 1) second=$(block 2 | sed "s/7077/$port/g")
[[ "$first" == ./dev\ run* && "$second" == *'say "What is my dog called?"'* ]] || die "README begins with other commands"

echo "deb $mirror $suite main" >"$root/etc/apt/sources.list" # as debootstrap leaves it
git clone -q --no-hardlinks . "$root/rememberd"
if [ -n "${REMEMBERD_SQLITE:-}" ]; then cp "$REMEMBERD_SQLITE" "$root/sqlite.tgz"; fi
packages_before=$(packages) kib_before=$(kib) began=$SECONDS
touch "$root/out"
in_root "$root" bash -c "cd /rememberd && ${first%%#*} --port $port" >"$root/out" 2>"$root/err" &
server=$!
until grep -q '^listening on' "$root/out"; do
  kill -0 "$server" 2>/dev/null || { tail -n 40 "$root/err" >&2; die "the first command failed"; }
  sleep 0.2
done
took=$((SECONDS - began)) pid=$(program)
processor=$(awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15 + $16 + $17) / hz }' "/proc/$pid/stat")
in_root "$root" bash -c "$second" >"$root/said" 2>>"$root/err" || { tail -n 5 "$root/err" >&2; die "the second command failed"; }
tail -n 1 "$root/said" | grep -q Rex || die "the chat was not remembered"
in_root "$root" curl -sf "http://127.0.0.1:$port/" | grep -qi '<!doctype html' || die "no page"
printf '%s: README works, %d packages, %d s (%d s of processor time), %d MB; build/rememberd %d KiB, resident %d KiB\n' "$suite" \
  $(($(packages) - packages_before)) "$took" "$processor" $((($(kib) - kib_before) * 1024 / 1000000)) \
  $(($(stat -c %s "$root/rememberd/build/rememberd") / 1024)) "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")"
echo "1 passed, 0 failed"
