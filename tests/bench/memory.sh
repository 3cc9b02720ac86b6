#!/bin/sh
# memory.sh - what memory adds to a chat: the same server with memory off and on, rounds alternating.
#
# memory.sh BUILD: 10,000 turns of one user are remembered; ROUNDS (5), SECONDS_EACH (3). Then start to
# first answer and resident memory, with 100,000 turns on disk, and bulk ingest.
set -eu
build=$1
. "$(dirname "$0")/lib.sh"
tools=$build/tests/bench
server=$build/rememberd

turns 10000 >"$work/10k.jsonl"
turns 100000 >"$work/100k.jsonl"
questions 1000 >"$work/questions"
"$server" ingest "$work/10k.jsonl" --data "$work/on" >/dev/null
began=$(date +%s%N)
"$server" ingest "$work/100k.jsonl" --data "$work/big" >/dev/null
ended=$(date +%s%N)
echo "bulk ingest: $((100000000000000 / (ended - began))) turns/s (rememberd ingest, 100,000 turns, start to durable end)"

start upstream "$tools/bench_upstream" 0 10
upstream=http://127.0.0.1:$port
start off "$server" serve --listen 127.0.0.1:0 --data "$work/off" --upstream "$upstream" --memory off
off=$port
start on "$server" serve --listen 127.0.0.1:0 --data "$work/on" --upstream "$upstream"
on=$port on_pid=$pid
: "${ROUNDS:=5}" "${SECONDS_EACH:=3}"
export QUESTIONS="$work/questions"

for _ in $(seq "$ROUNDS"); do
  for at_once in 1 8; do
    echo "off$at_once $("$tools/bench_load" "$off" chats "$at_once" "$SECONDS_EACH")" >>"$work/results"
    echo "on$at_once $("$tools/bench_load" "$on" chats "$at_once" "$SECONDS_EACH")" >>"$work/results"
  done
done
awk '
function median(key,  list, n, i, j, t) {
  n = split(values[key], list, " ")
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && list[j] + 0 < list[j - 1] + 0; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
  return list[int((n + 1) / 2)]
}
{ for (i = 2; i <= NF; i++) { split($i, kv, "="); values[$1 kv[1]] = values[$1 kv[1]] " " kv[2] } }
END {
  split("1 8", at_once, " ")
  for (i = 1; i <= 2; i++) {
    c = at_once[i]
    printf "%d at once: off p50 %d us, p99 %d us, %d/s; on p50 %d us, p99 %d us, %d/s; memory adds p50 %.2f ms, p99 %.2f ms\n",
      c, median("off" c "p50_us"), median("off" c "p99_us"), median("off" c "rps"),
      median("on" c "p50_us"), median("on" c "p99_us"), median("on" c "rps"),
      (median("on" c "p50_us") - median("off" c "p50_us")) / 1000, (median("on" c "p99_us") - median("off" c "p99_us")) / 1000
  }
}' "$work/results"
curl -s "http://127.0.0.1:$on/metrics" | grep -E '^rememberd_recall_seconds' || true
echo "resident after the load: $(rss "$on_pid") KiB"
stop "$on_pid"

# One request as soon as the port is known; its answer comes from memory and the built-in model.
ask='{"model":"rememberd/demo","messages":[{"role":"user","content":"'"$(head -n 1 "$work/questions")"'"}]}'
for _ in $(seq 5); do
  began=$(date +%s%N)
  start big "$server" serve --listen 127.0.0.1:0 --data "$work/big"
  curl -s -o "$work/answer" -H 'Content-Type: application/json' -d "$ask" "http://127.0.0.1:$port/v1/chat/completions"
  ended=$(date +%s%N)
  grep -q '"choices"' "$work/answer"
  echo "$(((ended - began) / 1000))" >>"$work/starts"
  last=$(rss "$pid")
  stop "$pid"
  rm -f "$work/big.out"
done
echo "start to first answer, 100,000 turns on disk: median $(sort -n "$work/starts" | sed -n 3p) us (curl and the look for the port included); resident then $last KiB"
start idle "$server" serve --listen 127.0.0.1:0 --data "$work/big"
sleep 1
echo "idle: $(rss "$pid") KiB resident"
