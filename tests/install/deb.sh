#!/usr/bin/env bash
# deb.sh - a Debian package's life in a bare Debian: deb.sh SUITE DEB. Installed, run as its unit says, a chat remembered,
# replaced by a newer version, removed, purged without and with the data. Needs root.
set -euo pipefail
deb=$(realpath "$2") suite=$1 began=$SECONDS
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. packaging/roots.sh
root=$(copy_root "$suite" "$suite-try")
server=
leave() {
  if [ -n "$server" ]; then kill "$(program)" 2>/dev/null || true; wait "$server" || true; fi
  rm -rf --one-file-system "$root"
}
trap leave EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port/v1/chat/completions
packages() { in_root "$root" dpkg-query -W -f '${Status}\n' | grep -c 'ok installed'; }
bytes() { du -sxb "$root" | cut -f1; }
ask() {
  curl -sf --max-time 20 "$url" -H 'Content-Type: application/json' \
    -d "{\"model\":\"rememberd/demo\",\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]}"
}

# The unit's command as the unit's user, and its messages to systemd in $root.notify.
begin() {
  local unit=$root/lib/systemd/system/rememberd.service user command
  [ -e "$unit" ] || unit=$root/usr/lib/systemd/system/rememberd.service
  user=$(sed -n 's/^User=//p' "$unit") command=$(sed -n 's/^ExecStart=//p' "$unit")
  rm -f "$root/run/notify"
  timeout 100 python3 - "$root/run/notify" >"$root.notify" <<'PY' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
while True:
    said = s.recv(4096).decode()
    print(said, flush=True)
    if said.startswith("STOPPING=1"):
        break
PY
  manager=$!
  until [ -S "$root/run/notify" ]; do sleep 0.05; done
  in_root "$root" setpriv --reuid "$user" --regid "$user" --init-groups env NOTIFY_SOCKET=/run/notify $command >"$root.out" 2>&1 &
  server=$!
  until grep -q '^READY=1' "$root.notify"; do
    kill -0 "$server" 2>/dev/null || { cat "$root.out" >&2; die "the server ended before it was ready"; }
    kill -0 "$manager" 2>/dev/null || die "the server did not say that it is ready"
    sleep 0.1
  done
}
# unshare passes no signal on, so the program itself is found: the one whose root is ours.
program() {
  local pid
  for pid in $(pgrep -x rememberd); do
    if [ "$(readlink "/proc/$pid/root")" = "$root" ]; then echo "$pid"; fi
  done
}
end() {
  kill "$(program)"
  wait "$server" || die "the server ended with $?"
  server=
  wait "$manager" || die "the server did not say that it stops"
}

quietly "$root.log" in_root "$root" apt-get -q update
before_packages=$(packages) before_bytes=$(bytes) install_began=$SECONDS
cp "$deb" "$root/rememberd.deb"
quietly "$root.log" in_root "$root" apt-get -q install -y --no-install-recommends /rememberd.deb
printf '%s: installed in %d s: %d packages, %d MB\n' "$suite" $((SECONDS - install_began)) \
  $(($(packages) - before_packages)) $((($(bytes) - before_bytes) / 1000000))

sed -i "s/7077/$port/" "$root/etc/rememberd/rememberd.toml" # as an administrator does; an upgrade must keep it
begin
ask "My dog is called Rex and I live in Lisbon." >/dev/null
ask "What is my dog called?" | grep -q Rex || die "the chat was not remembered"
in_root "$root" rememberd doctor >"$root.out" || die "the doctor is not content: $(cat "$root.out")"
grep -q 'database.*messages' "$root.out" || die "the doctor does not see the service's database: $(cat "$root.out")"
end
[ "$(stat -c '%U %a' "$root/etc/rememberd/rememberd.toml")" = 'root 640' ] || die "the configuration can be read by others"

dpkg-deb -R "$deb" "$root.newer"
sed -i 's/^Version: .*/&.1/' "$root.newer/DEBIAN/control"
dpkg-deb -b --root-owner-group "$root.newer" "$root/newer.deb" >/dev/null
rm -rf "$root.newer"
quietly "$root.log" in_root "$root" apt-get -q install -y /newer.deb
grep -q "$port" "$root/etc/rememberd/rememberd.toml" || die "an upgrade has replaced the configuration"
begin
ask "What is my dog called?" | grep -q Rex || die "an upgrade has lost a memory"
end

quietly "$root.log" in_root "$root" apt-get -q remove -y rememberd
[ -e "$root/var/lib/rememberd/rememberd.db" ] || die "a removal has lost the database"
[ -e "$root/etc/rememberd/rememberd.toml" ] || die "a removal has lost the configuration"
quietly "$root.log" in_root "$root" apt-get -q purge -y rememberd
[ -e "$root/var/lib/rememberd/rememberd.db" ] || die "a purge has erased the memories without being asked"
[ ! -e "$root/etc/rememberd" ] || die "a purge has left the configuration"

quietly "$root.log" in_root "$root" apt-get -q install -y --no-install-recommends /rememberd.deb
in_root "$root" sh -c 'echo rememberd rememberd/purge_data boolean true | debconf-set-selections'
quietly "$root.log" in_root "$root" apt-get -q purge -y rememberd
[ ! -e "$root/var/lib/rememberd" ] || die "a purge that was asked to erase the memories has left them"
printf '%s: the package works, %d s\n1 passed, 0 failed\n' "$suite" $((SECONDS - began))
