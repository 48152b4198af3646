# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of the arguments of handoff(1) for fish, which asks the program itself what can stand there.

function __handoff_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l value (string replace -r -- '^--[^=]*=' '' "$current" | string unescape)
    set -l option (string match -r -- '^--[^=]*=' "$current")
    for line in (command handoff complete -- $words "$current" 2>/dev/null)
        switch $line
            case ':files'
                for path in (__fish_complete_path "$value")
                    printf '%s\n' "$option$path"
                end
            case ':folders'
                for path in (__fish_complete_directories "$value" '')
                    printf '%s\n' "$option$path"
                end
            case ':commands'
                __fish_complete_command
            case ':hosts'
                __fish_print_hostnames
            case '*'
                # What others chose stands behind a tab, where fish shows it and does nothing else with it.
                printf '%s\n' $line
        end
    end
end

complete -c handoff -f -a '(__handoff_complete)'
