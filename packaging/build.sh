#!/usr/bin/env bash
# Builds the fully static executable for Linux: packaging/build.sh [amd64|arm64] [--fast]
# The result is target/x86_64-unknown-linux-gnu/dist/partnerd, or target/cross/aarch64-unknown-linux-gnu/dist/partnerd. amd64
# needs Rust and a C compiler; arm64 is built on amd64 as root, because it installs a cross compiler from Debian (exit 77 when
# that cannot be done). --fast gives an executable to try: of amd64 what the tests are built of, linked once more.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$*" = --fast ] || [ "$*" = 'amd64 --fast' ]; then
  # The library of the tests: theirs has other features than that of `cargo build`, which would be compiled again.
  library=$(cargo test --locked --no-run --message-format=json | grep -o '[^"]*/libpartnerd-[0-9a-f]*\.rlib' | tail -n 1)
  fast=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-gnu/dist/partnerd
  mkdir -p "$(dirname "$fast")"
  rustc --edition 2024 --crate-name partnerd src/main.rs --extern "partnerd=$library" \
    -L "dependency=$(dirname "$library")" -C target-feature=+crt-static -C strip=symbols -o "$fast"
  sha256sum "$fast"
  exit
fi
source packaging/common.sh

# Flags in the environment take the place of those of .cargo/config.toml.
flags='-C target-feature=+crt-static --cfg getrandom_backend="linux_getrandom"'
case "${words[*]:-amd64}" in
  amd64)
    target=x86_64-unknown-linux-gnu
    # The addresses that the start of a static executable corrects, as a bitmap: 0.5 MB less. A linker that does not know it
    # warns and goes on.
    flags+=' -C link-arg=-Wl,-z,pack-relative-relocs'
    remap_paths
    ;;
  arm64)
    target=aarch64-unknown-linux-gnu
    cross_rust gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar
    ;;
  *) sed -n '2s/^# //p' "$0" >&2 && exit 2 ;;
esac

# --target even though it may be the host: without it the flags would reach procedural macros, which
# cannot be static.
export RUSTFLAGS="$flags$rust_paths" CFLAGS="${c_paths# }"
cargo build "${profile[@]}" --target "$target"
finish "${CARGO_TARGET_DIR:-target}/$target/dist/partnerd"
