#!/usr/bin/env bash
# Tries the executable that build.sh made, under Wine: a line for each step, exit 1 at the first that fails,
# 77 when Wine cannot be installed. With the installer of msi.sh there, that is tried as well.
# Wine is not Windows: rights of files, accounts of services, the start again after a failure, the firewall
# and virus scanners are not seen here. Wine asks nobody whether he is an administrator.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "${CARGO_TARGET_DIR:-target/cross}")
exe=$out/x86_64-pc-windows-gnu/dist/partnerd.exe
export WINEPREFIX=$out/wine WINEDEBUG=-all
# Wine would offer to download parts for .NET and HTML.
export WINEDLLOVERRIDES='mscoree,mshtml='

fail() {
  echo "FAILED  $1" >&2
  for file in err answer; do [ ! -s $file ] || { echo "--- $file" >&2 && tail -5 $file >&2; }; done
  exit 1
}
ok() { echo "ok      $1"; }

[ -e "$exe" ] || fail "there is no $exe: packaging/windows/build.sh makes it"
if ! { command -v wine && command -v curl && command -v x86_64-w64-mingw32-gcc; } >/dev/null; then
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    wine wine64 curl gcc-mingw-w64-x86-64; } >/dev/null 2>&1; then
    echo "smoke.sh: skipped, because Wine, curl and the cross compiler cannot be installed" >&2
    exit 77
  fi
fi

rm -rf "$out/smoke"
mkdir -p "$out/smoke"
cd "$out/smoke"
server=
# Ends what this prefix started, and nothing else.
trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null; wineserver -k 2>/dev/null || true' EXIT

rm -rf "$WINEPREFIX"
timeout 120 wineboot -i >/dev/null 2>&1 || fail "Wine makes its folder"
# Wine gives a service ten seconds to begin, which a busy machine exceeds (error 1053); it reads this as it starts.
wine reg add 'HKLM\System\CurrentControlSet\Control' /v ServicesPipeTimeout /t REG_SZ /d 600000 /f >/dev/null 2>&1 ||
  fail "Wine keeps how long a service may take to begin"
wineserver -k || true
cp "$exe" .
# Windows has had this library since version 7 or so; Wine only since 9. Rust takes random numbers from it.
cat >shim.c <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, size); }
C
x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" shim.c -ladvapi32
# Wine kills a process that needs more than half a second to end, as on a busy disk, and its exit code is lost
# to the shell (137). A Windows process that waits for it still learns the code, and leaves it in a file.
cat >launch.c <<'C'
#include <stdio.h>
#include <windows.h>
int main(void) {
  WCHAR *arguments = GetCommandLineW(), line[8192];
  BOOL quoted = FALSE;
  for (; *arguments && (quoted || *arguments != L' '); arguments++)
    if (*arguments == L'"') quoted = !quoted;
  _snwprintf(line, 8192, L"partnerd.exe%ls", arguments);
  STARTUPINFOW startup = {sizeof startup};
  PROCESS_INFORMATION process;
  if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process)) return 1;
  WaitForSingleObject(process.hProcess, INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(process.hProcess, &code);
  FILE *file = fopen("code", "w");
  fprintf(file, "%lu", code);
  fclose(file);
  return code != 0;
}
C
x86_64-w64-mingw32-gcc -o launch.exe launch.c

partnerd() {
  rm -f code
  timeout 60 wine launch.exe "$@" | tr -d '\r' || true
  [ "$(cat code 2>/dev/null)" = 0 ]
}
# Whether the server ended in order: what it wrote says so where Wine killed it at its end.
ended() {
  local code=0
  wait "$server" || code=$?
  server=
  [ "$code" = 0 ] || [ "$code" = 137 ] && grep -q 'stopping' err && [ ! -e partnerd.db-wal ]
}
serve() {
  wine partnerd.exe serve --listen 127.0.0.1:0 >listening 2>err &
  server=$!
  for _ in $(seq 100); do
    base=$(tr -d '\r' <listening | sed -n 's/^partnerd listening on //p')
    [ -z "$base" ] || return 0
    sleep 0.1
  done
  fail "the server says where it listens"
}
# request PATH [JSON]: the answer in the file of that name, its status printed
request() {
  curl -sS --max-time 20 -o answer -w '%{http_code}' -H "X-API-Key: $key" \
    -H 'Content-Type: application/json' ${2:+-d "$2"} "$base$1"
}
# expect STATUS TEXT PATH [JSON]
expect() {
  status=$(request "$3" "${4:-}") || fail "$3 is answered"
  [ "$status" = "$1" ] && grep -qF "$2" answer || fail "$3 is answered $1 with $2 (it was $status)"
}
field() { grep -o "\"$1\":\"[^\"]*\"" answer | head -n 1 | cut -d '"' -f 4; }

