#compdef allocbench
_allocbench()
{
    local -a found open
    found=("${(@f)$($words[1] --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    open=(${(M)found:#*[=/,:]})
    found=(${found:#*[=/,:]})
    if (( $#found + $#open == 0 )); then
        _files
        return
    fi
    (( $#open )) && compadd -S '' -- $open
    (( $#found )) && compadd -- $found
}
if [ "$funcstack[1]" = "_allocbench" ]; then
    _allocbench "$@"
else
    compdef _allocbench allocbench
fi
