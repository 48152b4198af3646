// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects through which the extension sees the stub: what is not in the API, or not of its types, throws a TypeError.

'use strict';

const {BASES, MEMBERS, SHAPES, WRITABLE} = require('./signatures');

// The object behind each proxy, and the proxy of each object.
const behind = new WeakMap();
const proxies = new WeakMap();
const typeNames = new WeakMap();

// Called with each mistake: the extension may catch what is thrown.
exports.onMistake = () => undefined;

function mistake(text) {
    exports.onMistake(text);
    return new TypeError(text);
}

function parse(text) {
    const [, name, list, type] = /^(\w+)(?:\((.*)\))?: (.+)$/.exec(text);
    const parameters = list?.split(', ').filter(Boolean).map(one => {
        const [, rest, , optional, of] = /^(\.\.\.)?(\w+)(\?)?: (.+)$/.exec(one);
        return {isRest: Boolean(rest), isOptional: Boolean(optional ?? rest), type: of};
    });
    return {name, parameters, type};
}

const TABLE = new Map(Object.entries(MEMBERS).map(([type, members]) => [type, members.map(parse)]));

function membersOf(type, name) {
    const own = (TABLE.get(type) ?? []).filter(one => one.name === name);
    return own.length || !BASES[type] ? own : membersOf(BASES[type], name);
}

function isOf(value, type) {
    if (type.includes(' | '))
        return type.split(' | ').some(one => isOf(value, one));
    if (type === 'any')
        return true;
    if (type === 'undefined')
        return value === undefined;
    if (['string', 'boolean'].includes(type))
        return typeof value === type;
    if (type === 'number')
        return Number.isFinite(value);
    if (SHAPES[type]) {
        return Object.getPrototypeOf(value ?? 0) === Object.prototype && Object.keys(value).every(key => key in SHAPES[type])
            && Object.entries(SHAPES[type]).every(([key, of]) => isOf(value[key], of));
    }
    let name = behind.has(value) ? typeNames.get(behind.get(value)) : undefined;
    while (name && name !== type)
        name = BASES[name];
    return name === type;
}

function fits(values, parameters) {
    const last = parameters.at(-1);
    return (last?.isRest || values.length <= parameters.length)
        && parameters.every(({isRest, isOptional, type}, index) => isRest || isOf(values[index], type)
            || (isOptional && values[index] === undefined));
}

// The object behind a value of the extension, and those behind what is in it.
function unwrap(value) {
    if (behind.has(value))
        return behind.get(value);
    if (Array.isArray(value))
        return value.map(unwrap);
    if (value && Object.getPrototypeOf(value) === Object.prototype)
        return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unwrap(one)]));
    return value;
}

// What the extension sees of a value of the stub.
function wrap(value, type) {
    const [, outer, inner] = /^(Thenable|Event)<(.+)>$/.exec(type) ?? [];
    if (outer === 'Thenable')
        return Promise.resolve(value).then(one => wrap(one, inner));
    if (outer === 'Event')
        return wrapEvent(value, inner);
    if (type.endsWith(' | undefined'))
        return value === undefined ? undefined : wrap(value, type.slice(0, -' | undefined'.length));
    if (type.endsWith('[]'))
        return Object.freeze(value.map(one => wrap(one, type.slice(0, -2))));
    if (!TABLE.has(type)) {
        if (type !== 'void' && !isOf(value, type))
            throw mistake(`the stub itself gives ${value} for ${type}`);
        return value;
    }
    if (!proxies.has(value)) {
        const proxy = new Proxy(value, handler(type));
        proxies.set(value, proxy);
        behind.set(proxy, value);
        typeNames.set(value, type);
    }
    return proxies.get(value);
}

function wrapEvent(emitter, type) {
    return (listener, self, disposables) => {
        if (typeof listener !== 'function' || !(disposables === undefined || Array.isArray(disposables)))
            throw mistake('an event is given no listener');
        return wrap(emitter.add(value => listener.call(self, wrap(value, type))), 'Disposable');
    };
}

// The member called `name` with these arguments; throws if there is no such way to call it.
function called(type, name, values) {
    const found = membersOf(type, name).find(one => one.parameters && fits(values, one.parameters));
    if (!found)
        throw mistake(`${type}.${name} cannot be called with (${values.map(one => typeof one).join(', ')})`);
    return found;
}

function handler(type) {
    return {
        get(target, name) {
            // Whether something is a promise is asked of each object that is awaited.
            if (typeof name === 'symbol' || name === 'then')
                return undefined;
            const [member] = membersOf(type, name);
            if (!member)
                throw mistake(`${type} has no member “${name}”`);
            if (!member.parameters)
                return wrap(target[name], member.type);
            return (...values) => {
                const {type: result} = called(type, name, values);
                return wrap(target[name](...values.map(unwrap)), result);
            };
        },
        set(target, name, value) {
            const [member] = membersOf(type, name);
            if (!WRITABLE[type]?.includes(name) || !isOf(value, member.type))
                throw mistake(`${type}.${String(name)} cannot be set to that`);
            target[name] = unwrap(value);
            return true;
        },
        has(target, name) {
            return membersOf(type, name).length > 0;
        },
        construct(target, values) {
            const {type: result} = called(type, 'new', values);
            return wrap(new target(...values.map(unwrap)), result);
        },
        deleteProperty(target, name) {
            throw mistake(`${type}.${String(name)} cannot be removed`);
        },
        ownKeys() {
            throw mistake(`nobody knows all members of ${type}`);
        },
    };
}

exports.wrap = wrap;
