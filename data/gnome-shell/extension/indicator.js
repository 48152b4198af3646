// SPDX-License-Identifier: LGPL-2.1-or-later
// The indicator in the top bar, and its menu.

import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gettext from 'gettext';
import Pango from 'gi://Pango';
import Shell from 'gi://Shell';
import St from 'gi://St';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';
import * as PopupMenu from 'resource:///org/gnome/shell/ui/popupMenu.js';

const _ = text => Gettext.dgettext('handoff', text);
const ngettext = (one, many, count) => Gettext.dngettext('handoff', one, many, count);

function application(id) {
    return id ? Shell.AppSystem.get_default().lookup_app(`${id}.desktop`) : null;
}

// The icon of the application that would continue `offer`, or else of the one that it comes from.
function icon(offer) {
    return (application(offer.application) ?? application(offer.origin))?.get_icon() ??
        Gio.ThemedIcon.new('computer-symbolic');
}

// Where `offer` is, and since when that device sleeps, if it does.
function whereabouts(offer) {
    if (!offer.asleep)
        return offer.device;
    const time = GLib.DateTime.new_from_unix_local(Math.floor(offer.asleep / 1000000))?.format('%H:%M') ?? '';
    return _('{device}, asleep since {time}').replace('{time}', () => time).replace('{device}', () => offer.device);
}

// A label for text that somebody else chose: one line, as it is, and nothing of it outside its place.
function chosenLabel(properties) {
    const label = new St.Label({...properties, clip_to_allocation: true});
    label.clutter_text.set_use_markup(false);
    label.clutter_text.set_single_line_mode(true);
    label.clutter_text.set_ellipsize(Pango.EllipsizeMode.END);
    return label;
}

function setText(label, text) {
    label.clutter_text.set_use_markup(false);
    label.clutter_text.set_text(text);
}

// One offer. Its title and its device each have a place of their own, in which nothing else ever stands.
const OfferItem = GObject.registerClass(
class HandoffOfferItem extends PopupMenu.PopupBaseMenuItem {
    _init() {
        super._init();
        this._icon = new St.Icon({icon_size: 32, y_align: Clutter.ActorAlign.CENTER});
        this._title = chosenLabel({style: 'max-width: 26em;'});
        this._device = chosenLabel({style: 'max-width: 26em; font-size: smaller;', opacity: 180});
        this._state = new St.Label({text: _('Continuing…'), y_align: Clutter.ActorAlign.CENTER, visible: false});
        const lines = new St.BoxLayout({x_expand: true});
        lines.layout_manager.orientation = Clutter.Orientation.VERTICAL;
        lines.add_child(this._title);
        lines.add_child(this._device);
        this.add_child(this._icon);
        this.add_child(lines);
        this.add_child(this._state);
        this.label_actor = this._title;
    }

    show_offer(offer) {
        const name = application(offer.application)?.get_name() ?? application(offer.origin)?.get_name();
        this._icon.gicon = icon(offer);
        setText(this._title, offer.title || name || _('Untitled'));
        setText(this._device, whereabouts(offer));
        this.accessible_name = `${this._title.text}, ${whereabouts(offer)}`;
        this._state.visible = offer.isContinuing;
        this.setSensitive(!offer.isContinuing);
    }
});

