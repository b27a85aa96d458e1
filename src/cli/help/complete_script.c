/* SPDX-License-Identifier: MIT
 *
 * What the shells run at the tab key: `allocbench --complete` with the words of the line, and file
 * names where it prints nothing.
 */
#include "base/bits.h"
#include "cli/help/complete.h"
#include "core/text.h"

#include <string.h>

/* bash cuts words at = and :, which are within ours: they are joined for the question, and what is
 * before the last of them is cut off the answers. */
static const char bash[] =
    "# bash completion for allocbench\n"
    "_allocbench()\n"
    "{\n"
    "    local -a words=()\n"
    "    local i part glue= cut line\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        part=${COMP_WORDS[i]}\n"
    "        if [[ -n $glue || ( $part == [=:]* && ${#words[@]} -gt 0 ) ]]; then\n"
    "            words[-1]+=$part\n"
    "        else\n"
    "            words+=(\"$part\")\n"
    "        fi\n"
    "        glue=\n"
    "        [[ $part == *[=:] ]] && glue=1\n"
    "    done\n"
    "    part=${words[-1]}\n"
    "    cut=${part%\"${part##*[=:]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        COMPREPLY+=(\"${line#\"$cut\"}\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" --complete \"${words[@]}\" 2>/dev/null)\n"
    "    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=/,:] ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "    return 0\n"
    "}\n"
    "complete -o default -F _allocbench allocbench\n";

static const char zsh[] =
    "#compdef allocbench\n"
    "_allocbench()\n"
    "{\n"
    "    local -a found open\n"
    "    found=(\"${(@f)$($words[1] --complete \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    found=(${found:#})\n"
    "    open=(${(M)found:#*[=/,:]})\n"
    "    found=(${found:#*[=/,:]})\n"
    "    if (( $#found + $#open == 0 )); then\n"
    "        _files\n"
    "        return\n"
    "    fi\n"
    "    (( $#open )) && compadd -S '' -- $open\n"
    "    (( $#found )) && compadd -- $found\n"
    "}\n"
    "if [ \"$funcstack[1]\" = \"_allocbench\" ]; then\n"
    "    _allocbench \"$@\"\n"
    "else\n"
    "    compdef _allocbench allocbench\n"
    "fi\n";

static const char fish[] = "# fish completion for allocbench\n"
                           "function __allocbench_complete\n"
                           "    set -l words (commandline -opc) (commandline -ct)\n"
                           "    set -l found ($words[1] --complete $words[2..-1] 2>/dev/null)\n"
                           "    if test (count $found) -gt 0\n"
                           "        printf '%s\\n' $found\n"
                           "    else\n"
                           "        __fish_complete_path (commandline -ct)\n"
                           "    end\n"
                           "end\n"
                           "complete -c allocbench -f -a '(__allocbench_complete)'\n";

enum ab_status ab_complete_script(FILE *to, const char *shell, struct ab_err *err)
{
    static const struct {
        const char *name, *text;
    } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < AB_ARRAY_LEN(scripts); i++)
        if (strcmp(scripts[i].name, shell) == 0) {
            fputs(scripts[i].text, to);
            return AB_OK;
        }
    return ab_fail(err, AB_USAGE, "--completion: \"%s\" is no shell known here: bash, zsh or fish",
                   AB_SHOWN(64, shell));
}
