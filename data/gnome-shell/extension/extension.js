// SPDX-License-Identifier: LGPL-2.1-or-later
// Handoff in GNOME Shell: an indicator for what can be continued here, a shortcut that pastes from another device, and which
// window has the focus, for the agent.

import Gio from 'gi://Gio';
import Gettext from 'gettext';
import Meta from 'gi://Meta';
import Shell from 'gi://Shell';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import {Focus} from './focus.js';
import {Indicator} from './indicator.js';
import {Session} from './session.js';

const SHORTCUT = 'paste-shortcut';

// All that there is while the extension is enabled, and nothing of it afterwards. While the screen is locked it is disabled
// (session-modes in metadata.json), so that no title, name or code is shown.
export default class HandoffExtension extends Extension {
    enable() {
        // Beside the folder that the extension was installed in.
        Gettext.bindtextdomain('handoff', `${this.path}/../../../locale`);
        this._session = new Session(Gio.DBus.session, this.metadata.window, () => this._update());
        this._focus = new Focus(Gio.DBus.session);
        this._session.begin();
        this._focus.begin();
        // The keys that the user has set, if any; a change of them counts at once.
        this._settings = this.getSettings();
        Main.wm.addKeybinding(SHORTCUT, this._settings, Meta.KeyBindingFlags.IGNORE_AUTOREPEAT,
            Shell.ActionMode.NORMAL | Shell.ActionMode.OVERVIEW, () => this._paste());
    }

    disable() {
        Main.wm.removeKeybinding(SHORTCUT);
        this._focus?.end();
        this._session?.end();
        this._indicator?.destroy();
        this._settings = null;
        this._focus = null;
        this._session = null;
        this._indicator = null;
    }

    // The indicator is there while there is an offer, or the user chooses from its menu what to paste from.
    _update() {
        if (this._session.report.offers.length > 0 || this._indicator?.isChoosing) {
            this._show();
            return;
        }
        this._indicator?.destroy();
        this._indicator = null;
    }

    _show() {
        if (!this._indicator) {
            this._indicator = new Indicator(this._session);
            Main.panel.addToStatusArea('handoff', this._indicator);
        }
        this._indicator.show_report(this._session.report);
    }

    // The shortcut was pressed.
    _paste() {
        if (this._session.pasteFromLatest())
            return;
        this._show();
        this._indicator.choose();
    }
}