// The indicator: the icon of the application and the name of the device, of the latest offer.
export const Indicator = GObject.registerClass(
class HandoffIndicator extends PanelMenu.Button {
    _init(session) {
        super._init(0.5, _('Handoff'));
        this._session = session;
        this._offers = new Map();
        this._listableItems = new Map();
        this._devices = new Map();
        this._sources = new Map();
        // Whether the user has yet to choose what to paste from.
        this.isChoosing = false;
        this._icon = new St.Icon({style_class: 'system-status-icon'});
        this._device = chosenLabel({style: 'max-width: 12em;', y_align: Clutter.ActorAlign.CENTER});
        const box = new St.BoxLayout({style_class: 'panel-status-menu-box'});
        box.add_child(this._icon);
        box.add_child(this._device);
        this.add_child(box);
        this._build();
    }

    _build() {
        // Whatever an offer calls itself, what pressing it does stands in a line of its own.
        this._heading = new PopupMenu.PopupSeparatorMenuItem(_('Continue'));
        this.menu.addMenuItem(this._heading);
        this._offerSection = new PopupMenu.PopupMenuSection();
        this.menu.addMenuItem(this._offerSection);
        this._more = new PopupMenu.PopupMenuItem('');
        this._more.connect('activate', () => this._openWindow());
        this.menu.addMenuItem(this._more);
        this._listableSection = new PopupMenu.PopupMenuSection();
        this.menu.addMenuItem(this._listableSection);
        this.menu.addMenuItem(new PopupMenu.PopupSeparatorMenuItem());
        this._send = new PopupMenu.PopupSubMenuMenuItem(_('Send to'));
        this.menu.addMenuItem(this._send);
        // One device to paste from stands in the menu itself; several have a menu of their own.
        this._paste = new PopupMenu.PopupMenuItem('');
        this._paste.label.style = 'max-width: 26em;';
        this._paste.label.clutter_text.set_ellipsize(Pango.EllipsizeMode.END);
        this._paste.connect('activate', () => this._session.paste(this._paste.device));
        this.menu.addMenuItem(this._paste);
        this._pasteFrom = new PopupMenu.PopupSubMenuMenuItem(_('Paste from'));
        this.menu.addMenuItem(this._pasteFrom);
        this._switch = new PopupMenu.PopupSwitchMenuItem(_('Handoff'), true);
        this._switch.connect('toggled', (_item, isOn) => this._session.setEnabled(isOn));
        this.menu.addMenuItem(this._switch);
        this._window = new PopupMenu.PopupMenuItem(_('Open Handoff'));
        this._window.connect('activate', () => this._openWindow());
        this.menu.addMenuItem(this._window);
        this.menu.connect('open-state-changed', (_menu, isOpen) => {
            if (isOpen) {
                this._showWindowItems();
            } else if (this.isChoosing) {
                this.isChoosing = false;
                this._session.showAgain();
            }
        });
    }

    // What the Handoff window does is there if that is installed.
    _showWindowItems() {
        const isInstalled = Shell.AppSystem.get_default().lookup_app(`${this._session.window}.desktop`) !== null;
        for (const item of [this._window, ...this._listableItems.values()])
            item.visible = isInstalled;
        this._heading.visible = this._offers.size > 0 || isInstalled && this._listableItems.size > 0;
    }

    _openWindow() {
        Shell.AppSystem.get_default().lookup_app(`${this._session.window}.desktop`)?.activate();
    }

    // Opens the menu where the user chooses what to paste from.
    choose() {
        this.isChoosing = true;
        this.menu.open();
        this._pasteFrom.setSubmenuShown(true);
        this._pasteFrom.menu.box.navigate_focus(null, St.DirectionType.TAB_FORWARD, false);
    }

    // Shows `report`. An item that stays is changed in place, so that it does not vanish under the pointer.
    show_report(report) {
        const [latest] = report.offers;
        this._icon.gicon = latest ? icon(latest) : Gio.ThemedIcon.new('edit-paste-symbolic');
        setText(this._device, latest?.device ?? '');
        this.accessible_name = latest ? `${_('Handoff')}, ${latest.device}` : _('Handoff');
        this._arrange(this._offers, report.offers, this._offerSection, offer => {
            const item = new OfferItem();
            item.connect('activate', () => this._session.continueOffer(item.offer));
            item.offer = offer;
            return item;
        }, (item, offer) => {
            item.offer = offer;
            item.show_offer(offer);
        });
        this._more.visible = report.more > 0;
        this._more.label.text = ngettext('%d more…', '%d more…', report.more).replace('%d', `${report.more}`);
        this._arrange(this._listableItems, report.listable, this._listableSection, device => {
            const item = new PopupMenu.PopupMenuItem('');
            item.label.style = 'max-width: 26em;';
            item.label.clutter_text.set_ellipsize(Pango.EllipsizeMode.END);
            item.connect('activate', () => this._session.showEverything(device));
            return item;
        }, (item, device) => setText(item.label, _('Everything on {device}…').replace('{device}', () => device.name)));
        this._showWindowItems();
        this._arrange(this._devices, report.devices, this._send.menu, device => {
            const item = new PopupMenu.PopupMenuItem('');
            item.connect('activate', () => this._session.send(device));
            return item;
        }, (item, device) => setText(item.label, device.name));
        this._send.visible = report.devices.length > 0;
        this._showPasting(report.pasting);
        this._switch.setToggleState(report.isEnabled);
    }

    _showPasting({sources, obstacle}) {
        const isOne = sources.length === 1;
        this._paste.visible = isOne;
        this._paste.device = isOne ? sources[0] : null;
        if (isOne)
            setText(this._paste.label, _('Paste from {device}').replace('{device}', () => sources[0].name));
        this._arrange(this._sources, isOne ? [] : sources, this._pasteFrom.menu, device => {
            const item = new PopupMenu.PopupMenuItem('');
            item.connect('activate', () => this._session.paste(device));
            return item;
        }, (item, device) => setText(item.label, device.name));
        this._pasteFrom.visible = sources.length > 1;
        for (const item of [this._paste, this._pasteFrom])
            item.setSensitive(!obstacle);
    }

    // Makes the items of `menu`, which are in `items` by their paths, those of `wanted`, in its order.
    _arrange(items, wanted, menu, make, show) {
        const paths = new Set(wanted.map(one => one.path));
        for (const [path, item] of [...items]) {
            if (!paths.has(path)) {
                item.destroy();
                items.delete(path);
            }
        }
        wanted.forEach((one, position) => {
            let item = items.get(one.path);
            if (!item) {
                item = make(one);
                items.set(one.path, item);
                menu.addMenuItem(item, position);
            } else {
                menu.moveMenuItem(item, position);
            }
            show(item, one);
        });
    }
});
