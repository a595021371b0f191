# Made by `feros build`, which overwrites it. Use: source setup.bash
#
# FEROS_PREFIX_PATH is enough for everything of Feros. The other variables are for programs that know
# only stock ROS 2.
_feros_prefix="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)"

# Adds a folder to a variable, unless it is there: at the beginning, or at the end with `last`.
_feros_add() {
    local now="${!1:-}"
    case ":$now:" in
        *":$2:"*) ;;
        "::") export "$1=$2" ;;
        *) if [ "${3:-}" = last ]; then export "$1=$now:$2"; else export "$1=$2:$now"; fi ;;
    esac
}

_feros_add FEROS_PREFIX_PATH "$_feros_prefix"
_feros_add AMENT_PREFIX_PATH "$_feros_prefix"
# The nodes and containers of the command feros, under their names in stock ROS 2.
_feros_add AMENT_PREFIX_PATH "$_feros_prefix/lib/feros/shipped" last
for _feros_folder in "$_feros_prefix"/lib/python3*/site-packages; do
    if [ -d "$_feros_folder" ]; then _feros_add PYTHONPATH "$_feros_folder"; fi
done
if [ -d "$_feros_prefix/lib/feros/python" ]; then
    _feros_add PYTHONPATH "$_feros_prefix/lib/feros/python" last
fi
unset -f _feros_add
unset _feros_prefix _feros_folder
