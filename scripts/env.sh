#!/usr/bin/env bash
# Prints the path of the Python interpreter of one PyTorch generation, building that environment first if it is not there.
# Usage: scripts/env.sh NAME        NAME: one of `scripts/env.sh --list`; "ruff" and "uv" print that tool's path instead
# Exit status 3: this machine cannot have that environment, the reason is on standard error.
# Environments live outside the checkout, in ${BOTTLENECK_CACHE:-${XDG_CACHE_HOME:-~/.cache}/bottleneck-dev}/envs.
set -euo pipefail

cache=${BOTTLENECK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bottleneck-dev}/envs

# interpreter MAJOR.MINOR: the path of such a CPython, from PATH or a version manager; fails where there is none.
interpreter() {
  local candidate
  for candidate in "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/"$1".*/bin/python3 "$(command -v "python$1" || true)"; do
    if [ -x "$candidate" ] && "$candidate" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# pip_install PYTHON PACKAGE...: by pip, once more where the network failed; unpacked beside the environments, for /tmp may be small,
# and not kept as wheels, which would double the disk that PyTorch takes.
pip_install() {
  local pip=("$1" -m pip)
  [ -z "$installer" ] || pip=("$installer" -m pip --python "$1")
  shift
  TMPDIR=$cache "${pip[@]}" install --quiet --disable-pip-version-check --no-cache-dir --retries 8 "$@" ||
    TMPDIR=$cache "${pip[@]}" install --disable-pip-version-check --no-cache-dir --retries 8 "$@"
}

installer= # an interpreter whose pip installs for the next one, which has none

beneath= # an environment whose packages the next one sees, too

# see PYTHON: makes its venv see the packages of the environment beneath.
see() {
  local folder='import sysconfig; print(sysconfig.get_path("purelib"))'
  [ -z "$beneath" ] || "$beneath" -c "$folder" >"$("$1" -c "$folder")/beneath.pth"
}

# environment NAME PYTHON PACKAGE...: a venv of that name with these packages; complete or absent, never half-made.
environment() {
  local name=$1 dir=$cache/$1 python=$2
  shift 2
  mkdir -p "$cache"
  (
    flock 9
    if [ ! -e "$dir/complete" ] || [ "$(cat "$dir/complete")" != "$*" ]; then
      rm -rf "$dir" && "$python" -m venv ${installer:+--without-pip} "$dir" >&2 && see "$dir/bin/python" && pip_install "$dir/bin/python" "$@" >&2 && echo "$*" >"$dir/complete" || {
        rm -rf "$dir"
        echo "env.sh: the environment $name could not be built; $(df -Ph "$cache" | awk 'NR == 2 {print $4}') of disk are free" >&2
        exit 1
      }
    fi
  ) 9>"$dir.lock" && echo "$dir/bin/python"
}

newest_python() {
  interpreter 3.13 || interpreter 3.12 || interpreter 3.11 || interpreter 3.10 || command -v python3
}

# absent REASON: ends with status 3, which tests take as "skip, for this reason"; any other failure is a failure.
absent() {
  echo "env.sh: $1" >&2
  exit 3
}

# venv NAME MAJOR.MINOR PACKAGE...: environment, where that CPython is at hand.
venv() {
  local name=$1 version=$2 python
  shift 2
  python=$(interpreter "$version") || absent "$name needs CPython $version with venv, which is not on this machine"
  environment "$name" "$python" "$@"
}

# debian: Debian's own build, with the old autograd profiler and no Kineto; installs it where apt brings torch 1.13.
debian() {
  local version='import sys, torch; sys.exit(not torch.__version__.startswith("1.13"))'
  if ! /usr/bin/python3 -c "$version" 2>/dev/null; then
    { command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; } || absent "torch-debian needs Debian's apt-get and root"
    timeout 600 sh -c 'apt-get -qq -o Acquire::Retries=2 update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y python3-torch python3-pandas' >&2 ||
      absent "torch-debian: apt-get install python3-torch failed"
    /usr/bin/python3 -c "$version" || absent "torch-debian: this Debian's python3-torch is not 1.13"
  fi
  echo /usr/bin/python3
}

# sid PYTHON: an interpreter of Debian sid, which lives in a folder of its own beside the machine's other folders: PyTorch 2.14
# with Python 3.14, and Python 3.15 without PyTorch.
sid() {
  local dir=$cache/torch-sid
  if [ ! -e "$dir/complete" ]; then
    { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && unshare --mount true 2>/dev/null; } ||
      absent "torch-sid needs Debian's apt-get, root and name spaces"
    command -v debootstrap >/dev/null ||
      timeout 300 sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y debootstrap' >&2 ||
      absent "torch-sid: apt-get install debootstrap failed"
    mkdir -p "$cache"
    (
      flock 9
      [ -e "$dir/complete" ] && exit
      rm -rf --one-file-system "$dir" && mkdir -p "$dir/bin" &&
        debootstrap --variant=minbase --include=python3-torch,python3-pandas,libopenblas0-pthread,python3.15,python3.15-venv sid "$dir/root" >"$dir/log" || exit 1
      cp /etc/hosts "$dir/root/etc/hosts"
      printf %s "$inside" >"$dir/bin/inside"
      for version in 3.14 3.15; do
        printf '#!/bin/sh\nexec unshare --mount --propagation private %q %q /usr/bin/python%s "$@"\n' "$dir/bin/inside" "$dir/root" "$version" >"$dir/bin/python$version"
      done
      chmod +x "$dir"/bin/* && touch "$dir/complete"
    ) 9>"$dir.lock" || absent "torch-sid: debootstrap of Debian sid failed: $(tail -n 2 "$dir/log")"
  fi
  "$dir/bin/python$1" -c '' || absent "torch-sid: sid has no Python $1 today"
  echo "$dir/bin/python$1"
}

# python_source MAJOR.MINOR: the folder of that CPython's source as Debian 13 or sid has it, fetched by apt from where this Debian's
# packages come from, with lists of its own. A mirror may list a source that it does not keep.
python_source() {
  local dir=$cache/python-source-$1 lists=$cache/python-source.apt keys=/usr/share/keyrings/debian-archive-keyring.gpg suite=sid options mirror
  [ "$1" != 3.13 ] || suite=trixie
  if [ ! -e "$dir/complete" ]; then
    rm -rf "$dir" "$lists" && mkdir -p "$dir" "$lists/lists/partial" "$lists/cache/archives/partial"
    # shellcheck disable=SC2016  # apt's own variable
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Created-By: Packages' | sort -u | head -n 1)
    [ "$mirror" ] || { echo "env.sh: apt has no list of Debian's packages: apt-get update brings them" >&2 && return 1; }
    echo "deb-src [signed-by=$keys] $mirror $suite main" >"$lists/sources.list"
    options="-qq -o Dir::Etc::sourcelist=$lists/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$lists/lists -o Dir::Cache=$lists/cache -o Acquire::Retries=2"
    # shellcheck disable=SC2086  # a list of options
    (cd "$lists" && timeout 300 apt-get $options update && timeout 300 apt-get $options source --download-only --tar-only "python$1") >&2 &&
      tar -xf "$lists/python$1"_*.orig.tar.xz -C "$dir" --strip-components=1 && touch "$dir/complete" || { rm -rf "$dir" "$lists" && return 1; }
    rm -rf "$lists"
  fi
  echo "$dir"
}

# built NAME PYTHON COMPILER CONFIGURE...: a CPython of another kind, made from source without optimisation; PYTHON is the
# name of its program. Some three minutes on two cores.
built() {
  local name=$1 python=$2 compiler=$3 dir=$cache/$1 version=${2#python} source
  shift 3
  if [ ! -e "$dir/complete" ]; then
    [ "$compiler" != musl-gcc ] || command -v musl-gcc >/dev/null || [ "$(id -u)" != 0 ] ||
      timeout 300 sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y musl-tools' >&2 || true
    { command -v apt-get && command -v make && command -v "$compiler"; } >/dev/null || absent "$name needs Debian's apt-get, make and $compiler"
    mkdir -p "$cache"
    (
      flock 9
      [ -e "$dir/complete" ] && exit
      rm -rf "$dir"
      source=$(python_source "${version%t}") || exit 1
      mkdir -p "$dir/build" "$dir/bin" && cd "$dir/build" || exit 1
      # The compiler's own word for its platform is the machine's C library.
      printf '#!/bin/sh\n[ "$1" != --print-multiarch ] || exit 0\nexec %s "$@"\n' "$compiler" >"$dir/bin/cc" && chmod +x "$dir/bin/cc"
      { CC=$dir/bin/cc nice "$source/configure" --prefix="$dir/prefix" --without-ensurepip --disable-test-modules "$@" &&
        nice make -s -j"$(nproc)" && nice make -s install; } >"$dir/log" 2>&1 || exit 1
      rm -rf "$dir/build" "$dir"/prefix/lib/python3*/test "$dir"/prefix/lib/python3*/config-* "$dir"/prefix/lib/*.a
      ln -s "../prefix/bin/$python" "$dir/bin/$python" && "$dir/bin/$python" -c '' && touch "$dir/complete"
    ) 9>"$cache/python-source.lock" || absent "$name could not be built: $(tail -n 2 "$dir/log" 2>/dev/null || echo "Debian's source is not to be had")"
  fi
  echo "$dir/bin/$python"
}

# free_threaded NAME BUILD PACKAGE...: an environment of a CPython that is made from source, which is made without pip.
free_threaded() {
  local name=$1 python
  python=$("$0" "$2")
  installer=$("$0" newest)
  shift 2
  environment "$name" "$(readlink -f "$python")" --only-binary :all: "$@"
}

# trainers: Hugging Face's Trainer, Accelerate and DeepSpeed with the newest PyTorch; DeepSpeed is built from source, without its kernels.
trainers() {
  beneath=$("$0" newest)
  DS_BUILD_OPS=0 environment trainers "$beneath" --no-build-isolation transformers accelerate deepspeed
}

# public: what the programs of bench/public import, with the newest PyTorch.
public() {
  beneath=$("$0" newest)
  environment public "$beneath" torchvision==0.29.2 torch_geometric==2.8.1 timm==1.0.31 trl==1.16.0 accelerate==1.15.0 \
    datasets==5.2.0 transformers==5.23.0 tyro==1.0.17 tensorboard==2.21.0 gymnasium==1.4.0 einops torch-einops-utils scipy scikit-learn \
    pytorch-ignite unidecode opacus==1.6.0 pyro-ppl==1.9.1 matplotlib six tiktoken "jsonargparse[signatures]"
}

# inside is the text of a script that runs a program of another system's root: inside ROOT PROGRAM ARGS..., in a mount name space of
# its own. The machine's folders for data (work, temporary files, processes) are in sight at their places.
inside='#!/bin/sh
root=$1
shift
for folder in /*; do
  case $folder in /bin | /sbin | /usr | /lib* | /etc | /var | /boot) continue ;; esac
  [ -d "$folder" ] && mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder"
done
exec chroot "$root" /bin/sh -c '"'"'cd "$0" && exec "$@"'"'"' "$PWD" "$@"
'

case "${1:---list}" in
  --list) echo "newest torch-2.4 torch-1.13 torch-debian trainers public peers tensorboard snakeviz line-profiler coverage ruff uv" ;;
  newest) environment newest "$(newest_python)" "torch>=2.15,<2.16" numpy pandas lightning ;;
  torch-2.4) venv torch-2.4 3.10 torch==2.4.1 "numpy<2" pandas "lightning<2.6" ;;
  torch-1.13) venv torch-1.13 3.8 torch==1.13.1 "numpy<2" pandas ;;
  torch-debian) debian ;;
  trainers) trainers ;;
  public) public ;;
  torch-sid) sid 3.14 ;;
  python-3.15) sid 3.15 ;;
  torch-3.13t) free_threaded torch-3.13t python-3.13t torch==2.12.0 numpy pandas ;;
  python-3.14t) built python-3.14t python3.14t gcc --disable-gil ;;
  python-3.15t) built python-3.15t python3.15t gcc --disable-gil ;;
  python-3.13t) built python-3.13t python3.13t gcc --disable-gil ;;
  python-3.13-musl) PKG_CONFIG=false built python-3.13-musl python3.13 musl-gcc ;;
  ruff) python=$(environment ruff "$(newest_python)" ruff==0.17.6) && echo "${python%python}ruff" ;;
  uv) python=$(environment uv "$(newest_python)" uv) && echo "${python%python}uv" ;;
  peers) environment peers "$(newest_python)" py-spy "austin-dist<4" HolisticTraceAnalysis "pandas<3" ;;
  snakeviz) environment snakeviz "$(newest_python)" snakeviz ;;
  line-profiler) environment line-profiler "$(newest_python)" line_profiler==5.1.0 ;;
  coverage) environment coverage "$(newest_python)" coverage pytest-cov ;;
  tensorboard) environment tensorboard "$(newest_python)" torch-tb-profiler==0.4.3 "pandas<3" ;;
  *) echo "env.sh: no environment '$1'; there are: $("$0" --list)" >&2; exit 2 ;;
esac
