# What build.sh and windows/build.sh have in common; they source it in the project's folder.

# --fast: an executable to try, in a third of the time. The words behind it are kept in $words.
profile=(--profile dist --locked)
words=()
for word; do
  if [ "$word" = --fast ]; then profile+=(--config packaging/fast.toml); else words+=("$word"); fi
done

# The same sources, Rust and C compiler shall give the same bytes in any folder: paths of this machine would end up
# in panic messages. Sets $rust_paths and $c_paths, flags of the two compilers. remap_paths [FOLDER=NAME]...
remap_paths() {
  rust_paths='' c_paths=''
  local pair
  for pair in "$PWD=/partnerd" "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$@"; do
    rust_paths+=" --remap-path-prefix=$pair"
    c_paths+=" -ffile-prefix-map=$pair"
  done
}
# Says what was built; an executable with a path of this machine in it is refused. finish FILE
finish() {
  if grep -aqF -e "$PWD" -e "$HOME/.cargo" "$1"; then
    echo "there is a path of this machine in $1" >&2
    exit 1
  fi
  sha256sum "$1"
}
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}" CARGO_INCREMENTAL=0

# Rust's library for other systems. rustup's servers would have it ready; Debian alone has its source, which is compiled
# along. The packages are unpacked into target/cross/rust beside whatever Rust is installed: they would push that out. Only
# what they load at run time (LLVM, libgit2) comes from apt, and the cross compilers that are named. Exits 77
# when that cannot be had. cross_rust PACKAGE...
cross_rust() {
  local rust=$PWD/target/cross/rust std needed
  trap 'echo "skipped: the cross compiler or the library cannot be installed" >&2; exit 77' ERR
  install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
  dpkg -s "$@" >/dev/null 2>&1 || { apt-get update -qq && install "$@"; }
  if [ ! -e "$rust/complete" ]; then
    rm -rf "$rust"
    mkdir -p "$rust/packages"
    apt-get update -qq
    # The package of shared libraries has the version in its name.
    std=$(apt-cache depends libstd-rust-web-dev | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
    needed=$(apt-cache depends "$std" cargo-web | sed -n 's/.*Depends: \(libllvm[0-9]*\|libgit2-[0-9.]*\)$/\1/p')
    # shellcheck disable=SC2086 # several names
    install gcc libc6-dev libcurl4 libssh2-1 libsqlite3-0 libssl3 $needed
    (cd "$rust/packages" && apt-get download -qq -o APT::Sandbox::User=root rustc-web cargo-web libstd-rust-web-dev rust-web-src "$std")
    for package in "$rust"/packages/*.deb; do dpkg -x "$package" "$rust"; done
    rm -r "$rust/packages"
    touch "$rust/complete"
  fi
  trap - ERR
  export PATH="$rust/usr/bin:$PATH" LD_LIBRARY_PATH="$rust/usr/lib/x86_64-linux-gnu" RUSTC="$rust/usr/bin/rustc"
  unset RUSTUP_TOOLCHAIN RUSTC_WRAPPER
  # -Zbuild-std is not stable yet; this lets the stable compiler do it.
  export RUSTC_BOOTSTRAP=1
  profile+=(-Zbuild-std=std,panic_unwind)
  # One folder for all systems: what runs while it is built is built once.
  export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/cross}
  remap_paths "$(realpath "$rust/usr/lib/rustlib/src/rust")=/rust"
}
