#!/usr/bin/env bash
# Builds the executable for Windows (x86_64) on Debian 12, in one command and without Windows:
#   packaging/windows/build.sh [--fast]
# The result is target/cross/x86_64-pc-windows-gnu/dist/partnerd.exe. --fast leaves optimisation out, for a look in
# between. It runs as root, because it installs the cross compiler and two libraries from Debian; it exits 77 when
# that cannot be done.
set -euo pipefail
cd "$(dirname "$0")/../.."
source packaging/common.sh
[ "${#words[@]}" = 0 ] || { echo "usage: packaging/windows/build.sh [--fast]" >&2 && exit 2; }

target=x86_64-pc-windows-gnu
cross_rust gcc-mingw-w64-x86-64
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar
export RUSTFLAGS="${rust_paths# }" CFLAGS_x86_64_pc_windows_gnu="${c_paths# }"
cargo build "${profile[@]}" --target "$target"

file=$CARGO_TARGET_DIR/$target/dist/partnerd.exe
# A library of the compiler would be missing on Windows: everything but Windows' own is in the file.
if x86_64-w64-mingw32-objdump -p "$file" | grep -iE 'DLL Name: (lib|.*pthread)'; then
  echo "build.sh: the executable needs these libraries, which Windows does not have" >&2
  exit 1
fi
finish "$file"
