# Prints what bash offers for a command line: `bash complete.bash SCRIPT WORD...`. SCRIPT is a completion
# script; the last WORD is the one being completed. bash itself would cut `--option=value` into three words.
set -u
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
COMPREPLY=()
"_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo ${COMPREPLY[*]+"${COMPREPLY[*]}"}
