#!/usr/bin/env bash
# start.sh - an empty store: start to first answer, what the idle server holds in memory, and the size of the binary.
#
# start.sh BUILD: ROUNDS (15) starts. The binary is measured as `meson install` installs it. Processor time is of all threads
# of the server, and does not depend on what else the machine does.
set -eu
build=$1
. "$(dirname "$0")/lib.sh"
: "${ROUNDS:=15}"
strip -o "$work/rememberd" "$build/rememberd"
server=$work/rememberd
body='{"model":"rememberd/demo","messages":[{"role":"user","content":"My dog is called Rex."}]}'

# first_answer PORT: asks as soon as the server listens; bash asks itself, because a program more would be measured with it.
first_answer() {
  local line
  until { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null; do sleep 0.0005; done
  printf 'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
    "${#body}" "$body" >&3
  read -r line <&3
  exec 3>&-
  case $line in *' 200 '*) ;; *) echo "the server answered $line" >&2; exit 1 ;; esac
}

# The port is known beforehand, so that looking for it is not measured.
start any "$server" serve --listen 127.0.0.1:0 --data "$work/any"
stop "$pid"
enable -f sleep sleep 2>/dev/null || true # without a process for each, where bash has it
for round in $(seq "$ROUNDS"); do
  began=${EPOCHREALTIME/./}
  "$server" serve --listen "127.0.0.1:$port" --data "$work/$round" >"$work/out" 2>&1 &
  pid=$!
  pids="$pids $pid"
  first_answer "$port"
  ended=${EPOCHREALTIME/./}
  echo "$((ended - began)) $(cat /proc/"$pid"/task/*/schedstat | awk '{ n += $1 } END { print int(n / 1000) }')" >>"$work/starts"
  stop "$pid"
done
for column in 1 2; do
  cut -d' ' -f$column "$work/starts" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] / 1000, v[1] / 1000 }'
done | paste -sd' ' | {
  read -r clock clock_best processor processor_best
  echo "start to first answer, empty store: median $clock ms, best $clock_best ms; processor time $processor ms, best $processor_best ms"
}
start idle "$server" serve --listen 127.0.0.1:0 --data "$work/idle" --core-dumps on
sleep 1
echo "idle, empty store: $(rss "$pid") KiB resident"
if grep -qE "libdnnl|libgomp" "/proc/$pid/maps"; then echo "oneDNN is loaded, though no transformer is used" >&2; exit 1; fi
echo "stripped binary: $(($(stat -c %s "$server") / 1024)) KiB"