version=$(partnerd --version) || fail "--version"
ok "$version"
partnerd migrate | grep -q ja && [ -e partnerd.db ] || fail "migrate in an empty folder"
ok "migrate in an empty folder"
[ "$(partnerd tenant create 'Mühle Beispiel')" = 1 ] || fail "tenant create with an umlaut"
[ "$(partnerd --json tenant list | grep -c 'Mühle Beispiel')" = 1 ] || fail "tenant list gives the umlaut back"
ok "tenant create, with an umlaut"
key=$(partnerd key create --tenant 'Mühle Beispiel' --label smoke --all-scopes 2>/dev/null)
[[ $key == ak_* ]] || fail "key create"
ok "key create"

serve
ok "serve: $base"
[ "$(curl -sS -o answer -w '%{http_code}' "$base/api/v1/laender")" = 401 ] || fail "no key, no answer"
expect 200 '"name_de":"Österreich"' /api/v1/laender
ok "a request with the key (argon2), and 401 without"
expect 201 '"kundennr":"K-1"' /api/v1/kunden '{"kundennr":"K-1","nachname_firma":"Bäckerei Müller","plz":"93183","ort":"Kallmünz"}'
ok "POST /kunden"
before=$(TZ=Europe/Berlin date +%F)
expect 201 '"beleg_nummer":"RE-' /api/v1/belege \
  '{"beleg_typ":"RE","kundennummer":"K-1","items":[{"bezeichnung":"Fracht","menge":1,"ep_netto":"85.00","mwst_satz":19}]}'
invoice=$(field id)
expect 200 '"summe_brutto":"101.15"' "/api/v1/belege/$invoice"
day=$(field beleg_datum)
after=$(TZ=Europe/Berlin date +%F)
[ "${day:0:10}" = "$before" ] || [ "${day:0:10}" = "$after" ] || fail "the document has Berlin's day $after (it has $day)"
ok "a document without a date has Berlin's day: $day"
partnerd check >checked || fail "check beside the server"
partnerd backup copy.db >/dev/null || fail "backup beside the server"
ok "check and backup beside the server"
if partnerd serve --listen 127.0.0.1:0 >/dev/null 2>second; then fail "a second server on the file is refused"; fi
grep -q 'anderen partnerd' second || fail "a second server is told why"
ok "a second server on the file is refused"

# To Wine, SIGINT is Ctrl-C.
kill -INT "$server"
ended || fail "Ctrl-C ends it in order"
[ ! -e partnerd.db-audit-journal-1 ] || fail "the log of requests is in the database after a stop"
ok "Ctrl-C ends it in order"

serve
expect 200 '"summe_brutto":"101.15"' "/api/v1/belege/$invoice"
ok "a second start finds the data"
expect 201 '"kundennr":"K-2"' /api/v1/kunden '{"kundennr":"K-2","nachname_firma":"Hof Huber","plz":"93183","ort":"Kallmünz"}'
{ kill -KILL "$server" && wait "$server" || true; } 2>/dev/null
serve
expect 200 'Hof Huber' '/api/v1/kunden?suche=Huber'
kill -INT "$server"
ended || fail "it ends in order after a crash"
partnerd check >checked || fail "check after a crash"
ok "killed hard: the next start has what was answered, check finds nothing"

mkdir restored
partnerd --db restored/partnerd.db restore copy.db >/dev/null || fail "restore to another folder"
partnerd restore copy.db >/dev/null 2>err || fail "restore in the place of the database"
partnerd check >checked || fail "check after restore"
partnerd audit verify >/dev/null || fail "audit verify"
ok "restore, to another folder and in place; audit verify"

