# Finds stock rclcpp and compiles with it, for the builds of rclcpp and rclcpp_containers, which source this in the folder of
# their peer: the rclcpp of a sourced ROS 2 (AMENT_PREFIX_PATH), or, if FEROS_STOCK names a folder with an rclcpp built with
# the wheels of .venv (or of the folder of FEROS_ROS2), that of the scripts of that folder.
not_installed() { printf '%s\n' "$*" >&2; exit 69; }

command -v c++ >/dev/null || not_installed "there is no C++ compiler (c++)"
prefixes=()
IFS=: read -ra named <<<"${AMENT_PREFIX_PATH:-}"
for prefix in ${named[@]+"${named[@]}"}; do
    [[ -d $prefix/lib ]] && prefixes+=("$prefix")
    [[ -f $prefix/share/rclcpp/package.xml ]] && package="$prefix/share/rclcpp/package.xml"
done
venv="$(realpath -m "${FEROS_ROS2:-../../../.venv}")"
if [[ -z ${package:-} ]]; then
    kit="${FEROS_STOCK:-}"
    [[ -n $kit ]] || not_installed "there is no rclcpp: source a ROS 2 that has one (neither PyPI nor Debian has it)"
    [[ -x $kit/rclcpp/compile.sh ]] || not_installed "FEROS_STOCK=$kit has no rclcpp/compile.sh"
    [[ -f $venv/lib/librcl.so ]] || not_installed "ROS 2 is not installed: there is no $venv/lib/librcl.so"
    package="$kit/README.md" # says which rclcpp it is; its version.h does not
fi
mkdir -p "$FEROS_LAB_OUT"

# start NAME PROGRAM [SETTING]: makes the script NAME, which starts the program after the line SETTING. The folder of the
# program's libraries is known here, but may differ the next time.
start() {
    local command="exec '$2' \"\$@\""
    [[ -z ${kit:-} ]] || command="exec '$kit/rclcpp/run.sh' '$venv' '$2' \"\$@\""
    printf '#!/bin/sh\n%s\n%s\n' "${3:-}" "$command" >"$FEROS_LAB_OUT/$1"
    chmod +x "$FEROS_LAB_OUT/$1"
}

# compile OUTPUT SOURCE [FLAG...]: compiles the source, unless the output is newer than all that it is made of.
compile() {
    local output="$1" source="$2" newest version prefix folder flags
    shift 2
    newest="$(ls -t "$source" build ../rclcpp/endpoints.hpp ../rclcpp/graph.hpp ../rclcpp/toolchain.sh ../contract.h "$package" | head -1)"
    [[ $output -nt $newest ]] && return
    if [[ -n ${kit:-} ]]; then version="$(grep -om1 'rclcpp [0-9][0-9.]*' "$package" | cut -d' ' -f2)"
    else version="$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' "$package")"; fi
    flags=(-std=c++17 -O2 -w "-DRCLCPP_VERSION_TEXT=\"$version\"")
    if [[ -n ${kit:-} ]]; then
        CXXFLAGS="${flags[*]}" "$kit/rclcpp/compile.sh" "$venv" "$source" "$output" "$@"
        return
    fi
    for prefix in "${prefixes[@]}"; do
        flags+=("-I$prefix/include" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" "-Wl,-rpath-link,$prefix/lib")
        for folder in "$prefix"/include/*/; do flags+=("-I$folder"); done
    done
    c++ "${flags[@]}" "$@" "$source" -o "$output" -Wl,--disable-new-dtags,--copy-dt-needed-entries,--allow-shlib-undefined \
        -lrclcpp -lrmw_implementation -lrcutils -lrcl -lstd_msgs__rosidl_typesupport_cpp -lpthread
}
