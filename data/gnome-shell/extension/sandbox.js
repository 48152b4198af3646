// SPDX-License-Identifier: LGPL-2.1-or-later
// Who runs in a sandbox. Only what the kernel says counts, which a process cannot choose.

import Gio from 'gi://Gio';

// A look ends at a file system that may not answer, so only a few are taken at a time; others wait for these.
const MAXIMUM_LOOKS = 4;
const MAXIMUM_WAITING = 64;
let looks = 0;
const waiting = [];

function contents(path, cancellable) {
    return new Promise((resolve, reject) => {
        Gio.File.new_for_path(path).load_contents_async(cancellable, (file, result) => {
            try {
                const [, bytes] = file.load_contents_finish(result);
                resolve(new TextDecoder().decode(bytes));
            } catch (error) {
                reject(error);
            }
        });
    });
}

// Whether there is nothing at `path`. If that cannot be found out, there may be something.
function isAbsent(path, cancellable) {
    return new Promise(resolve => {
        Gio.File.new_for_path(path).query_info_async('standard::type', Gio.FileQueryInfoFlags.NOFOLLOW_SYMLINKS, 0,
            cancellable, (file, result) => {
                try {
                    file.query_info_finish(result);
                    resolve(false);
                } catch (error) {
                    resolve(error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND));
                }
            });
    });
}

// When the process that `stat` is about was started, which tells it from a later one with its number; null if it does not
// run. Of a process that has ended, the root directory cannot be told from an empty one.
export function startOf(stat) {
    // The name of the process, which it chooses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'RSDTtWKPI'.includes(fields[0] || 'none') ? fields[19] ?? null : null;
}

// Whether these control groups are those of a snap.
export function isSnap(groups) {
    return groups.split('\n').some(group => group.split('/').some(element =>
        element.startsWith('snap.') && /\.(scope|service)$/.test(element) && element.split('.').length >= 3));
}

async function look(number, cancellable) {
    const folder = `/proc/${number}`;
    const start = startOf(await contents(`${folder}/stat`, cancellable));
    const isFlatpak = !await isAbsent(`${folder}/root/.flatpak-info`, cancellable);
    const groups = await contents(`${folder}/cgroup`, cancellable);
    // If it has ended meanwhile, what was seen of it means nothing.
    const end = startOf(await contents(`${folder}/stat`, cancellable));
    return start !== null && start === end && !isFlatpak && !isSnap(groups);
}

// Whether process `number` is there and runs in no sandbox. One that cannot be examined counts as sandboxed.
export async function isFree(number, cancellable = null) {
    if (waiting.length >= MAXIMUM_WAITING)
        return false;
    if (looks >= MAXIMUM_LOOKS)
        await new Promise(resolve => waiting.push(resolve));
    looks++;
    try {
        return await look(number, cancellable);
    } catch {
        return false;
    } finally {
        looks--;
        waiting.shift()?.();
    }
}
