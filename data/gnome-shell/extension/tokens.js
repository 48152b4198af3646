// SPDX-License-Identifier: LGPL-2.1-or-later
// Tokens with which an application may raise its window.

import Shell from 'gi://Shell';

// A token for the application of this id, which the user has just asked for; empty if no such application is installed.
// Until a window comes with it the Shell shows that the application is being started.
export function mint(id) {
    const information = Shell.AppSystem.get_default().lookup_app(`${id}.desktop`)?.get_app_info();
    if (!information)
        return '';
    return global.create_app_launch_context(0, -1).get_startup_notify_id(information, []) ?? '';
}

// No window will come with `token`.
export function giveUp(token) {
    global.create_app_launch_context(0, -1).launch_failed(token);
}
