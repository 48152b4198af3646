// SPDX-License-Identifier: LGPL-2.1-or-later
// Handoff in GNOME Shell: an indicator for what can be continued here, and which window has the focus, for the agent.

import Gio from 'gi://Gio';
import Gettext from 'gettext';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import {Focus} from './focus.js';
import {Indicator} from './indicator.js';
import {Session} from './session.js';

// All that there is while the extension is enabled, and nothing of it afterwards. While the screen is locked it is disabled
// (session-modes in metadata.json), so that no title, name or code is shown.
export default class HandoffExtension extends Extension {
    enable() {
        // Beside the folder that the extension was installed in.
        Gettext.bindtextdomain('handoff', `${this.path}/../../../locale`);
        this._session = new Session(Gio.DBus.session, () => this._update());
        this._focus = new Focus(Gio.DBus.session);
        this._session.begin();
        this._focus.begin();
    }

    disable() {
        this._focus?.end();
        this._session?.end();
        this._indicator?.destroy();
        this._focus = null;
        this._session = null;
        this._indicator = null;
    }

    // The indicator is there while there is an offer.
    _update() {
        const report = this._session.report;
        if (report.offers.length === 0) {
            this._indicator?.destroy();
            this._indicator = null;
            return;
        }
        if (!this._indicator) {
            this._indicator = new Indicator(this._session);
            Main.panel.addToStatusArea('handoff', this._indicator);
        }
        this._indicator.show_report(report);
    }
}
