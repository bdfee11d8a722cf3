# shellcheck shell=bash
# Asks a server that is starting its first question. Sourced by start.

readonly first_question='Tell me a story about a dog.'

# A process that has ended but was not yet collected by its parent has no program any more.
is_running() { readlink "/proc/$1/exe" > /dev/null; }

# Prints http://ADDRESS:PORT of the socket that the process listens on; fails while there is none.
# Asked of the kernel, so that another server on the port we wanted is not taken for ours.
listening_url() {
  local pid=$1 sockets
  sockets=$(find "/proc/$pid/fd" -lname 'socket:*' -printf '%l ' 2> /dev/null) || return 1
  cat "/proc/$pid/net/tcp" "/proc/$pid/net/tcp6" 2> /dev/null |
    awk -v sockets="$sockets" '
      function digit(hex, n) { return index(digits, substr(hex, n, 1)) - 1 }
      function byte(hex, n) { return digit(hex, n) * 16 + digit(hex, n + 1) }
      BEGIN { digits = "0123456789ABCDEF" }
      $4 == "0A" && index(sockets, "socket:[" $10 "]") {
        split($2, local_end, ":")
        address = local_end[1]
        port = byte(local_end[2], 1) * 256 + byte(local_end[2], 3)
        if (length(address) > 8) host = "[::1]"
        else if (address == "00000000") host = "127.0.0.1"
        else host = byte(address, 7) "." byte(address, 5) "." byte(address, 3) "." byte(address, 1)
        print "http://" host ":" port
        found = 1
        exit
      }
      END { exit !found }'
}

# The first "content" string of a JSON text, unescaped, without control characters.
content_of() {
  local text
  [[ $1 =~ \"content\":[[:space:]]*\"(([^\"\\]|\\.)*)\" ]] || return 1
  text=${BASH_REMATCH[1]//\\\"/\"}  # printf knows the other escapes
  printf '%b' "${text//\\\//\/}" | tr -d '\000-\010\013-\037\177'
}

# Waits until the process serves, then prints its address and one answer. Returns early if it ends.
ask_first_question() {
  local pid=$1 url reply status
  until url=$(listening_url "$pid") && curl -fs -o /dev/null --max-time 5 "$url/health"; do
    is_running "$pid" || return 0
    sleep 0.05
  done
  printf '\nEvener is ready: open %s in a browser (Ctrl-C ends it).\n' "$url"

  local body='{"messages":[{"role":"user","content":"'$first_question'"}],'
  body+='"max_tokens":60,"temperature":0}'
  reply=$(curl -s --max-time 300 -w '\n%{http_code}' -H 'Content-Type: application/json' \
    -d "$body" "$url/v1/chat/completions") || true
  status=${reply##*$'\n'}
  if [[ $status == 200 ]] && content_of "$reply" > /dev/null; then
    printf 'A first question: %s\n%s\n\n' "$first_question" "$(content_of "$reply")"
  elif [[ $status == 401 ]]; then
    printf 'No first question was asked: the server wants its API key.\n\n'
  elif is_running "$pid"; then
    printf 'The first question got no answer (HTTP status %s): %s\n\n' "$status" "${reply%$'\n'*}"
  fi
}