# Wine ends services with the last program that somebody started: this one waits until the end.
mkfifo alive
wine cmd <>alive >/dev/null 2>&1 &
# reached URL: whether somebody answers there within five seconds
reached() {
  for _ in $(seq 50); do
    if curl -sS --max-time 2 -o answer "$1" 2>/dev/null; then return 0; fi
    sleep 0.1
  done
  return 1
}
# A port that is free: the server that had it has ended.
address=${base#http://}
mkdir "data folder"
printf 'listen = "%s"\r\n' "$address" >"data folder/partnerd.toml"
service() { partnerd --config 'data folder\partnerd.toml' --db 'data folder\partnerd.db' service "$@"; }

if partnerd service run >/dev/null 2>err; then fail "service run without Windows is refused"; fi
if partnerd service status >/dev/null 2>err; then fail "status of a service that is not there"; fi
grep -q 'service install' err || fail "status says what to do"
service install 2>err || fail "service install"
reached "$base/healthz" || fail "the service answers"
partnerd --json --config 'data folder\partnerd.toml' --db 'data folder\partnerd.db' service status >answer &&
  grep -q '"running"' answer && grep -q 'service run' answer || fail "status: running"
if service install 2>err; then fail "a second install is refused"; fi
grep -q 'schon eingerichtet' err || fail "a second install says why"
service uninstall 2>err || fail "service uninstall"
if reached "$base/healthz"; then fail "the service is gone"; fi
[ ! -e "data folder/partnerd.db-wal" ] || fail "the service ended in order"
grep -q '/healthz' "data folder/partnerd.db.log" || fail "the service keeps a log"
ok "service: install starts it, status, uninstall ends it in order; it keeps a log"
printf 'listen = "192.0.2.1:80"\r\n' >"data folder/partnerd.toml"
if service install 2>err; then fail "a service without its address cannot start"; fi
grep -q '192.0.2.1:80 geht nicht' err || fail "install says why the service does not start"
# Somebody changes the settings, and starts the service by the means of Windows.
printf 'listen = "nowhere"\r\n' >"data folder/partnerd.toml"
wine sc start partnerd >/dev/null 2>&1 || true
grep -q 'listen' "data folder/partnerd.db-service-error" || fail "a wrong setting is kept beside the database"
printf 'listen = "%s"\r\n' "$address" >"data folder/partnerd.toml"
service uninstall 2>err || fail "service uninstall after a failure"
ok "service: why it does not start is said, and kept beside the database"

package=$(ls "$out"/partnerd-*.msi 2>/dev/null || true)
if [ -n "$package" ]; then
  data=$WINEPREFIX/drive_c/ProgramData/partnerd
  rm -rf "$data"
  msi() { timeout 120 wine msiexec "$1" "$(winepath -w "$package")" /qn; }
  msi /i || fail "the installer"
  for _ in $(seq 50); do [ -e "$data/partnerd.db-lock" ] && break || sleep 0.1; done
  wine sc query partnerd | grep -q RUNNING || fail "the installer starts the service"
  [ -s "$WINEPREFIX/drive_c/Program Files/partnerd/handbuch/README.md" ] || fail "the handbook is installed"
  echo '# changed' >>"$data/partnerd.toml"
  msi /x || fail "the removal"
  if wine sc query partnerd | grep -q RUNNING; then fail "the removal ends the service"; fi
  [ -e "$data/partnerd.db" ] && grep -q '# changed' "$data/partnerd.toml" || fail "the data stays"
  msi /i || fail "the installer for a second time"
  grep -q '# changed' "$data/partnerd.toml" || fail "changed settings stay"
  # Windows waits until the service that it stops has ended (Wait="yes"). Wine does not, and leaves an executable that runs.
  wine sc stop partnerd >/dev/null || fail "the service stops"
  for _ in $(seq 100); do wine tasklist | grep partnerd.exe >/dev/null && sleep 0.1 || break; done
  msi /x || fail "the second removal"
  [ ! -e "$WINEPREFIX/drive_c/Program Files/partnerd/partnerd.exe" ] || fail "the program is removed"
  ok "installer: installs, starts and removes; data and changed settings stay"
fi
echo "all steps passed under $(wine --version), which is not Windows"
