// SPDX-License-Identifier: LGPL-2.1-or-later
// What the extension uses of GNOME Shell, as far as it takes to load and run it without one. Each stands for a module:
// of `gi://` those that only the Shell has, and of its own those that the extension imports.

import GLib from 'gi://GLib';
import GObject from 'gi://GObject';

// Emits "destroy" and knows its children, as an actor does.
const Actor = GObject.registerClass(class StubActor extends GObject.Object {
    _init(properties = {}) {
        super._init();
        this.children = [];
        this.visible = true;
        Object.assign(this, properties);
    }

    add_child(child) {
        this.children.push(child);
    }

    destroy() {
        this.isDestroyed = true;
    }
});

class StubText {
    set_use_markup(uses) {
        this.use_markup = uses;
    }

    set_single_line_mode(is) {
        this.single_line_mode = is;
    }

    set_ellipsize(mode) {
        this.ellipsize = mode;
    }

    set_text(text) {
        this.text = text;
    }
}

const Label = GObject.registerClass(class StubLabel extends Actor {
    _init(properties = {}) {
        const {text, ...others} = properties;
        super._init({clutter_text: new StubText(), ...others});
        this.text = text ?? '';
    }

    get text() {
        return this.clutter_text.text ?? '';
    }

    set text(text) {
        this.clutter_text.text = text;
    }
});

const BoxLayout = GObject.registerClass(class StubBoxLayout extends Actor {
    _init(properties = {}) {
        super._init({layout_manager: {}, ...properties});
    }
});

export const St = {Icon: Actor, Label, BoxLayout, DirectionType: {TAB_FORWARD: 0}};
export const Clutter = {ActorAlign: {CENTER: 2}, Orientation: {VERTICAL: 1}};

// Menus

class StubMenu {
    constructor() {
        this.items = [];
        this.handlers = [];
        this.isOpen = false;
        this.box = {navigate_focus() {}};
    }

    // There is one signal.
    connect(_signal, handler) {
        this.handlers.push(handler);
    }

    open() {
        this._set(true);
    }

    close() {
        this._set(false);
    }

    _set(isOpen) {
        const isChange = this.isOpen !== isOpen;
        this.isOpen = isOpen;
        if (isChange)
            this.handlers.forEach(handler => handler(this, isOpen));
    }

    addMenuItem(item, position = this.items.length) {
        item.menu_of = this;
        this.items.splice(position, 0, item);
    }

    moveMenuItem(item, position) {
        this.items = this.items.filter(other => other !== item);
        this.items.splice(position, 0, item);
    }
}

const PopupBaseMenuItem = GObject.registerClass({
    Signals: {activate: {}, toggled: {param_types: [GObject.TYPE_BOOLEAN]}},
}, class StubItem extends Actor {
    setSensitive(is) {
        this.sensitive = is;
    }

    destroy() {
        super.destroy();
        this.menu_of.items = this.menu_of.items.filter(other => other !== this);
    }
});

const PopupMenuItem = GObject.registerClass(class StubMenuItem extends PopupBaseMenuItem {
    _init(text) {
        super._init();
        this.label = new Label({text});
    }
});

const PopupSubMenuMenuItem = GObject.registerClass(class StubSubMenuItem extends PopupMenuItem {
    _init(text) {
        super._init(text);
        this.menu = new StubMenu();
    }

    setSubmenuShown(isShown) {
        this.menu._set(isShown);
    }
});

const PopupSwitchMenuItem = GObject.registerClass(class StubSwitchItem extends PopupMenuItem {
    _init(text, state) {
        super._init(text);
        this.state = state;
    }

    setToggleState(state) {
        this.state = state;
    }
});

export const PopupMenu = {
    PopupBaseMenuItem, PopupMenuItem, PopupSeparatorMenuItem: PopupMenuItem, PopupSubMenuMenuItem, PopupSwitchMenuItem,
    PopupMenuSection: StubMenu,
};

export const PanelMenu = {
    Button: GObject.registerClass(class StubButton extends Actor {
        _init(_alignment, name) {
            super._init();
            this.name = name;
            this.menu = new StubMenu();
        }

        destroy() {
            super.destroy();
            delete Main.panel.statusArea.handoff;
        }
    }),
};

// The Shell itself

export const Main = {
    panel: {
        statusArea: {},
        addToStatusArea(name, indicator) {
            this.statusArea[name] = indicator;
        },
    },
    // What shortcuts do, by the names of their keys in the settings.
    wm: {
        shortcuts: {},
        addKeybinding(name, _settings, _flags, _modes, handler) {
            this.shortcuts[name] = handler;
        },
        removeKeybinding(name) {
            delete this.shortcuts[name];
        },
    },
    notices: [],
    notifyError(title, body) {
        this.notices.push([title, body]);
    },
};

class StubApplication {
    constructor(id) {
        this.id = id;
    }

    get_id() {
        return this.id;
    }

    get_name() {
        return 'Editor';
    }

    get_icon() {
        return {name: this.id};
    }

    get_app_info() {
        return this;
    }

    is_window_backed() {
        return false;
    }
}

export const Shell = {
    ActionMode: {NORMAL: 1, OVERVIEW: 2},
    AppSystem: {get_default: () => ({
        lookup_app: id => id === 'com.example.editor.desktop' ? new StubApplication(id) : null,
    })},
    WindowTracker: {get_default: () => ({get_window_app: window => new StubApplication(`${window.application}.desktop`)})},
};

export const Meta = {KeyBindingFlags: {IGNORE_AUTOREPEAT: 1}};

const Display = GObject.registerClass({
    Properties: {'focus-window': GObject.ParamSpec.jsobject('focus-window', '', '', GObject.ParamFlags.READWRITE)},
}, class StubDisplay extends GObject.Object {});

export const Window = GObject.registerClass({
    Properties: {title: GObject.ParamSpec.string('title', '', '', GObject.ParamFlags.READWRITE, '')},
}, class StubWindow extends GObject.Object {
    get_title() {
        return this.title;
    }

    get_pid() {
        return 4711;
    }

    get_gtk_unique_bus_name() {
        return ':1.99';
    }

    get_gtk_window_object_path() {
        return '/a/window/1';
    }
});

globalThis.global = {
    display: new Display(),
    given_up: [],
    create_app_launch_context: () => ({
        get_startup_notify_id: information => `token for ${information.get_id()}`,
        launch_failed: token => global.given_up.push(token),
    }),
};

export class Extension {
    getSettings() {
        return {};
    }

    get metadata() {
        return JSON.parse(new TextDecoder().decode(GLib.file_get_contents(`${this.path}/metadata.json`)[1]));
    }

    get path() {
        return GLib.path_get_dirname(GLib.path_get_dirname(import.meta.url.slice('file://'.length)));
    }
}
