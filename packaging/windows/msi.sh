#!/usr/bin/env bash
# Packs the executable that build.sh made as an installer for Windows: target/cross/partnerd-VERSION.msi, and
# checks its tables. It runs as root on Debian 12 (wixl and msitools are installed from there).
# No Windows has installed this package yet: that the service starts, that its account may use the folder,
# and that an upgrade keeps the settings, is to be seen on a real one. The package is not signed.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "${CARGO_TARGET_DIR:-target/cross}")
exe=$out/x86_64-pc-windows-gnu/dist/partnerd.exe
files=$out/msi

if [ ! -e "$exe" ]; then
  echo "msi.sh: there is no $exe: packaging/windows/build.sh makes it" >&2
  exit 1
fi
if ! { command -v wixl && command -v msibuild; } >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wixl msitools >/dev/null
fi

version=$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
package=$out/partnerd-$version.msi
rm -rf "$files" "$package"
mkdir -p "$files"
cp "$exe" "$files/"
# Editors of Windows want its line ends, and take a file without a mark for one of their own code page.
windows_text() { printf '\xef\xbb\xbf' >"$2" && sed 's/\r*$/\r/' "$1" >>"$2"; }
windows_text LICENSE "$files/LICENSE.txt"
windows_text packaging/THIRD-PARTY-LICENSES.txt "$files/THIRD-PARTY-LICENSES.txt"
# TOML knows no mark; the file is ASCII.
sed 's/\r*$/\r/' config/partnerd.toml >"$files/partnerd.toml"

# The handbook: a file for each chapter, and its examples. wixl looks for all of them beside the description.
handbook=''
for chapter in docs/handbuch/*.md docs/handbuch/beispiele/*; do
  name=$(basename "$chapter")
  windows_text "$chapter" "$files/$name"
  handbook+="<File Id=\"Handbook.${name//-/_}\" Name=\"$name\" Source=\"$name\"/>"
done
sed "s|<!-- handbook -->|$handbook|" packaging/windows/partnerd.wxs >"$files/partnerd.wxs"
# Windows knows versions of numbers alone: for it 1.0.0-rc.1 is 1.0.0, and is removed by hand before 1.0.0 comes.
wixl --arch x64 -D Version="${version%%-*}" -o "$package" "$files/partnerd.wxs"
# What wixl has no words for. The settings: 64 bits (256), never overwritten (128), permanent (16).
# An installation without its service is none (1 normal + 32768 vital). An older version goes before
# the new one comes, where Windows allows that.
while read -r change; do msibuild "$package" -q "$change"; done <<'SQL'
UPDATE `Component` SET `Attributes` = 400 WHERE `Component` = 'Settings'
UPDATE `ServiceInstall` SET `ErrorControl` = 32769 WHERE `ServiceInstall` = 'Service'
UPDATE `InstallExecuteSequence` SET `Sequence` = 1450 WHERE `Action` = 'RemoveExistingProducts'
SQL

# has TABLE PATTERN: a row of the table, its fields separated by a bar
has() {
  msiinfo export "$package" "$1" | tr '\t' '|' | tr -d '\r' | grep -qE -- "$2" ||
    { echo "msi.sh: the table $1 lacks $2" >&2 && exit 1; }
}
has File '\|partnerd\.exe\|'
has File '\|LICENSE\.txt\|'
has File '\|THIRD-PARTY-LICENSES\.txt\|'
has File '\|README\.md\|'
has File '\|steuerberater\.md\|'
has File '^Configuration\|Settings\|partnerd\.toml\|'
has Component '^Settings\|.*\|DATADIR\|400\|'
has ServiceInstall '^Service\|partnerd\|.*\|16\|2\|32769\|.*LocalService\|.*service run\|Program\|'
has ServiceControl '^ServiceControl\|partnerd\|163\|'
has CustomAction '^Rights\|3122\|'
has InstallExecuteSequence '^RemoveExistingProducts\|.*\|1450$'
has InstallExecuteSequence '^Rights\|'
has InstallExecuteSequence '^InstallServices\|'
has InstallExecuteSequence '^StartServices\|'
has Upgrade '6F0E7C7C'
ls -l "$package"
sha256sum "$package"
