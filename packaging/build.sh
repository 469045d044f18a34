#!/usr/bin/env bash
# Builds the fully static executable for Linux: target/x86_64-unknown-linux-gnu/dist/partnerd.
# It needs Rust and a C compiler. The same sources, Rust and C compiler give the same bytes in any folder.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
cargo_home=${CARGO_HOME:-$HOME/.cargo}

# Paths of this machine would end up in panic messages, and make the bytes depend on the folder.
remap=("$PWD=/partnerd" "$cargo_home=/cargo")
flags='-C target-feature=+crt-static'
# The addresses that the start of a static executable corrects, as a bitmap: 0.5 MB less. A linker that does not know it
# warns and goes on.
flags+=' -C link-arg=-Wl,-z,pack-relative-relocs'
# Random numbers from the system call: an empty chroot has no /dev/urandom.
flags+=' --cfg getrandom_backend="linux_getrandom"'
cflags=''
for pair in "${remap[@]}"; do
  flags+=" --remap-path-prefix=$pair"
  cflags+=" -ffile-prefix-map=$pair"
done

# --target even though it is the host: without it the flags would reach procedural macros, which
# cannot be static.
export RUSTFLAGS="$flags" CFLAGS="${cflags# }"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}" CARGO_INCREMENTAL=0
cargo build --profile dist --locked --target "$target"

file="target/$target/dist/partnerd"
sha256sum "$file"
