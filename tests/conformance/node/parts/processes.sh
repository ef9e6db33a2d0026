# Processes of the node: started apart from this shell, and ended by their id and the time each began ($D/pid/NAME).
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
state() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1; }
threads() { ls "/proc/$1/task" 2>/dev/null | wc -l; }

start() { # NAME COMMAND...
  local name=$1; shift
  mkdir -p "$D/commands"; printf '%q ' "$@" >"$D/commands/$name"
  setsid "$@" >"$D/log/$name.log" 2>&1 </dev/null &
  echo "$! $(began $!)" >"$D/pid/$name"
}

again() { # NAME: killed, and started at once, as whoever runs a node sees to it
  local pid _
  if lives "$1"; then read -r pid _ <"$D/pid/$1"; kill -9 "$pid" || true; while lives "$1"; do sleep 0.05; done; fi
  eval "start $1 $(cat "$D/commands/$1")"
}

lives() { # NAME; also one whose first thread has ended before the others, which still hold its ports
  local pid time
  read -r pid time 2>/dev/null <"$D/pid/$1" && [ -n "$time" ] && [ "$(began "$pid")" = "$time" ] \
    && { [ "$(state "$pid")" != Z ] || [ "$(threads "$pid")" -gt 1 ]; }
}

stop() { # NAME: within 10 s, then by force
  local name=$1 pid _
  if lives "$name"; then
    read -r pid _ <"$D/pid/$name"
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do lives "$name" || break; sleep 0.1; done
    lives "$name" && { say "$name did not end, killed"; kill -9 "$pid" || true; }
  fi
  rm -f "$D/pid/$name"
}

status() {
  local file name pid _
  for file in "$D"/pid/*; do
    name=${file##*/}
    if lives "$name"; then read -r pid _ <"$file"; echo "$name: process $pid, $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status") MiB"
    else echo "$name: ended"; fi
  done
  kubectl get nodes,pods -A -o wide
}
