# lib.sh - what the bench scripts share: a folder that goes, servers that end, figures of a process.
work=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export work

# start NAME COMMAND…: runs it and leaves its port in $port and its process in $pid.
start() {
  name=$1
  shift
  : >"$work/$name.out"
  "$@" >"$work/$name.out" 2>"$work/$name.err" &
  pid=$!
  pids="$pids $pid"
  for _ in $(seq 2000); do
    port=$(sed -n '1s|^listening on http://.*:\([0-9]*\)/*$|\1|p' "$work/$name.out")
    [ -n "$port" ] && return
    sleep 0.005
  done
  echo "$name did not start:" >&2
  cat "$work/$name.err" >&2
  exit 1
}

# stop PID
stop() {
  kill "$1"
  wait "$1" 2>/dev/null || true
}

# rss PID: KiB
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/"$1"/status; }

# cpu PID: microseconds of CPU time so far, of all its threads
cpu() { cat /proc/"$1"/task/*/schedstat | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'; }

# english FILE N, english_questions FILE N: like turns and questions below, with sentences of an
# English text: made-up words are many pieces each for the encoder.
english() {
  awk -v n="$2" '
    { gsub(/[^A-Za-z0-9 .,-]/, " "); for (i = 1; i <= NF; i++) word[words++] = $i }
    END {
      srand(7)
      for (i = at = 0; i < n; i++) {
        text = word[at++ % words]
        for (left = 7 + int(rand() * 23); left > 0; left--) text = text " " word[at++ % words]
        printf "{\"session\":\"s%d\",\"role\":\"%s\",\"content\":\"%s\"}\n", i / 20, i % 2 ? "assistant" : "user", text
      }
    }' "$1"
}
english_questions() {
  awk -v n="$2" '
    { gsub(/[^A-Za-z ]/, " "); for (i = 1; i <= NF; i++) if (length($i) > 3) word[words++] = $i }
    END {
      srand(8)
      for (i = 0; i < n; i++) {
        at = int(rand() * (words - 6))
        text = "where was"
        for (k = 0; k < 6; k++) text = text " " word[at + k]
        print text
      }
    }' "$1"
}

# turns N: N turns of conversations of twenty as JSON lines; words by Zipf's law less the
# thirty commonest, which a language fills with stop words; the same every time.
# questions N: N questions of six words.
words_awk='
function word(  r, i, w) {
  r = int(exp(log(30) + rand() * (log(vocabulary + 30) - log(30)))) - 30
  for (w = ""; r >= 0; r = int(r / 400) - 1) w = w substr(heads, r % 20 + 1, 1) substr(tails, int(r / 20) % 20 * 2 + 1, 2)
  return w
}
function sentence(n,  t) { for (t = word(); --n > 0;) t = t " " word(); return t }
BEGIN { srand(7); vocabulary = 40000; heads = "bdfgklmnprstvzcjhwyx"; tails = "abokurimanolubagomipesitatekorundalufi" }'
turns() {
  awk -v n="$1" "$words_awk"'
    BEGIN { for (i = 0; i < n; i++) printf "{\"session\":\"s%d\",\"role\":\"%s\",\"content\":\"%s\"}\n",
      i / 20, i % 2 ? "assistant" : "user", sentence(8 + int(rand() * 23)) }'
}
questions() {
  awk -v n="$1" "$words_awk"'BEGIN { srand(8); for (i = 0; i < n; i++) print "where was " sentence(6) }'
}
