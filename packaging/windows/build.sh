#!/usr/bin/env bash
# Builds the executable for Windows (x86_64) on Debian 12, in one command and without Windows:
#   packaging/windows/build.sh [--fast]
# The result is target/windows/x86_64-pc-windows-gnu/dist/partnerd.exe. --fast leaves link-time
# optimisation out, for a look in between; what is handed out is built without it.
# It runs as root, because it installs the cross compiler and two libraries from Debian; it exits 77 when
# that cannot be done.
set -euo pipefail
cd "$(dirname "$0")/../.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/windows}
target=x86_64-pc-windows-gnu
rust=$CARGO_TARGET_DIR/rust
case "${1:-}" in
  '') ;;
  --fast) export CARGO_PROFILE_DIST_LTO=off CARGO_PROFILE_DIST_CODEGEN_UNITS=16 ;;
  *) echo "usage: packaging/windows/build.sh [--fast]" >&2 && exit 2 ;;
esac

# rustup's servers would have Rust's library for Windows ready; Debian alone has its source, which
# is compiled along. The packages are unpacked beside whatever Rust is installed, not installed: they
# would push that out. Only what they load at run time (LLVM, libgit2) comes from apt.
if [ ! -e "$rust/complete" ]; then
  trap 'echo "build.sh: skipped, because the cross compiler or the library cannot be installed" >&2; exit 77' ERR
  rm -rf "$rust"
  mkdir -p "$rust/packages"
  apt-get update -qq
  # The package of shared libraries has the version in its name.
  std=$(apt-cache depends libstd-rust-web-dev | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
  needed=$(apt-cache depends "$std" cargo-web | sed -n 's/.*Depends: \(libllvm[0-9]*\|libgit2-[0-9.]*\)$/\1/p')
  # shellcheck disable=SC2086 # several names
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    gcc libc6-dev gcc-mingw-w64-x86-64 libcurl4 libssh2-1 libsqlite3-0 libssl3 $needed >/dev/null
  (cd "$rust/packages" && apt-get download -qq -o APT::Sandbox::User=root rustc-web cargo-web libstd-rust-web-dev rust-web-src "$std")
  for package in "$rust"/packages/*.deb; do dpkg -x "$package" "$rust"; done
  rm -r "$rust/packages"
  touch "$rust/complete"
  trap - ERR
fi

export PATH="$rust/usr/bin:$PATH" LD_LIBRARY_PATH="$rust/usr/lib/x86_64-linux-gnu"
export RUSTC="$rust/usr/bin/rustc"
unset RUSTUP_TOOLCHAIN RUSTC_WRAPPER
# -Zbuild-std is not stable yet; this lets the stable compiler do it.
export RUSTC_BOOTSTRAP=1
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar

# Paths of this machine would end up in panic messages, and make the bytes depend on the folder.
flags='' cflags=''
for pair in "$PWD=/partnerd" "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$(realpath "$rust/usr/lib/rustlib/src/rust")=/rust"; do
  flags+=" --remap-path-prefix=$pair"
  cflags+=" -ffile-prefix-map=$pair"
done
export RUSTFLAGS="${flags# }" CFLAGS_x86_64_pc_windows_gnu="${cflags# }"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}" CARGO_INCREMENTAL=0
cargo build --profile dist --locked -Zbuild-std=std,panic_unwind --target "$target"

file=$CARGO_TARGET_DIR/$target/dist/partnerd.exe
# A library of the compiler would be missing on Windows: everything but Windows' own is in the file.
if x86_64-w64-mingw32-objdump -p "$file" | grep -iE 'DLL Name: (lib|.*pthread)'; then
  echo "build.sh: the executable needs these libraries, which Windows does not have" >&2
  exit 1
fi
sha256sum "$file"
