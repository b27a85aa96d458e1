# bash completion for allocbench
# bash cuts words at = and :, which are within ours: they are joined for the question, and what is
# before the last of them is cut off the answers.
_allocbench()
{
    local -a words=()
    local i part glue= cut line
    for ((i = 1; i <= COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        if [[ -n $glue || ( $part == [=:]* && ${#words[@]} -gt 0 ) ]]; then
            words[-1]+=$part
        else
            words+=("$part")
        fi
        glue=
        [[ $part == *[=:] ]] && glue=1
    done
    part=${words[-1]}
    cut=${part%"${part##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line#"$cut"}")
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=/,:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o default -F _allocbench allocbench
