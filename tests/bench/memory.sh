#!/bin/sh
# memory.sh - what memory adds to a chat: memory off, by words, and with the encoder, rounds alternating.
#
# memory.sh BUILD: 10,000 turns of one user are remembered; ROUNDS (5), SECONDS_EACH (3). Then start to
# first answer and resident memory, with 100,000 turns on disk, and bulk ingest.
set -eu
build=$1
. "$(dirname "$0")/lib.sh"
tools=$build/tests/bench
server=$build/rememberd
book=../shared/data/corpus-cc-by/osbooks-world-history.txt

turns 10000 >"$work/10k.jsonl"
turns 100000 >"$work/100k.jsonl"
questions 1000 >"$work/questions"
if [ -r "$book" ]; then
  english "$book" 10000 >"$work/english.jsonl"
  english_questions "$book" 1000 >"$work/english"
else
  echo "skipped: an English text is not beside the repository ($book); the encoder reads made-up words"
  cp "$work/10k.jsonl" "$work/english.jsonl"
  cp "$work/questions" "$work/english"
fi
"$server" ingest "$work/10k.jsonl" --data "$work/words" >/dev/null
"$server" ingest "$work/english.jsonl" --data "$work/encoder" >/dev/null
began=$(date +%s%N)
"$server" ingest "$work/100k.jsonl" --data "$work/big" >/dev/null
ended=$(date +%s%N)
echo "bulk ingest: $((100000000000000 / (ended - began))) turns/s (rememberd ingest, 100,000 turns, start to durable end)"

start upstream "$tools/bench_upstream" 0 10 300
upstream=http://127.0.0.1:$port model_pid=$pid
start off "$server" serve --listen 127.0.0.1:0 --data "$work/off" --upstream "$upstream" --memory off
off=$port off_pid=$pid
start words "$server" serve --listen 127.0.0.1:0 --data "$work/words" --upstream "$upstream" --encoder off
words=$port words_pid=$pid
start encoder "$server" serve --listen 127.0.0.1:0 --data "$work/encoder" --upstream "$upstream"
encoder=$port encoder_pid=$pid
: "${ROUNDS:=5}" "${SECONDS_EACH:=3}"

# Vectors of what is there, and after each round of what was said in it: else they would be made during the next.
make_vectors() { until curl -s "http://127.0.0.1:$encoder/memory/status" | grep -q '"vectors_waiting":0'; do sleep 1; done; }
make_vectors

# round MODE AT_ONCE KIND QUESTIONS: p50_us=… of one run, with the CPU time of server and model for each chat.
round() {
  eval "to=\$$1 of=\$${1}_pid"
  server_us=$(cpu "$of") model_us=$(cpu "$model_pid")
  got=$(QUESTIONS="$work/$4" "$tools/bench_load" "$to" chats "$2" "$SECONDS_EACH")
  n=${got#completed=}
  n=${n%% *}
  [ "$n" -gt 0 ] || n=1
  echo "$1.$3 $got server_us=$((($(cpu "$of") - server_us) / n)) model_us=$((($(cpu "$model_pid") - model_us) / n))" >>"$work/results"
}

for _ in $(seq "$ROUNDS"); do
  for mode in off words encoder; do
    asked=questions
    [ "$mode" = encoder ] && asked=english
    round "$mode" 1 one "$asked"
    make_vectors
    round "$mode" 8 eight "$asked"
    make_vectors
    THINK_MS=600 round "$mode" 8 slow "$asked"
    make_vectors
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
  split("one eight slow", kinds, " ")
  split("one at a time|eight at a time|eight at a time, the model takes 300 ms, people pause up to 600 ms", titles, "|")
  split("off words encoder", modes, " ")
  for (k = 1; k <= 3; k++) {
    print titles[k]
    for (m = 1; m <= 3; m++) {
      at = modes[m] "." kinds[k]
      base = "off." kinds[k]
      printf "  %-8s p50 %d us, p99 %d us, %d/s; CPU time a chat: server %d us, load %d us, model %d us",
        modes[m], median(at "p50_us"), median(at "p99_us"), median(at "rps"),
        median(at "server_us"), median(at "load_us"), median(at "model_us")
      if (m > 1)
        printf "; adds p50 %.2f ms, p99 %.2f ms", (median(at "p50_us") - median(base "p50_us")) / 1000,
          (median(at "p99_us") - median(base "p99_us")) / 1000
      print ""
    }
  }
}' "$work/results"
for mode in words encoder; do
  eval "to=\$$mode of=\$${mode}_pid"
  curl -s "http://127.0.0.1:$to/metrics" | grep -E '^rememberd_recall_seconds' || true
  echo "$mode: resident after the load: $(rss "$of") KiB"
  stop "$of"
done

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
