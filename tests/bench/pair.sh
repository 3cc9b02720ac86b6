#!/bin/sh
# pair.sh - two builds in one run: time, processor time and instructions of a chat, by words and with the encoder.
#
# pair.sh BUILD OLD NEW: two programs, rememberd of an earlier build and of this one. Each has its own copy of TURNS
# (10,000) turns. ROUNDS (5) alternate, SECONDS_EACH (3); then valgrind counts instructions, which a busy machine does
# not change. KEEP=FOLDER keeps callgrind's files. MODES (words encoder): the ones to measure.
set -eu
build=$1 old=$2 new=$3
. "$(dirname "$0")/lib.sh"
tools=$build/tests/bench
: "${ROUNDS:=5}" "${SECONDS_EACH:=3}" "${TURNS:=10000}" "${CHATS:=200}" "${MODES:=words encoder}"

turns "$TURNS" >"$work/turns.jsonl"
questions 1000 >"$work/questions"
start upstream "$tools/bench_upstream" 0 10 300
upstream=http://127.0.0.1:$port
if command -v valgrind >/dev/null; then counts=valgrind; else counts=; fi

# serve NAME PROGRAM OPTION…: a server with its turns, all of which have their vectors.
serve() {
  name=$1 program=$2
  shift 2
  [ -d "$work/$name" ] || "$program" ingest "$work/turns.jsonl" --data "$work/$name" >/dev/null
  start "$name" ${wrapped:-} "$program" serve --listen 127.0.0.1:0 --data "$work/$name" --upstream "$upstream" "$@"
}
# Until its encoder is loaded, a server counts no vectors that wait.
rest() {
  if [ "$mode" = words ]; then rows='[0-9]'; else rows='[1-9]'; fi
  until curl -s "http://127.0.0.1:$1/memory/status" | grep -q "\"vector_rows\":$rows[0-9]*,\"vectors_waiting\":0"; do sleep 1; done
}

# chats PORT SECONDS: key=value of one run
chats() { QUESTIONS="$work/questions" "$tools/bench_load" "$1" chats 1 "$2"; }
value() { printf '%s\n' "$2" | sed -n "s/.*$1=\([0-9]*\).*/\1/p"; }

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# alternate MODE OPTION…: rounds of both, alternating
alternate() {
  mode=$1
  shift
  serve "old.$mode" "$old" "$@"
  old_port=$port old_pid=$pid
  serve "new.$mode" "$new" "$@"
  new_port=$port new_pid=$pid
  for _ in $(seq "$ROUNDS"); do
    for which in old new; do
      eval "to=\$${which}_port of=\$${which}_pid"
      rest "$to"
      before=$(cpu "$of")
      got=$(chats "$to" "$SECONDS_EACH")
      rest "$to" # with the vectors of what was said
      value p50_us "$got" >>"$work/$mode.$which.p50"
      echo $((($(cpu "$of") - before) / $(value completed "$got"))) >>"$work/$mode.$which.cpu"
    done
  done
  stop "$old_pid"
  stop "$new_pid"
}

# instructions MODE WHICH PROGRAM OPTION…: of a chat, in thousands: CHATS (200) chats behind as many others, from the
# same store, with the vectors of what was said in them. Under valgrind a recall takes longer than it may.
instructions() {
  mode=$1 which=$2 program=$3
  shift 3
  out=$work/$mode.$which.callgrind
  serve "$which.$mode.counted" "$program" "$@"
  rest "$port"
  stop "$pid"
  wrapped="valgrind --quiet --tool=callgrind --callgrind-out-file=$out"
  serve "$which.$mode.counted" "$program" --recall-deadline-ms 10000 "$@"
  wrapped=
  CHATS=$CHATS chats "$port" 0 >"$work/warm"
  rest "$port"
  callgrind_control --zero "$pid" >"$work/control" 2>&1
  CHATS=$CHATS chats "$port" 0 >"$work/counted"
  rest "$port"
  callgrind_control --dump "$pid" >>"$work/control" 2>&1
  for _ in $(seq 100); do [ -s "$out.1" ] && grep -q '^totals:' "$out.1" && break; sleep 0.1; done
  echo $(($(sed -n 's/^totals: //p' "$out.1") / CHATS / 1000)) >"$work/$mode.$which.instructions"
  if [ -n "${KEEP:-}" ]; then cp "$out.1" "$KEEP/$mode.$which.callgrind"; fi
  stop "$pid"
}

# row MODE WHAT UNIT TITLE
row() {
  before=$(median <"$work/$1.old.$2") after=$(median <"$work/$1.new.$2")
  awk -v a="$before" -v b="$after" -v title="$4" -v unit="$3" \
    'BEGIN { printf "  %-24s %9d %9d %s  %.3f\n", title, a, b, unit, b / a }'
}

for mode in $MODES; do
  if [ "$mode" = words ]; then set -- --encoder off; else set --; fi
  alternate "$mode" "$@"
  printf '%-28s%8s %9s\n' "$mode" old new
  row "$mode" p50 us 'p50, one at a time'
  row "$mode" cpu us 'processor time a chat'
  if [ -z "$counts" ]; then
    echo "  skipped: instructions are counted by valgrind, which is not installed"
    continue
  fi
  instructions "$mode" old "$old" "$@"
  instructions "$mode" new "$new" "$@"
  row "$mode" instructions 'k ' 'instructions a chat'
done
