#!/usr/bin/env bash
# Packs the executables that build.sh made as Debian packages: packaging/deb.sh [amd64|arm64]...
# The result is target/packaging/partnerd_VERSION-1_amd64.deb, or that of arm64. It needs python3 and dpkg, and the executable of
# amd64 for either, which writes the man pages; cargo-deb is installed under target/packaging/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/packaging
parts=$out/debian
bin=target/x86_64-unknown-linux-gnu/dist/partnerd
cargo_deb=3.8.0

export PATH="$PWD/$out/tools/bin:$PATH"
if [ "$(cargo-deb --version 2>/dev/null)" != "cargo-deb $cargo_deb" ]; then
  # --debug: it runs for seconds, and is built in half the time
  cargo install --quiet --locked --debug --root "$out/tools" "cargo-deb@$cargo_deb"
fi

# The day of the last commit, so that the same sources give the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

rm -rf "$parts"
mkdir -p "$parts/man"
"$bin" man --folder "$parts/man"
for shell in bash zsh fish; do "$bin" completions "$shell" >"$parts/completion.$shell"; done

# The settings with their defaults, but the database where the unit may write.
sed 's|^# db = "partnerd.db"$|db = "/var/lib/partnerd/partnerd.db"|' config/partnerd.toml >"$parts/partnerd.toml"
if ! grep -q '^db = "/var/lib/' "$parts/partnerd.toml"; then
  echo "deb.sh: config/partnerd.toml has no line '# db = \"partnerd.db\"' to set" >&2
  exit 1
fi

packaging/licenses.sh "$parts/third-party.txt" >/dev/null
gzip -9n <"$parts/third-party.txt" >"$parts/third-party.txt.gz"
gzip -9n <CHANGELOG.md >"$parts/changelog.gz"
# Debian wants a changelog in its own form; what changed stands in the other one.
version=$("$bin" --version | cut -d' ' -f2)
# With a tilde 1.0.0~rc.1 comes before 1.0.0; with a hyphen it would come after.
deb_version=${version/-/\~}-1
cat >"$parts/changelog" <<CHANGELOG
partnerd ($deb_version) unstable; urgency=medium

  * Version $version; what changed is in changelog.gz.

 -- partnerd developers <maintainers@partnerd.invalid>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

for architecture in "${@:-amd64}"; do
  rm -f "$out"/partnerd_*_"$architecture".deb
  case $architecture in
    amd64) target=x86_64-unknown-linux-gnu folder=target ;;
    arm64) target=aarch64-unknown-linux-gnu folder=target/cross ;;
  esac
  # --no-strip: the profile did it.
  CARGO_TARGET_DIR=$folder cargo deb --quiet --profile dist --no-build --no-strip --locked --target "$target" \
    --deb-version "$deb_version" --output "$out/"
  ls -l "$out/partnerd_${deb_version}_$architecture.deb"
done
